// Reads a meaning into the records of a trace: a lane for each node, when it ran, led, stood for
// election and was bound by a promise, and which message arrived. Knows no pixels and no colours.

import { ArrowMaker } from "./messages.js";

const isDeath = (record) => ["crash", "power_off", "stop"].includes(record.kind);
const isEvent = (record, kind) => record.what === "event" && record.kind === kind;
const spaced = (words) => words.replaceAll("_", " ");
const lasts = (stretch, at) =>
  stretch.from <= at && (at < stretch.to || (stretch.open && at === stretch.to));

// ---- Lanes: which runs of processes belong to them, and when nothing ran there.

function findRuns(records) {
  const runs = new Map();
  for (const record of records) {
    if (record.node === 0 || record.incarnation === "") continue;
    const key = `${record.node} ${record.incarnation}`;
    if (!runs.has(key))
      runs.set(key, { node: record.node, incarnation: record.incarnation, first: record.t });
    const run = runs.get(key);
    run.last = record.t;
    run.fromItsStart ||= isEvent(record, "start");
  }
  return runs;
}

function makeLanes(model) {
  const { records, members } = model.trace;
  const runs = findRuns(records);
  const ids = new Set(members);
  for (const { node, peer } of records) ids.add(node).add(peer);
  ids.delete(0);
  for (const node of [...ids].sort((a, b) => a - b)) {
    const own = [];
    const add = (suffix) => {
      own.push({
        node,
        name: `${node}${suffix}`,
        traced: false,
        last: -Infinity,
        runs: [],
        records: [],
        absences: [],
        leases: [],
        roles: [],
        promises: [],
        follows: []
      });
      return own[own.length - 1];
    };
    add("");
    for (const run of [...runs.values()].filter((one) => one.node === node)) {
      // Two processes with one id at the same time have a line each.
      const lane = own.find((one) => one.last <= run.first) ??
                   add(String.fromCharCode(97 + own.length % 26));
      lane.last = run.last;
      lane.runs.push(run);
      run.lane = lane;
    }
    model.lanes.push(...own);
  }
  const first = new Map([...model.lanes].reverse().map((lane) => [lane.node, lane]));
  for (const record of records) {
    if (record.node === 0) continue;
    const lane = runs.get(`${record.node} ${record.incarnation}`)?.lane ?? first.get(record.node);
    record.lane = lane;
    lane.records.push(record);
    lane.traced = true;
    lane.last = Math.max(lane.last, record.t);
  }
  model.lanes.forEach((lane, place) => { lane.place = place; });
  for (const lane of model.lanes) findAbsences(model, lane);
}

function findAbsences(model, lane) {
  const { runs, absences } = lane;
  if (runs.length > 0 && runs[0].fromItsStart && runs[0].first > 0)
    absences.push({ from: 0, to: runs[0].first, kind: "dead" });
  runs.forEach((run, place) => {
    findPauses(model, lane, run);
    findEnd(model, lane, run, runs[place + 1]?.first ?? null);
  });
  absences.sort((a, b) => a.from - b.from);
}

// A node that lives writes a line for each heartbeat.
const silenceOf = ({ trace }) => (trace.heartbeat === 0 ? 1e9 : 4 * trace.heartbeat);

// A simulator says when a process dies or stands still. Of a real one only its silence shows this,
// and the others' word that they have read the end of its connections. `next`: the next run.
function findEnd(model, lane, run, next) {
  const until = next ?? model.end;
  const die = (at, silent, orderly) => {
    model.deaths.push({ lane, at, silent, orderly });
    for (const absence of lane.absences)
      if (absence.to > at && absence.from <= at) Object.assign(absence, { to: at, open: false });
    if (until > at || next === null)
      lane.absences.push({ from: at, to: until, kind: "dead", open: next === null });
  };
  const ends = lane.records.filter((record) => record.what === "event" && isDeath(record) &&
    (record.incarnation === run.incarnation ||
     (record.incarnation === "" && record.t >= run.first && (next === null || record.t < next))));
  // Between the request to stop and its end a node still hands over.
  if (ends.length > 0) {
    const end = ends[ends.length - 1];
    return die(Math.max(end.t, run.last), end.kind === "power_off",
               ends.some((one) => one.kind === "stop"));
  }
  if (model.trace.trueTime) return;
  const seen = model.events.find(
    (record) => record.kind === "peer_down" && record.peer === run.node &&
      record.node !== run.node && record.t >= run.last && record.t <= until &&
      ["eof", "reset"].includes(record.word));
  if (seen) return die(seen.t, false, false);
  if (next !== null) die(run.last, true, false);
  else if (model.end - run.last > silenceOf(model))
    lane.absences.push({ from: run.last, to: model.end, kind: "silent", open: true });
}

