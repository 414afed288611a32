// Tells the story of a trace: when there was no leader, why, and who took over; and which part of
// it is worth seeing.
import { median } from "./scale.js";
import { isBackground, looks } from "./messages.js";
import { durationText } from "./trace.js";

const messagesMax = 160;  // of elections: more are not put into one picture without being asked for
const episodesMax = 2;
const shortTrace = 20e6;

class EpisodeFinder {
  constructor(model) {
    this.model = model;
    this.leaderships = model.lanes.flatMap((lane) => lane.leases.map((bar) => ({ lane, bar })));
    this.answers =
      model.arrows.filter(({ look, fate }) => look === "extended" && fate === "delivered");
    this.episodes = [];
  }

  find() {
    const [lane, more] = this.model.lanes.filter(({ traced }) => traced);
    if (lane && !more) return episodesSeenBy(this.model, lane);
    let from = 0;
    for (const record of this.model.events) {
      if (record.kind !== "elected" || !record.lane) continue;
      this.addElected(record, from);
      from = record.t;
    }
    this.addUnfinished(from);
    return this.episodes;
  }

  addElected(elected, from) {
    const before = this.lastBefore(elected);
    let lost = from;
    let told = { replaces: false, why: "", cause: 0 };
    if (before) {
      told = { replaces: true, ...this.explain(before) };
      lost = Math.max(from, Math.min(before.bar.to, elected.t));
    } else if (from > 0) {
      // Nobody was lost: one leads beside or over another, as without a quorum.
      lost = this.lastStart(elected, from) ?? elected.t;
    }
    const begin = this.firstReaction(lost, elected.t) ?? elected.t;
    if (!told.replaces) lost = told.cause = begin;
    this.episodes.push({
      ...told,
      lost,
      begin,
      end: elected.t,
      winner: elected.lane,
      epoch: elected.epoch,
      settled: this.settledAfter(elected, elected.t - begin)
    });
  }

  // Somebody tries, and the trace ends without a leader.
  addUnfinished(from) {
    const { end } = this.model;
    if (this.leaderships.some(({ bar }) => bar.to >= end)) return;
    const before = [...this.leaderships].sort((a, b) => a.bar.to - b.bar.to).pop();
    const begin = this.firstReaction(before ? Math.max(from, before.bar.to) : from, end);
    if (begin === undefined) return;
    const told = before
      ? { replaces: true, lost: Math.max(from, before.bar.to), ...this.explain(before) }
      : { replaces: false, lost: begin, cause: begin, why: "" };
    this.episodes.push({ ...told, begin, end, settled: end, winner: null, epoch: "0" });
  }

  // The leadership that ended last before that time; none was lost while one goes on elsewhere, as
  // without a quorum.
  lastBefore({ t, lane, epoch }) {
    const begun = this.leaderships.filter((one) =>
      !(one.lane === lane && one.bar.epoch === epoch) && one.bar.from <= t);
    const beside = begun.some(({ bar }) => bar.to > t);
    if (beside && this.model.trace.quorum === "none") return undefined;
    return begun.filter(({ bar }) => bar.to <= t).sort((a, b) => a.bar.to - b.bar.to).pop();
  }

  // { cause: when it began, why: "node 5 dies" }.
  explain({ lane, bar }) {
    const name = `node ${lane.name}`;
    const { deaths, events, links } = this.model;
    const death = deaths.find(
      (one) => one.lane === lane && one.at >= bar.from && one.at <= bar.to &&
        (!bar.givenUp || one.orderly));
    if (death)
      return { cause: death.at,
               why: name + (death.orderly ? " stops" : death.silent ? " dies silently" : " dies") };
    const reason = events.find((one) => one.kind === "deposed" && one.node === lane.node &&
                                        one.epoch === bar.epoch)?.word ?? "";
    if (bar.givenUp && reason !== "lease_expired")
      return { cause: bar.to,
               why: `${name} gives up${reason && ": "}${reason.replaceAll("_", " ")}` };
    const absence = this.model.absence(lane, bar.to - 1);
    if (absence)
      return { cause: Math.max(absence.from, bar.from),
               why: name + (absence.kind === "silent" ? " falls silent" : ` is ${absence.kind}`) };
    const cut = links.find((one) => one.isCut && one.at >= bar.from && one.at <= bar.to &&
                                    [one.from, one.to].includes(lane.node));
    if (cut) return { cause: cut.at, why: `${name} is cut off` };
    return { cause: bar.to, why: `${name}'s lease runs out` };
  }

  // The first sign that a node acts on the loss: it has no leader, gives up, or stands.
  firstReaction(from, to) {
    return this.model.events.find((one) => one.t >= from && one.t <= to &&
      (one.kind === "election_started" || one.kind === "deposed" ||
       (one.kind === "leader" && one.leader === 0)))?.t;
  }

