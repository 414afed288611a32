// Reading: what the lines say, which sending a receipt belongs to, how far clocks are apart.
import assert from "node:assert/strict";
import test from "node:test";
import { durationText, fieldsOf, readTraces } from "../../src/viewer/trace.js";
import { Lines, failover } from "./lines.mjs";

const good = new Lines({ simulated: false }).event(1, 3, "crash").lines[0];
const of = (...texts) => readTraces(texts.map((text, i) => ({ name: `file ${i + 1}`, text })));
const partners = ({ records }) => records.map(({ partner }) => records.indexOf(partner));

test("times count from the first line, in the order of time", () => {
  const { records, trueTime, members, heartbeat } = failover().trace();
  assert.equal(records[0].t, 0);
  assert.equal(trueTime, true);
  assert.deepEqual(members, [1, 2, 3]);
  assert.equal(heartbeat, 5e7);
  for (let i = 1; i < records.length; ++i) assert.ok(records[i].t >= records[i - 1].t);
});

test("a number that JSON would round is kept to its last digit", () => {
  const [record] =
    of('{"ts_ns":1,"node":1,"dir":"event","kind":"elected","epoch":18446744073709551615}').records;
  assert.equal(record.epoch, "18446744073709551615");
  assert.deepEqual(fieldsOf(record), [["epoch", "18446744073709551615"]]);
});

test("the end of a lease is that of the clock that comes first to it", () => {
  const [record] = of(
                     '{"ts_ns":100,"raw_ns":50,"node":1,"dir":"event","kind":"publish","epoch":2,' +
                     '"until_ns":900,"until_raw_ns":150}')
                     .records;
  assert.equal(record.left, 100);
});

for (const [line, why] of [
       ["no trace", "not JSON"],
       ["[1]", '"dir" is neither'],
       ["null", "no object"],
       ["{}", '"dir" is neither'],
       ['{"ts_ns":1,"dir":"event"}', '"kind" is missing'],
       ['{"dir":"event","kind":"crash","node":3}', '"ts_ns" is missing'],
       ['{"ts_ns":"soon","dir":"event","kind":"crash"}', '"ts_ns" is not a number'],
       ['{"ts_ns":1e300,"dir":"event","kind":"crash"}', '"ts_ns" is not a number'],
       ['{"ts_ns":999999999999999999,"dir":"event","kind":"crash"}', "out of range"],
       ['{"ts_ns":1,"dir":"send","kind":"HB","session":1,"index":0}', '"node" is missing'],
       [
         '{"ts_ns":1,"dir":"send","kind":"HB","node":[2],"session":1,"index":0}',
         '"node" is not a number'
       ],
       ['{"t_ns":1,"dir":"event","kind":"crash","node":1}', "don't go together"],
])
  test(`a line that says nothing is left out with a note: ${line}`, () => {
    const { records, notes } = of(`${good}\n${line}\n${good}\n`);
    assert.equal(records.length, 2);
    assert.equal(notes.length, 1);
    assert.ok(notes[0].startsWith("file 1:2: ") && notes[0].includes(why), notes[0]);
  });

test("what a killed node could not finish is left out, and what stands behind it is read", () => {
  const half = good.slice(0, 30);
  const torn = of(`${good}\n${half}${good}\n${half}`);
  assert.equal(torn.records.length, 2);
  assert.deepEqual(torn.notes, ["file 1:2: begins with a line that was not finished; left out",
                                "file 1:3: the last line is not complete; left out"]);
});

test("of many bad lines the first are named and the others counted", () => {
  const { notes } = of("x\n".repeat(100) + good);
  assert.equal(notes.length, 6);
  assert.equal(notes[5], "file 1: 95 more lines were left out");
});

test("a trace that is given twice is read once", () => {
  const { records, notes } = of(good, good);
  assert.equal(records.length, 1);
  assert.deepEqual(notes, ["file 2 is the same trace as file 1, and was left out"]);
});

test("nothing, and rubbish, are an empty trace", () => {
  for (const text of ["", "\n\n", "\0\ufffd{]", "{".repeat(10_000)])
    assert.equal(of(text).records.length, 0);
});

