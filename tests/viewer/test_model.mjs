// Meaning: who ran, led, stood and was bound when, what became of messages, and the story of it
// all.
import assert from "node:assert/strict";
import test from "node:test";
import { chooseWindow, findEpisodes, headline } from "../../src/viewer/episodes.js";
import { makeModel } from "../../src/viewer/model.js";
import { makeScale } from "../../src/viewer/scale.js";
import { readTraces } from "../../src/viewer/trace.js";
import { Lines, failover } from "./lines.mjs";

const us = 1000;
const fates = ({ arrows }) => arrows.map(({ look, fate }) => `${look} ${fate}`);

test("a failover is told from its cause to the last who learns of it", () => {
  const model = failover().model();
  const [first, second] = findEpisodes(model);
  assert.equal(first.replaces, false);
  assert.equal(second.why, "node 3 dies");
  assert.equal(second.winner.name, "2");
  assert.deepEqual(["cause", "begin", "end", "settled"].map((name) => second[name]),
                   [100_000, 100_300, 101_000, 101_400].map((at) => at * us));
  const window = chooseWindow(model, [first, second]);
  assert.ok(window.from > 99e6 && window.from < 100e6 && window.to > 101.4e6 && window.to < 103e6);
  assert.equal(headline([first, second], window), "node 3 dies, node 2 leads 1 ms later");
});

test("nobody is elected where the trace ends before", () => {
  const lines = failover();
  lines.lines =
    lines.lines.filter((line) => !/"epoch":8/.test(line) || /election_started/.test(line));
  const model = makeModel(readTraces([lines.file()]));
  const told = headline(findEpisodes(model).slice(-1), { from: 0, to: model.end });
  assert.equal(told, "node 3 dies, and nobody is elected");
});

test("one node's own trace tells whom it followed", () => {
  const lines = failover();
  lines.lines = lines.lines.filter((line) => JSON.parse(line).node === 1);
  const model = makeModel(readTraces([lines.file()]));
  const episodes = findEpisodes(model);
  assert.equal(episodes.length, 2);
  assert.equal(
    headline(episodes.slice(1), { from: 0, to: model.end }),
    "node 3 dies, node 2 leads 900 µs later");
});

test("a lease lasts until its end or its holder's, and what is left of it is told", () => {
  const [lease] = failover().model().lanes[2].leases;
  assert.deepEqual([lease.from, lease.to, lease.rest, lease.open].map((at) => at / us),
                   [1000, 100_000, 500_000, 0]);
  const unrenewed =
    new Lines().start(0, 1).publish(10, 1, 5, 60).event(500, 1, "other").model().lanes[0].leases[0];
  assert.deepEqual([unrenewed.to / us, unrenewed.rest / us], [60, 60]);
  const givenUp = new Lines()
                    .event(0, 1, "other")
                    .publish(10, 1, 5, 600)
                    .publish(50, 1, 0)
                    .event(900, 1, "other")
                    .model()
                    .lanes[0]
                    .leases[0];
  assert.deepEqual([givenUp.to / us, givenUp.rest / us, givenUp.givenUp], [50, 50, true]);
});

test("a promise lasts as long as it was granted for, or until its holder gives it up", () => {
  const [promise] = failover().model().lanes[0].promises;
  assert.deepEqual(
    [promise.holder, promise.epoch, promise.from / us, promise.open], [2, "8", 100_800, true]);
  const grant = { epoch: 3, lease_ns: 1e6, tied_session: 9 };
  const freed = (more) => {
    const lines = new Lines().send(0, 1, 2, "GRANT", grant);
    return more(lines).event(5000, 3, "other").model().lanes[0].promises[0].to / us;
  };
  assert.equal(freed((lines) => lines), 1000);
  assert.equal(freed((lines) => lines.receive(400, 2, 1, "RESIGN", { epoch: 3 })), 400);
  assert.equal(freed((lines) => lines.event(300, 1, "peer_down", { peer: 2, reason: "eof" })), 300);
  assert.equal(
    freed((lines) => lines.event(300, 1, "peer_down", { peer: 2, reason: "timeout" })), 1000);
  assert.equal(freed((lines) => lines.event(200, 1, "crash")), 200);
  const token = { epoch: 3, renew: false, lease_ns: 1e6, owner: 3, grants: [1], tie: true };
  const [first, second] = new Lines()
                            .send(0, 1, 2, "CTOKEN", token)
                            .event(400, 1, "peer_down", { peer: 3, reason: "eof" })
                            .send(500, 1, 2, "CTOKEN", {...token, owner: 2, epoch: 4 })
                            .event(600, 1, "other")
                            .model()
                            .lanes[0]
                            .promises;
  assert.deepEqual([first.holder, first.to / us, second.holder], [3, 400, 2]);
});

