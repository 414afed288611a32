// An artificial trace: who sent what to whom when, in the format of protocol/trace/trace.hpp. Times
// are microseconds; node n's only run has the incarnation "10n".
import { chooseWindow, findEpisodes } from "../../src/viewer/episodes.js";
import { draw } from "../../src/viewer/draw.js";
import { makeModel } from "../../src/viewer/model.js";
import { readTraces } from "../../src/viewer/trace.js";

export class Lines {
  constructor({ simulated = true, skew = {} } = {}) {
    Object.assign(this, { simulated, skew, lines: [], counts: new Map() });
  }

  add(at, node, more) {
    const shown = (at + (this.skew[node] ?? 0)) * 1000;
    const time = { ...(this.simulated ? { t_ns: at * 1000 } : {}), ts_ns: shown, raw_ns: shown };
    this.lines.push(JSON.stringify({ ...time, node: node || null,
                                     incarnation: node ? `10${node}` : null, ...more }));
    return this;
  }

  event(at, node, kind, more = {}) { return this.add(at, node, { dir: "event", kind, ...more }); }

  start(at, node, more = {}) {
    return this.event(at, node, "start", {
      algorithm: "bully",
      quorum: "majority",
      members: [1, 2, 3],
      priority: 0,
      lease_ns: 4e8,
      heartbeat_ns: 5e7,
      ...more
    });
  }

  end(dir, at, from, to, kind, more) {
    const [here, there] = dir === "send" ? [from, to] : [to, from];
    const key = `${dir} ${from} ${to}`;
    const index = this.counts.get(key) ?? 0;
    this.counts.set(key, index + 1);
    return this.add(at, here, { dir, peer: there, peer_incarnation: `10${there}`,
                                session: from * 10 + to, index, kind, ...more });
  }

  send(at, from, to, kind, more = {}) { return this.end("send", at, from, to, kind, more); }
  receive(at, from, to, kind, more = {}) { return this.end("recv", at, from, to, kind, more); }
  message(sent, from, received, to, kind, more = {}) {
    return this.send(sent, from, to, kind, more).receive(received, from, to, kind, more);
  }

  publish(at, node, epoch, until) {
    const left = epoch === 0 ? {} : { until_ns: (until + (this.skew[node] ?? 0)) * 1000 };
    return this.event(at, node, "publish", { epoch, ...left });
  }

  file(name = "a") { return { name, text: this.lines.map((line) => `${line}\n`).join("") }; }
  trace() { return readTraces([this.file()]); }
  model() { return makeModel(this.trace()); }
}

// Three nodes: 3 leads, dies, and 2 takes over.
export function failover(options) {
  const lines = new Lines(options);
  for (const node of [1, 2, 3]) lines.start(0, node);
  return lines.event(1000, 3, "elected", { epoch: 7, grants: 2 })
    .publish(1000, 3, 7, 500_000)
    .event(1100, 1, "leader", { leader: 3, epoch: 7 })
    .event(1100, 2, "leader", { leader: 3, epoch: 7 })
    .message(90_000, 3, 90_200, 1, "HB", { epoch: 7 })
    .event(100_000, 3, "crash")
    .event(100_300, 1, "peer_down", { peer: 3, reason: "eof" })
    .event(100_300, 1, "leader", { leader: null, epoch: 7 })
    .event(100_500, 2, "peer_down", { peer: 3, reason: "eof" })
    .event(100_500, 2, "election_started", { epoch: 8 })
    .event(100_500, 2, "role", { role: "candidate", epoch: 8 })
    .send(100_500, 2, 1, "COORDINATOR", { epoch: 8, renew: false })
    .send(100_500, 2, 3, "COORDINATOR", { epoch: 8, renew: false })
    .receive(100_800, 2, 1, "COORDINATOR", { epoch: 8, renew: false })
    .message(100_800, 1, 101_000, 2, "GRANT", { epoch: 8, lease_ns: 3e8, tied_session: 0 })
    .event(101_000, 2, "role", { role: "leader", epoch: 8 })
    .publish(101_000, 2, 8, 350_000)
    .event(101_000, 2, "elected", { epoch: 8, grants: 2 })
    .message(101_000, 2, 101_200, 1, "COORDINATOR", { epoch: 8, renew: true })
    .event(101_200, 1, "leader", { leader: 2, epoch: 8 })
    .message(101_200, 1, 101_400, 2, "GRANT", { epoch: 8, lease_ns: 3e8, tied_session: 0 })
    .message(151_000, 2, 151_200, 1, "COORDINATOR", { epoch: 8, renew: true })
    .message(151_200, 1, 151_400, 2, "GRANT", { epoch: 8, lease_ns: 3e8, tied_session: 0 })
    .event(200_000, 1, "peer_up", { peer: 3 });
}

export function drawn(model, view = {}) {
  const episodes = findEpisodes(model);
  return draw(
    model, { window: chooseWindow(model, episodes), episodes, width: 1200, legend: true, ...view });
}