test("messages are matched index by index, each session and direction for itself", () => {
  const trace = new Lines().send(1, 1, 2, "OK", { attempt: 1 }).send(2, 1, 2, "OK", { attempt: 2 })
    .receive(3, 1, 2, "OK", { attempt: 1 }).send(4, 2, 1, "OK", { attempt: 1 })
    .receive(5, 1, 2, "OK", { attempt: 2 }).trace();
  assert.deepEqual(partners(trace), [2, 4, 0, -1, 1]);
});

test("the answer to a HELLO is told on the dialler's session", () => {
  const lines = new Lines().message(1, 1, 2, 2, "HELLO");
  const answer = { peer_incarnation: "101", session: 12, index: 0, kind: "HELLO_ACK" };
  lines.add(3, 2, { dir: "send", peer: 1, ...answer });
  lines.add(4, 1, { dir: "recv", peer: 2, ...answer, peer_incarnation: "102" });
  assert.deepEqual(partners(lines.trace()), [1, 0, 3, 2]);
});

test("a heartbeat that a newer one replaced was never on its way", () => {
  const { records } = new Lines()
                        .send(1, 1, 2, "HB", { epoch: 1 })
                        .send(2, 1, 2, "HB", { epoch: 2 })
                        .send(3, 1, 2, "HB", { epoch: 3 })
                        .receive(4, 1, 2, "HB", { epoch: 1 })
                        .receive(5, 1, 2, "HB", { epoch: 3 })
                        .trace();
  assert.equal(records[1].replaced, true);
  assert.equal(records[4].partner, records[2]);
});

function backwards({ records }) {
  return records.filter(({ what, partner, t }) => what === "recv" && partner && t < partner.t)
    .length;
}

test(
  "hosts that count from different beginnings are brought together, and it is said how far", () => {
    const lines = failover({ simulated: false, skew: { 1: 7_000_000, 3: -4_000_000 } });
    const raw = lines.lines.map((line) => JSON.parse(line));
    const sent = raw.find(({ kind, dir }) => kind === "GRANT" && dir === "send");
    const there = raw.find(({ kind, dir }) => kind === "GRANT" && dir === "recv");
    assert.ok(there.ts_ns < sent.ts_ns, "the test is about clocks that are apart");
    const trace = lines.trace();
    assert.equal(backwards(trace), 0);
    assert.ok(
      trace.notes.some((note) => /^node 2's clock shows −7 s more than node 1's/.test(note)),
      trace.notes.join());
    const grant = trace.records.find(({ kind, what }) => kind === "GRANT" && what === "send");
    assert.ok(Math.abs(grant.partner.t - grant.t - 2e5) < 1.5e5, "its flight is about what it was");
  });

test("clocks that agree are left alone", () => {
  const trace = failover({ simulated: false }).trace();
  assert.deepEqual(trace.notes, []);
});

test("no arrow goes back in time, whatever clocks show", () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 60; ++round) {
    const skew = Object.fromEntries([1, 2, 3, 4, 5].map((node) => [node, random(5000) - 2500]));
    const lines = new Lines({ simulated: false, skew });
    for (let at = 0; at < 4000; at += 20) {
      const [from, to] = [1 + random(5), 1 + random(5)];
      if (random(40) === 0) lines.skew[from] += random(200) - 100;  // its clock jumps
      if (from !== to) lines.message(at, from, at + 1 + random(90), to, "OK", { attempt: at });
    }
    assert.equal(backwards(lines.trace()), 0, `round ${round}`);
  }
});

test("times have three digits and a unit", () => {
  const texts = [
    [0, "0 ns"], [380e3, "380 µs"], [1.034e6, "1.03 ms"], [478.4e6, "478 ms"], [1.25e9, "1.25 s"],
    [999_999, "1 ms"], [-2e6, "−2 ms"], [10e6, "10 ms"]
  ];
  for (const [ns, text] of texts) assert.equal(durationText(ns), text);
});