function findPauses(model, lane, run) {
  let previous = run.first;
  let open = null;
  for (const record of lane.records) {
    if (record.t < run.first) continue;
    if (record.incarnation !== run.incarnation && record.incarnation !== "") continue;
    if (record.t > run.last && record.incarnation === "" && isDeath(record)) break;
    if (isEvent(record, "pause") || isEvent(record, "suspend")) {
      open ??= { from: record.t, to: model.end, open: true,
                 kind: record.kind === "pause" ? "paused" : "suspended" };
    } else if (isEvent(record, "resume")) {
      if (open) lane.absences.push({ ...open, to: record.t, open: false });
      open = null;
    } else if (!open && !model.trace.trueTime && record.t - previous > silenceOf(model)) {
      lane.absences.push({ from: previous, to: record.t, kind: "silent" });
    }
    previous = record.t;
  }
  if (open) lane.absences.push(open);
}

// ---- One lane's bars and marks.

const lossWords = { eof: "gone (FIN)", reset: "gone (RST)", timeout: "silent" };
const unmarked = ["crash", "power_off", "stop", "pause", "suspend", "resume", "cut", "heal"];

class LaneStory {
  constructor(model, lane) {
    Object.assign(this, { model, lane, lease: null, role: null, promise: null, startedAt: null });
  }

  tell() {
    for (const record of this.lane.records) {
      if (record.what === "event") this.onEvent(record);
      else if (record.what === "send") this.onSending(record);
      else if (record.kind === "RESIGN" && this.promise?.holder === record.peer)
        this.end("promise", record.t);
    }
    const { end } = this.model;
    for (const bar of [this.lease, this.promise]) if (bar) bar.open = bar.until > end;
    for (const bar of ["lease", "role", "promise"]) this.end(bar, end);
    const { leases, roles, promises } = this.lane;
    for (const bar of [...leases, ...roles, ...promises]) this.endWithItsOwner(bar);
    for (const death of this.model.deaths) if (death.lane === this.lane) this.tellDeath(death);
  }

  onEvent(record) {
    const { kind, word, t } = record;
    const act = {
      publish: () => this.onPublish(record),
      role: () => {
        this.end("role", t);
        if (word === "candidate" || word === "stepping_down")
          this.role = { from: t, to: t, word, epoch: record.epoch };
      },
      leader: () => {
        this.lane.follows.push({ at: t, leader: record.leader, epoch: record.epoch });
        // The winner's own mark says it.
        if (record.leader === this.lane.node) return;
        this.mark(
          record, "follows", record.leader === 0 ? "no leader" : `follows ${record.leader}`);
      },
      peer_up: () => this.mark(record, "trust", "up", record.peer),
      peer_down: () => {
        if (this.promise?.tied && this.promise.holder === record.peer && word === "eof")
          this.end("promise", t);
        this.mark(record, "suspicion", lossWords[word] ?? `lost (${word})`, record.peer);
      },
      election_started: () => this.mark(record, "election", "starts election"),
      elected: () => {
        // Not all traces have the ends of leases.
        if (this.lease?.epoch !== record.epoch) this.onPublish({ ...record, left: Infinity });
        this.mark(record, "elected", this.votes(record));
      },
      deposed: () => {
        if (this.lease?.epoch === record.epoch) this.end("lease", t, true);
        this.mark(
          record, "deposed",
          word === "lease_expired" ? "lease is over" : `gives up: ${spaced(word)}`);
      },
      start: () => this.onStart(record),
    }[kind];
    if (act) return act();
    if (unmarked.includes(kind)) return;
    const about = record.peer === 0 ? "" : ` ${record.peer}`;
    this.mark(record, "other", spaced(kind) + about + (word && `: ${word}`));
  }

  votes({ fields }) {
    const { members, quorum } = this.model.trace;
    if (!fields.grants || quorum === "none") return "elected";
    return members.length > 0 ? `elected (${fields.grants} of ${members.length})`
                              : `elected (${fields.grants} promises)`;
  }

  // A simulator's world and the process itself may both report it.
  onStart(record) {
    if (this.startedAt === record.t) return;
    this.mark(record, "start", this.startedAt === null ? "starts" : "starts again");
    this.startedAt = record.t;
    this.lane.follows.push({ at: record.t, leader: 0, epoch: "0" });
    for (const bar of ["lease", "role", "promise"]) this.end(bar, record.t);
  }

  onPublish({ t, epoch, left }) {
    if (this.lease && this.lease.epoch !== epoch) this.end("lease", t, true);
    if (epoch === "0") return;
    this.lease ??= { epoch, from: t, extended: [], givenUp: false };
    this.lease.until = t + left;
    this.lease.extended.push({ at: t, until: t + left });
  }

  onSending({ kind, t, epoch, peer, fields }) {
    const isToken = kind === "CTOKEN" && Array.isArray(fields.grants) &&
                    fields.grants.includes(this.lane.node) && fields.owner !== this.lane.node;
    if (kind !== "GRANT" && !isToken) return;
    const holder = isToken ? Number(fields.owner) : peer;
    const { promise } = this;
    if (promise && (promise.holder !== holder || promise.epoch !== epoch || promise.until < t))
      this.end("promise", t);
    this.promise ??= { holder, epoch, from: t, extended: [] };
    this.promise.tied = isToken ? fields.tie === true : Number(fields.tied_session ?? 0) !== 0;
    this.promise.until = t + Number(fields.lease_ns ?? 0);
    this.promise.extended.push({ at: t, until: this.promise.until });
  }