test("what each node knew at an instant is what it had been told by then", () => {
  const model = failover().model();
  const at = (time) => model.lanes.map((lane) => model.knowledge(lane, time * us));
  assert.deepEqual(at(50_000).map(({ role, leader }) => `${role} ${leader}`),
                   ["follows 3", "follows 3", "leads itself"]);
  assert.equal(at(50_000)[2].left, 450_000 * us);
  assert.deepEqual(at(100_900).map(({ role }) => role), ["no leader", "candidate", "not running"]);
  assert.equal(at(100_900)[0].promised, "2 (8)");
  assert.deepEqual(at(101_300).map(({ role, epoch }) => `${role} ${epoch}`),
                   ["follows 8", "leads 8", "not running "]);
});

test("what an election is made of is told apart from what never stops", () => {
  assert.deepEqual(fates(failover().model()), [
    "hb delivered", "fin delivered", "fin delivered", "coordinator delivered", "coordinator lost",
    "grant delivered", "announce delivered", "extended delivered", "renewal delivered",
    "renewal delivered"
  ]);
});

test(
  "a message at the end is on its way, one to a node without a trace is neither lost nor received",
  () => {
    const model = new Lines()
                    .event(0, 1, "other")
                    .event(0, 2, "other")
                    .send(10, 1, 2, "OK", { attempt: 1 })
                    .send(10, 1, 9, "OK", { attempt: 1 })
                    .receive(12, 8, 1, "OK", { attempt: 4 })
                    .model();
    assert.deepEqual(fates(model), ["ok open", "ok open", "ok unsent"]);
  });

test("the death of a real process is what the others read of it", () => {
  const model = new Lines({ simulated: false }).start(0, 1).start(0, 2).event(1000, 2, "other")
    .event(1200, 1, "peer_down", { peer: 2, reason: "eof" }).model();
  assert.deepEqual(
    model.deaths.map(({ lane, at, silent }) => [lane.name, at / us, silent]), [["2", 1200, false]]);
  assert.equal(model.state(model.lanes[1], model.end), "not running");
});

test("a real process that writes nothing for long is silent, and one that hangs is paused", () => {
  const silent =
    new Lines({ simulated: false }).start(0, 1).start(0, 2).event(900_000, 1, "other").model();
  assert.equal(silent.state(silent.lanes[1], 500_000 * us), "silent");
  const paused = new Lines()
                   .start(0, 1)
                   .event(100, 1, "pause")
                   .event(300, 1, "resume")
                   .event(400, 1, "other")
                   .model();
  assert.deepEqual(
    [50, 200, 350].map((at) => paused.state(paused.lanes[0], at * us)),
    ["no leader", "paused", "no leader"]);
});

test("two processes with one id at the same time have a line each", () => {
  const lines = new Lines().event(0, 1, "other").event(100, 1, "other");
  lines.add(50, 1, { incarnation: "other", dir: "event", kind: "start" });
  assert.deepEqual(lines.model().lanes.map(({ name }) => name), ["1", "1b"]);
});

test("links are told when they change", () => {
  const cut = (at, kind, node, peer) => [at, node, kind, { peer }];
  const lines = new Lines();
  for (const one
         of [cut(0, "heal", 1, 2), cut(1, "cut", 1, 2), cut(2, "cut", 1, 2), cut(3, "heal", 1, 2)])
    lines.event(...one);
  assert.deepEqual(
    lines.model().links.map(({ at, isCut }) => [at / us, isCut]), [[1, true], [3, false]]);
});

test("epochs from a clock are cut to the digits in which they differ", () => {
  const of = (...epochs) =>
    epochs.reduce((lines, epoch, i) => lines.event(i, 1, "elected", { epoch }), new Lines())
      .model();
  assert.equal(of(1731298374655001, 1731298374655002).epochName("1731298374655002"), "…002");
  assert.equal(of(1731298374655001, 1731298399955002).epochName("1731298374655001"), "…74655001");
  assert.equal(of(17, 18).epochName("17"), "17");
});

test("a stretch in which nothing happens is folded, all else keeps its measure", () => {
  const wish = { from: 0, to: 1e9, left: 0, right: 1000, mode: "auto", marks: [],
                 instants: [1e6, 2e6, 3e6, 990e6, 992e6], flights: [1e6, 1e6, 2e6] };
  const scale = makeScale(wish);
  assert.equal(scale.folded, true);
  assert.ok(scale.x(2e6) - scale.x(1e6) > 14, "a message can be read");
  assert.equal(scale.x(1e9), 1000);
  assert.ok(Math.abs((scale.x(3e6) - scale.x(2e6)) - (scale.x(2e6) - scale.x(1e6))) < 1e-6);
  for (const t of [0, 1e6, 2.5e6, 500e6, 991e6]) assert.ok(Math.abs(scale.t(scale.x(t)) - t) < 1);
  assert.equal(makeScale({ ...wish, mode: "linear" }).folded, false);
  const ticks = scale.ticks(0);
  assert.ok(ticks.length > 1);
  for (let i = 1; i < ticks.length; ++i) assert.ok(ticks[i].x - ticks[i - 1].x > 40);
});

test("steps stand below each other, however long it is between them", () => {
  const scale = makeScale(
    { from: 0, to: 2e9, left: 10, mode: "steps", instants: [5, 6, 1e9], heightOf: () => 20 });
  assert.deepEqual([5, 6, 1e9].map(scale.x), [30, 50, 94]);
});