  // When the winner last began an election, in that time.
  lastStart(elected, from) {
    return this.model.events.filter((one) => one.kind === "election_started" &&
      one.node === elected.node && one.t >= from && one.t <= elected.t).pop()?.t;
  }

  // When the last of those who were there at the election knows of it, and has answered.
  settledAfter(elected, took) {
    const wasThere = ({ lane }) => lane && !this.model.absence(lane, elected.t);
    let last = elected.t;
    for (const record of this.model.events) {
      if (record.t < elected.t) continue;
      if (record.kind === "elected" && record.t > elected.t) break;
      // A node that is cut off learns of it in another story.
      if (record.t - elected.t > 4 * took + 5e6) break;
      if (record.kind === "leader" && record.leader === elected.node &&
          record.epoch === elected.epoch && wasThere(record)) last = record.t;
    }
    const patience = (last - elected.t) * 2;
    for (const { sent, receipt, from } of this.answers) {
      if (sent > elected.t + patience) break;
      if (receipt.epoch !== elected.epoch || !wasThere({ lane: from })) continue;
      if (receipt.t - elected.t <= patience) last = Math.max(last, receipt.t);
    }
    return last;
  }
}

// What one node has seen alone: it does not know when the others were elected, but whom it
// followed.
function episodesSeenBy(model, lane) {
  const episodes = [];
  let before = 0;
  let lost = null;
  let why = "";
  for (const { kind, t, leader, epoch, peer, word } of lane.records.filter(
         ({ what }) => what === "event")) {
    if (kind === "peer_down" && (peer === before || before === 0) && word === "eof")
      why = `node ${peer} dies`;
    if (kind === "deposed")
      why = `node ${lane.name} gives up${word && ": "}${word.replaceAll("_", " ")}`;
    if (kind !== "leader") continue;
    if (leader === 0) {
      lost ??= t;
      continue;
    }
    const begin = lost ?? t;
    episodes.push({
      replaces: before !== 0 || why !== "",
      why: why || (before && `node ${before} is lost`) || "",
      cause: begin,
      lost: begin,
      begin,
      end: t,
      settled: t,
      winner: model.laneOf(leader, t),
      epoch
    });
    [before, lost, why] = [leader, null, ""];
  }
  return episodes;
}

// In order; from the end of one leadership to the beginning of the next: { cause, lost: nobody led
// from here, begin: the first node that did something about it, end, settled: the last node that
// learnt of it, winner: a lane or null, epoch, replaces, why }.
export function findEpisodes(model) { return new EpisodeFinder(model).find(); }

const busyMessages = (model, from, to) =>
  model.arrows.filter((one) => !isBackground(one) && one.sent >= from && one.sent <= to).length;

// How long a message of an election takes there, as a median; 1 s if there is none.
function usualFlight(model, { from, to }) {
  const seen = model.arrows.filter((one) => looks[one.look][3] === "strong" &&
    one.fate === "delivered" && one.sent >= from && one.received <= to);
  return seen.length === 0 ? 1e9 : median(seen.map((one) => one.received - one.sent));
}

// The part that is worth seeing: all of a short trace; of a long one the last changes of leader, as
// many as fit into one picture.
export function chooseWindow(model, episodes) {
  if (model.end <= shortTrace || episodes.length === 0) return { from: 0, to: model.end };
  const last = episodes.length - 1;
  let first = last;
  // The beginning of a cluster is shown only when there is nothing else to see.
  while (first > 0 && last - first + 1 < episodesMax && episodes[first - 1].replaces &&
         busyMessages(model, episodes[first - 1].cause, episodes[last].settled) <= messagesMax)
    --first;
  return around(model, episodes[first].cause, episodes[last].settled);
}

// That part with a little room on both sides, but no more than is of use where time is folded.
export function around(model, from, to) {
  const share = (to - from) / 12;
  const flight = usualFlight(model, { from, to });
  const room = Math.max(flight === 0 ? share : Math.min(share, 4 * flight), 200e3);
  return { from: Math.max(0, from - room), to: Math.min(model.end, to + room) };
}

// "node 5 dies, node 4 leads 1.03 ms later"; empty when nothing happens in the window.
export function headline(episodes, window) {
  const seen = episodes.filter(({ end, cause }) => end >= window.from && cause <= window.to);
  if (seen.length === 0) return "";
  const { why: told, winner, replaces, begin, end, cause } = seen[0];
  const why = told || "the first election";
  const more = seen.length > 1 ? ` (and ${seen.length - 1} more)` : "";
  if (!winner) return `${why}, and nobody is elected${more}`;
  const leads = `node ${winner.name} leads`;
  if (replaces) return `${why}, ${leads} ${durationText(end - cause)} later${more}`;
  return end === begin ? `${why}: ${leads}${more}`
                       : `${why}: ${leads} after ${durationText(end - begin)}${more}`;
}
