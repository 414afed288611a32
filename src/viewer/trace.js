// Reads the lines of traces (protocol/trace/trace.hpp), finds the sending that each receipt belongs
// to, and puts the clocks of several hosts together. Judges nothing that the lines say.

const directions = ["send", "recv", "event"];
const timeMax = 2 ** 58;  // nine years in nanoseconds
const notesOfFile = 5;

class BadLine extends Error {}

// A reader of JSON loses bits of larger numbers, so those are kept as their digits.
const exact = (line) => line.replace(/([:[,])(-?\d{16,})(?=[,}\]])/g, '$1"$2"');

function numberIn(json, key, otherwise) {
  const value = json[key] ?? otherwise;
  if (value === undefined) throw new BadLine(`"${key}" is missing`);
  const isNumber =
    typeof value === "number" || (typeof value === "string" && /^-?\d+$/.test(value));
  if (!isNumber || Math.abs(Number(value)) > 2 ** 64)
    throw new BadLine(`"${key}" is not a number: ${JSON.stringify(value).slice(0, 40)}`);
  return Number(value);
}

function timeIn(json, key) {
  const time = numberIn(json, key);
  if (Math.abs(time) > timeMax) throw new BadLine(`"${key}" is out of range: ${time}`);
  return time;
}

const textIn = (json, key) => (typeof json[key] === "string" ? json[key] : "");

// Only how far off the end is has a meaning beside another clock.
function leaseLeft(json) {
  if (json.kind !== "publish" || json.until_ns === undefined) return Infinity;
  const left = timeIn(json, "until_ns") - timeIn(json, "ts_ns");
  if (json.until_raw_ns === undefined) return left;
  return Math.min(left, timeIn(json, "until_raw_ns") - timeIn(json, "raw_ns"));
}

function recordOf(json, line) {
  if (typeof json !== "object" || json === null) throw new BadLine("no object");
  if (!directions.includes(json.dir)) throw new BadLine('"dir" is neither send, recv nor event');
  if (typeof json.kind !== "string") throw new BadLine('"kind" is missing');
  const isMessage = json.dir !== "event";
  const record = {
    t: timeIn(json, json.t_ns === undefined ? "ts_ns" : "t_ns"),
    what: json.dir, kind: json.kind, fields: json,
    node: numberIn(json, "node", isMessage ? undefined : 0),
    incarnation: textIn(json, "incarnation"),
    peer: numberIn(json, "peer", 0),
    epoch: String(numberIn(json, "epoch", 0) && json.epoch),
    partner: null, replaced: false, lane: null,
  };
  if (isMessage) {
    record.peerIncarnation = textIn(json, "peer_incarnation");
    record.session = numberIn(json, "session");
    record.index = numberIn(json, "index");
    record.body = line.slice(line.indexOf('"kind"'));  // both ends write it alike
  } else {
    record.word = textIn(json, "role") || textIn(json, "reason");
    record.leader = numberIn(json, "leader", 0);
    record.left = leaseLeft(json);
  }
  return record;
}

// A killed process may leave half a line, and its next run goes on behind it.
function secondBeginning(line) {
  return Math.max(line.lastIndexOf('{"ts_ns":'), line.lastIndexOf('{"t_ns":'));
}

class Reader {
  constructor() {
    this.trace = { records: [], notes: [], trueTime: null, algorithm: "", quorum: "",
                   heartbeat: 0, members: [] };
    this.beginnings = new Map();
  }

  addFile({ name, text }) {
    const lines = text.split("\n");
    const same = this.beginnings.get(lines[0]);
    if (same !== undefined && text.trim() !== "") {
      this.trace.notes.push(`${name} is the same trace as ${same}, and was left out`);
      return;
    }
    this.beginnings.set(lines[0], name);
    let bad = 0;
    const note = (at, why) => {
      bad += 1;
      if (bad <= notesOfFile) this.trace.notes.push(`${name}:${at + 1}: ${why}; left out`);
    };
    lines.forEach((line, at) => this.addLine(line.trim(), (why) => note(at, why),
                                             at === lines.length - 1));
    if (bad > notesOfFile)
      this.trace.notes.push(`${name}: ${bad - notesOfFile} more lines were left out`);
  }