  end(name, at, givenUp = false) {
    const bar = this[name];
    if (!bar) return;
    this[name] = null;
    bar.to = Math.min(at, bar.until ?? Infinity);
    bar.givenUp = givenUp && at < bar.until;
    this.lane[`${name}s`].push(bar);
  }

  // Of a lease that its holder could not use up something is left.
  endWithItsOwner(bar) {
    const deaths = this.model.deaths.filter(({ lane, at }) => lane === this.lane && at >= bar.from);
    const death = Math.min(...deaths.map(({ at }) => at));
    const died = death <= bar.to;
    if (died) Object.assign(bar, { to: death, open: false });
    bar.rest = died && !bar.givenUp && Number.isFinite(bar.until) ? bar.until : bar.to;
  }

  tellDeath({ at, silent, orderly }) {
    this.model.marks.push({
      lane: this.lane, at, shape: "death", record: null, about: 0,
      label: silent ? "dies silently" : orderly ? "stops" : "dies",
    });
  }

  mark(record, shape, label, about = 0) {
    this.model.marks.push({ lane: this.lane, at: record.t, shape, label, about, record });
  }
}

// Only what changes something: healing a link that is whole is no news.
function findLinks(model) {
  const cut = new Set();
  for (const { kind, node, peer, t } of model.events) {
    if (kind !== "cut" && kind !== "heal") continue;
    const isCut = kind === "cut";
    const key = `${node}→${peer}`;
    if (cut.has(key) === isCut) continue;
    if (isCut) cut.add(key);
    else cut.delete(key);
    model.links.push({ at: t, isCut, from: node, to: peer });
  }
}

// Epochs that a clock has seeded have sixteen digits, of which people need the last few.
function epochNamer(records) {
  const epochs = [...new Set(records
    .filter(({ what, kind }) => what === "event" || kind === "COORDINATOR" || kind === "CTOKEN")
    .map(({ epoch }) => epoch))].filter((epoch) => epoch !== "0");
  const length = epochs[0]?.length ?? 0;
  if (length < 7 || epochs.some((epoch) => epoch.length !== length)) return (epoch) => epoch;
  let shared = 0;
  while (shared < length - 3 && epochs.every((epoch) => epoch[shared] === epochs[0][shared]))
    ++shared;
  return (epoch) => (shared > 0 && epoch.length === length ? `…${epoch.slice(shared)}` : epoch);
}

class Model {
  constructor(trace) {
    const { records } = trace;
    Object.assign(this, {
      trace, lanes: [], arrows: [], marks: [], links: [], deaths: [],
      events: records.filter((record) => record.what === "event"),
      end: records.length > 0 ? records[records.length - 1].t : 0,
      epochName: epochNamer(records),
    });
    makeLanes(this);
    for (const lane of this.lanes) new LaneStory(this, lane).tell();
    this.marks.sort((a, b) => a.at - b.at);
    findLinks(this);
    new ArrowMaker(this).make();
    for (const all of [this.arrows, this.marks]) all.forEach((one, i) => { one.index = i; });
  }

  absence(lane, at) { return lane.absences.find((absence) => lasts(absence, at)); }

  // The lane on which this node is alive at that time, or its first.
  laneOf(node, at) {
    const own = this.lanes.filter((lane) => lane.node === node);
    return own.find((lane) => this.absence(lane, at)?.kind !== "dead") ?? own[0];
  }

  // What a node knew at an instant: { role, leader, epoch, promised, left }, texts for people.
  knowledge(lane, at) {
    const known = { role: "", leader: "", epoch: "", promised: "", left: "" };
    const absence = this.absence(lane, at);
    if (!lane.traced) return { ...known, role: "not traced" };
    if (absence) known.role = { dead: "not running" }[absence.kind] ?? absence.kind;
    if (absence?.kind === "dead") return known;
    const leftOf = (bar) => {
      const { until } = bar.extended.filter((one) => one.at <= at).pop() ?? bar;
      return Number.isFinite(until) ? Math.max(until - at, 0) : null;
    };
    const follows = lane.follows.filter((one) => one.at <= at).pop();
    if (follows?.leader)
      [known.leader, known.epoch] = [String(follows.leader), this.epochName(follows.epoch)];
    const lease = lane.leases.find((one) => lasts(one, at));
    const role = lane.roles.find((one) => lasts(one, at));
    const promise = lane.promises.find((one) => lasts(one, at));
    if (lease) {
      [known.leader, known.epoch] = ["itself", this.epochName(lease.epoch)];
      known.left = leftOf(lease);
    }
    if (promise) {
      known.promised = `${promise.holder} (${this.epochName(promise.epoch)})`;
      if (!lease) known.left = leftOf(promise);
    }
    known.role ||= role ? spaced(role.word) : lease ? "leads" : follows?.leader ? "follows" : "";
    if (!known.role && follows) known.role = "no leader";
    return known;
  }

  // "leads", "follows 4", "dead", …; empty when nothing is known.
  state(lane, at) {
    const { role, leader } = this.knowledge(lane, at);
    return role === "follows" ? `follows ${leader}` : role;
  }
}

export function makeModel(trace) { return new Model(trace); }
