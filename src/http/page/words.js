// Words the page's sentences from a node's answers: pure functions, which touch no document and
// read no clock but for their defaults.
"use strict";

const count = (number, unit) => `${number}\u00a0${unit}`;  // they stay on one line

function duration(ms) {
  if (ms < 1) return count(ms.toFixed(2), "ms");
  if (ms < 1000) return count(ms < 10 ? ms.toFixed(1) : Math.round(ms), "ms");
  const s = ms / 1000;
  if (s < 60) return count(s.toFixed(1), "s");
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return `${count(minutes, "min")} ${count(Math.floor(s % 60), "s")}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${count(hours, "h")} ${count(minutes % 60, "min")}`;
  return `${count(Math.floor(hours / 24), "d")} ${count(hours % 24, "h")}`;
}

// ---- Times, in the zone of the browser.

const two = (number) => String(number).padStart(2, "0");

// HH:MM:SS, and the date before it where it is not today.
function time(when, now = new Date()) {
  const at = new Date(when);
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
  if (at.toDateString() === now.toDateString()) return clock;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock}`;
}

function zone(now = new Date()) {
  const minutes = -now.getTimezoneOffset();
  const offset = `UTC${minutes < 0 ? "−" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:` +
                 two(Math.abs(minutes) % 60);
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!name || name === "UTC") return "UTC";
  return `${name}, now ${offset}`;
}

// ---- Who leads, and what would end that.

const plural = (ids) => (ids.length === 1 ? `node ${ids[0]}` : `nodes ${ids.join(", ")}`);

// The members who have a vote; where nobody has told a list of members, all who were asked.
function votersOf(cluster) {
  const listed = cluster.nodes.some((node) => typeof node.vote === "boolean");
  return listed ? cluster.nodes.filter((node) => node.vote) : cluster.nodes;
}

const neededOf = (cluster) =>
  (cluster.quorum === "none" ? 1 : Math.floor(votersOf(cluster).length / 2) + 1);

const follows = (cluster, node) =>
  node.reachable && node.leader === cluster.leader && node.epoch === cluster.epoch;

// The voters that take part in the leadership: they follow the leader, and are not silent.
const standing = (cluster) =>
  votersOf(cluster).filter((node) => follows(cluster, node) && node.votes !== false);

// Whether, among those who are left, one can lead who hears enough of the others.
function canLead(cluster, left) {
  const hears = (node, other) => node.id === other.id || node.peers_up.includes(other.id);
  return left.some((node) =>
    (node.id === cluster.leader || node.eligible !== false) &&
    left.filter((other) => hears(node, other)).length >= neededOf(cluster));
}

// The members of whom each one's loss would leave nobody who can lead.
function fatalLosses(cluster) {
  const all = standing(cluster);
  return all.filter((lost) => !canLead(cluster, all.filter((node) => node !== lost)))
            .map((node) => node.id);
}

// In one sentence, or nothing where any one loss is survived.
function risk(cluster) {
  const all = standing(cluster);
  const fatal = fatalLosses(cluster);
  const voters = votersOf(cluster).length;
  if (all.length > 0 && fatal.length === 0) return "";
  if (voters === 1)
    return `It is the only ${cluster.nodes.length === 1 ? "member" : "voter"}: if it is lost, ` +
           "nobody can lead.";
  const needed = neededOf(cluster);
  if (all.length <= needed)
    return `One more loss and nobody can lead: ${all.length} of ${voters} ` +
           `${voters === cluster.nodes.length ? "members" : "voters"} take part, ` +
           `and ${needed} ${needed === 1 ? "is" : "are"} needed.`;
  const others = all.filter((node) => node.id !== cluster.leader && node.eligible !== false);
  if (fatal.length < all.length)
    return `If ${fatal.length === 1 ? "" : "one of "}${plural(fatal)} is lost, nobody can lead` +
           (others.length === 0 ? ": no other member could." : ".");
  return "One more loss and nobody can lead: too few members hear each other.";
}

const countOf = (count, cluster) => `${count} of ${cluster.nodes.length} members`;

// { state, headline, detail, risk }. `here`: the node that answers; `since`: from when on nobody
// has led, as text.
function verdict(cluster, here, since) {
  const answered = cluster.nodes.filter((node) => node.reachable).length;
  const voters = votersOf(cluster);
  const voting = voters.filter((node) => node.reachable).length;
  if (cluster.leader === null && voting * 2 <= voters.length && cluster.quorum !== "none")
    return { state: "leaderless", headline: "No leader known here", risk: "",
             detail: `This node has known none since ${since}. ${countOf(answered, cluster)} answer ` +
                     "it, which is no majority: the others may have one" +
                     (here && here.why ? `. Here: ${here.why}` : "") };
  if (cluster.leader === null) {
    return { state: "leaderless", headline: "No leader", risk: "",
             detail: `Without a leader since ${since}. No majority agrees on one; ` +
                     `${countOf(answered, cluster)} answer` +
                     (here && here.why ? `. Here: ${here.why}` : "") };
  }
  const leader = cluster.nodes.find((node) => node.id === cluster.leader);
  const advertised = leader && leader.advertised ? leader.advertised + " · " : "";
  const following = cluster.nodes.filter((node) => follows(cluster, node)).length;
  const danger = risk(cluster);
  return { state: danger ? "fragile" : "led", headline: `Node ${cluster.leader} leads`,
           risk: danger, detail: `${advertised}${countOf(following, cluster)} follow it; ` +
                                 `${countOf(answered, cluster)} answer` };
}

// The page has asked in vain. `node`: its id, or null; `heard`: when it last answered, or null;
// `opened`: the page; `status`: what it answered instead, or null.
function silence({ node, host, heard, opened, path, status }, now = new Date()) {
  const name = node === null ? host : `Node ${node}`;
  const below = heard === null ? "" : " What stands below was true then.";
  const then = heard === null ? `this page was opened at ${time(opened, now)}`
                              : time(heard, now);
  if (status !== null)
    return { state: "unknown", headline: `${name} cannot say now`, risk: "",
             detail: `It answers ${path} with status ${status}. Nothing else has been heard from ` +
                     `it${node === null ? "" : `, at ${host},`} since ${then}.${below}` };
  return { state: "unknown", headline: `${name} does not answer`, risk: "",
           detail: `Nothing has been heard from ${node === null ? "there" : `it, at ${host},`} ` +
                   `since ${then}.${below}` };
}

// { label, text } of the leadership's beginning, or of its absence's. `history` may be null.
function sinceOf(cluster, history, self, leaderlessSince, now = new Date()) {
  if (cluster.leader === null)
    return { label: "Without a leader since", text: time(leaderlessSince, now) };
  const newest = history.changes[0];
  const known = newest && newest.leader === cluster.leader && newest.epoch === cluster.epoch;
  if (!known) return { label: "Leading since", text: "not seen here" };
  const before = newest.gap_ms === null && newest.leader !== self ? " or before" : "";
  return { label: "Leading since", text: time(newest.time, now) + before };
}

function gap(change) {
  if (change.gap_ms === null) return "not known";
  return change.gap_ms === 0 ? "none" : duration(change.gap_ms);
}

function leaderlessShare(history) {
  const share = history.watched_ms > 0 ? 100 * history.leaderless_ms / history.watched_ms : 0;
  return `${duration(history.leaderless_ms)} of ${duration(history.watched_ms)}` +
         (history.leaderless_ms > 0
          ? ` (${count(share.toFixed(share < 0.01 ? 4 : 2), "%")})` : "");
}