  addLine(line, note, isLast) {
    if (line === "") return;
    let json;
    try {
      json = JSON.parse(exact(line));
    } catch {
      const again = secondBeginning(line);
      if (again <= 0) return note(isLast ? "the last line is not complete" : "not JSON");
      note("begins with a line that was not finished");
      return this.addLine(line.slice(again), note, isLast);
    }
    try {
      const record = recordOf(json, line);
      const trueTime = json.t_ns !== undefined;
      this.trace.trueTime ??= trueTime;
      if (this.trace.trueTime !== trueTime)
        throw new BadLine("lines of a simulator and of real nodes don't go together");
      if (record.kind === "start" && record.what === "event") this.addStart(json);
      this.trace.records.push(record);
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      note(error.message);
    }
  }

  addStart(json) {
    this.trace.algorithm ||= textIn(json, "algorithm");
    this.trace.quorum ||= textIn(json, "quorum");
    this.trace.heartbeat = Math.max(this.trace.heartbeat, numberIn(json, "heartbeat_ns", 0));
    if (!Array.isArray(json.members)) return;
    const members = json.members.map(Number).filter(Number.isFinite);
    this.trace.members = [...new Set([...this.trace.members, ...members])].sort((a, b) => a - b);
  }
}

// ---- Which sending each receipt belongs to.

// The acceptor answers the HELLO and then says nothing more on that session.
function streamOf(record) {
  const byAcceptor = record.kind === "HELLO_ACK" || record.kind === "REFUSED";
  const hereIsDialler = (record.what === "send") !== byAcceptor;
  const dialler = hereIsDialler ? [record.node, record.incarnation]
                                : [record.peer, record.peerIncarnation];
  return [...dialler, record.session, byAcceptor].join(" ");
}

const mayBeReplaced = (record) => record.kind === "HB" || record.kind === "COORDINATOR";

// A session is FIFO without gaps, so the dialler, its incarnation, the session, the direction and
// the index name a message. The one exception is a sender that replaces an HB or COORDINATOR that
// still waits: from then on its indices run ahead, which shows in the contents. Looks at no time.
function match(records) {
  const streams = new Map();
  for (const record of records) {
    if (record.what === "event") continue;
    const key = streamOf(record);
    if (!streams.has(key)) streams.set(key, { send: new Map(), recv: new Map() });
    const side = streams.get(key)[record.what];
    if (!side.has(record.index)) side.set(record.index, record);
  }
  for (const { send, recv } of streams.values()) {
    let ahead = 0;  // how many sendings have been replaced so far
    for (const index of [...recv.keys()].sort((a, b) => a - b)) {
      const replaced = [];
      for (let skip = ahead; send.has(index + skip); ++skip) {
        const sending = send.get(index + skip);
        const receipt = recv.get(index);
        if (sending.body === receipt.body) {
          [sending.partner, receipt.partner] = [receipt, sending];
          for (const one of replaced) one.replaced = true;
          ahead = skip;
          break;
        }
        if (!mayBeReplaced(sending)) break;
        replaced.push(sending);
      }
    }
  }
}

// ---- How far the clocks are apart.

const runOf = (record) => `${record.node} ${record.incarnation}`;

// By the two runs: receipt minus sending of the fastest message, by their own clocks.
function measureHops(records) {
  const hops = new Map();
  for (const receipt of records) {
    if (receipt.what !== "recv" || !receipt.partner) continue;
    const [from, to] = [runOf(receipt.partner), runOf(receipt)];
    const key = `${from}>${to}`;
    if (!hops.has(key)) hops.set(key, { from, to, fastest: Infinity, count: 0 });
    const hop = hops.get(key);
    hop.fastest = Math.min(hop.fastest, receipt.t - receipt.partner.t);
    hop.count += 1;
  }
  return hops;
}

// By run: what its clock shows beyond the first one's. Grows along the busiest links, whose fastest
// messages err least. Then no message may arrive before it was sent, whatever the guess was.
function offsetsOf(runs, hops) {
  const none = { fastest: null, count: 0 };
  const offsets = new Map();
  const rest = new Set(runs);
  while (rest.size > 0) {
    let best = { count: 0, run: [...rest][0], offset: 0 };
    for (const [known, offset] of offsets) {
      for (const run of rest) {
        const [there, back] =
          [hops.get(`${known}>${run}`) ?? none, hops.get(`${run}>${known}`) ?? none];
        if (there.count + back.count <= best.count) continue;
        const ahead = back.count === 0 ? there.fastest : there.count === 0 ? -back.fastest
                    : (there.fastest - back.fastest) / 2;
        best = { count: there.count + back.count, run, offset: offset + ahead };
      }
    }
    offsets.set(best.run, best.offset);
    rest.delete(best.run);
  }
  for (let round = 0; round < runs.length; ++round) {
    for (const { from, to, fastest } of hops.values())
      if (offsets.get(to) > offsets.get(from) + fastest)
        offsets.set(to, offsets.get(from) + fastest);
  }
  return offsets;
}

// The nodes of one host share a clock, and a simulator knows the time; then nothing is moved.
function alignClocks(trace) {
  if (trace.trueTime) return;
  const hops = measureHops(trace.records);
  if ([...hops.values()].every((hop) => hop.fastest >= 0)) return;
  const runs = [...new Set(trace.records.filter((record) => record.node).map(runOf))]
    .sort((a, b) => parseInt(a, 10) - parseInt(b, 10));
  const offsets = offsetsOf(runs, hops);
  for (const record of trace.records) record.t -= offsets.get(runOf(record)) ?? 0;
  for (const run of runs) {
    const offset = offsets.get(run) - offsets.get(runs[0]);
    if (offset === 0) continue;
    trace.notes.push(
      `node ${parseInt(run, 10)}'s clock shows ${durationText(offset)} more than ` +
      `node ${parseInt(runs[0], 10)}'s, judged by their messages; its lines were moved`);
  }
}

const byTime = (a, b) => a.t - b.t;

// `files`: [{ name, text }]. Times are nanoseconds from the first line on; `notes` says in
// sentences what was passed over, and why.
export function readTraces(files) {
  const reader = new Reader();
  for (const file of files) reader.addFile(file);
  const { trace } = reader;
  trace.records.sort(byTime);
  match(trace.records);
  alignClocks(trace);
  trace.records.sort(byTime);
  const begin = trace.records.length > 0 ? trace.records[0].t : 0;
  for (const record of trace.records) record.t -= begin;
  // Clocks that run at different speeds may leave a little; a receipt then stands at its sending.
  for (const record of trace.records)
    if (record.what === "recv" && record.partner) record.t = Math.max(record.t, record.partner.t);
  trace.records.sort(byTime);
  return trace;
}

// "380 µs", "1.03 ms", "478 ms", "1.25 s": three digits.
export function durationText(ns) {
  const value = Math.abs(ns);
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const [size, unit] = units.find(([one]) => value >= one * 0.9995) ?? units[3];
  const number = value / size;
  const decimals = size === 1 || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
  return `${ns < 0 ? "−" : ""}${Number(number.toFixed(decimals))} ${unit}`;
}

// A record's own fields, as [name, text]: all behind its kind.
export function fieldsOf(record) {
  const entries = Object.entries(record.fields);
  const own = entries.slice(entries.findIndex(([name]) => name === "kind") + 1);
  return own.map(([name, value]) => {
    const isSpan = name.endsWith("_ns") && !name.startsWith("until");
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return [(isSpan ? name.slice(0, -3) : name).replaceAll("_", " "),
            isSpan ? durationText(Number(value)) : text];
  });
}
