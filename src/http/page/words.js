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

// The same in few letters, for a list: of another day the date alone, with the minute.
function shortTime(when, now = new Date()) {
  const [date, clock] = time(when, now).split(" ");
  return clock ? `${date.slice(5)} ${clock.slice(0, 5)}` : date;
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

// Somebody has told a list of members.
const isListed = (cluster) => cluster.nodes.some((node) => typeof node.vote === "boolean");

// The members who have a vote; where nobody has told a list of members, all who were asked.
const votersOf = (cluster) =>
  (isListed(cluster) ? cluster.nodes.filter((node) => node.vote) : cluster.nodes);

// Without those who were removed and are gone, as is right: nobody waits for them.
function withoutTheGone(cluster) {
  const gone = (node) => isListed(cluster) && node.vote === null && !node.reachable;
  return { ...cluster, nodes: cluster.nodes.filter((node) => !gone(node)) };
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

const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) + "." : "");

// ---- What is wrong, member by member.

// Levels and their times are those of the packaged alert rules and of the log.
const day = 24 * 3600 * 1000;
const certificateWarning = 7 * day;
const certificateAlarm = day;
const troubledBy = 15 * 60 * 1000;  // a command that has ended, though it runs again

// { text, level } of a member's certificate, or null where it has none.
function certificateOf(node, now = new Date()) {
  if (!node.certificate_not_after) return null;
  const left = new Date(node.certificate_not_after) - now;
  if (left <= 0) return { text: `certificate ended ${duration(-left)} ago`, level: "bad" };
  return { text: `certificate ends in ${left < certificateWarning ? duration(left)
                                        : count(Math.floor(left / day), "days")}`,
           level: left < certificateAlarm ? "bad" : left < certificateWarning ? "doubtful" : "" };
}

const works = { run: "its command", address: "the holder of its address", library: "its task" };

// What a member does as the leader, by the node itself.
function workOf(node, now = new Date()) {
  if (!node.mode) return "–";
  const parts = [];
  if (node.task) {
    const { running, for_ms, starts, last_end, last_end_ago_ms } = node.task;
    if (running) parts.push(`has run for ${duration(for_ms)}`);
    else if (node.role === "leader") parts.push("does not run");
    else if (!node.wrong && node.eligible !== false) parts.push("stands by");
    if (last_end) parts.push(`ended at ${time(now - last_end_ago_ms, now)} (${last_end})`);
    if (starts > 1 && last_end) parts.push(`${starts} starts`);
  }
  if (node.lead_commands)
    parts.push(node.lead_commands === 1 ? "a command of lead runs"
                                        : `${node.lead_commands} commands of lead run`);
  if (node.attached) {
    const { candidates, holder } = node.attached;
    if (holder) parts.push(`process ${holder.pid} (${holder.name}) has led for ${duration(holder.for_ms)}`);
    const waiting = candidates - (holder ? 1 : 0);
    if (waiting > 0) parts.push(waiting === 1 ? "a process waits to lead"
                                              : `${waiting} processes wait to lead`);
  }
  return node.mode + (parts.length > 0 ? ": " + parts.join("; ") : "");
}

function voteOf(node) {
  if (node.vote === false) return "none";
  if (node.reachable && node.votes === false) return "not yet";
  return node.vote === true ? "yes" : "–";
}

// The other members dial it where it is not.
function elsewhere(node) {
  if (!node.listed_problem) return "";
  return `not reached at ${node.listed_address}, which the list has: ${node.listed_problem}`;
}

// What is wrong with one member, whoever leads.
function troublesOf(node, now) {
  if (!node.reachable)
    return ["does not answer" + (node.problem ? `: ${node.problem}` : "")];
  const found = [node.wrong, elsewhere(node)];
  if (node.votes === false) found.push(node.why);
  const certificate = certificateOf(node, now);
  if (certificate && certificate.level) found.push(`its ${certificate.text}`);
  const { last_end, last_end_ago_ms } = node.task || {};
  if (!node.wrong && last_end && last_end_ago_ms < troubledBy)
    found.push(`${works[node.mode] || "its work"} ended at ` +
               `${time(now - last_end_ago_ms, now)} (${last_end})`);
  return found.filter((one) => one);
}

// In sentences, those of which the same is to be said together.
function troubles(cluster, now, textsOf = troublesOf) {
  const ids = new Map();
  for (const node of cluster.nodes)
    for (const text of textsOf(node, now)) ids.set(text, [...(ids.get(text) || []), node.id]);
  return [...ids].map(([text, who]) => `N${plural(who).slice(1)}: ${text}`);
}

// Of members without a leader each one's own reason says more.
const reasonsOf = (node, now) =>
  (node.reachable && node.why
    ? [node.why, ...troublesOf(node, now).filter((one) => !node.why.includes(one))]
    : troublesOf(node, now));

// What to do while somebody leads, by the words of the alert rules and the manual.
function remedyOf(wrong) {
  const ending = wrong.filter((one) => one.includes(": its certificate end"));
  const away = wrong.filter((one) => one.includes(": does not answer"));
  return [
    away.length > 0 && "Start who does not answer, or mend its network.",
    ending.length > 0 && "Put a new certificate in its place; it is read again without a restart.",
    ending.length + away.length < wrong.length && "See bullring-troubleshooting(7).",
  ].filter((one) => one).join(" ");
}

// { state, headline, risk, troubles, remedy, detail }.
function verdict(cluster, now = new Date()) {
  const answered = cluster.nodes.filter((node) => node.reachable).length;
  const voters = votersOf(cluster);
  const voting = voters.filter((node) => node.reachable).length;
  if (cluster.leader === null) {
    const unknown = voting * 2 <= voters.length && cluster.quorum !== "none";
    return { state: "leaderless", headline: unknown ? "No leader known here" : "No leader",
             risk: sentence(cluster.why), troubles: troubles(cluster, now, reasonsOf),
             remedy: sentence(cluster.remedy),
             detail: unknown
               ? `${countOf(answered, cluster)} answer this node, which is no majority: ` +
                 "the others may have one."
               : `${countOf(answered, cluster)} answer.` };
  }
  const leader = cluster.nodes.find((node) => node.id === cluster.leader);
  const advertised = leader && leader.advertised ? leader.advertised + " · " : "";
  const following = cluster.nodes.filter((node) => follows(cluster, node)).length;
  const danger = risk(cluster);
  const wrong = troubles(cluster, now);
  const well = !danger && wrong.length === 0;
  return { state: well ? "led" : "fragile", headline: `Node ${cluster.leader} leads`,
           risk: well ? "All is well." : danger || "Not all is well:", troubles: wrong,
           remedy: remedyOf(wrong),
           detail: `${advertised}${countOf(following, cluster)} follow it; ` +
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
    return { state: "unknown", headline: `${name} cannot say now`,
             detail: `It answers ${path} with status ${status}. Nothing else has been heard from ` +
                     `it${node === null ? "" : `, at ${host},`} since ${then}.${below}` };
  return { state: "unknown", headline: `${name} does not answer`,
           detail: `Nothing has been heard from ${node === null ? "there" : `it, at ${host},`} ` +
                   `since ${then}.${below}` };
}

// The beginning of the leadership, or of its absence, as a sentence. `history` may be null.
function sinceOf(cluster, history, self, leaderlessSince, now = new Date()) {
  const sentenceOf = (when, more = "") =>
    `Since ${time(when, now)}${more}, for ${duration(Math.max(now - new Date(when), 0))}.`;
  if (cluster.leader === null) return sentenceOf(leaderlessSince);
  const newest = history.changes[0];
  const known = newest && newest.leader === cluster.leader && newest.epoch === cluster.epoch;
  if (!known) return "Since when was not seen here.";
  return sentenceOf(newest.time,
                    newest.gap_ms === null && newest.leader !== self ? " or before" : "");
}

const ends = {
  resigned: "It resigned: it said so.",
  died: "It died: its process ended without a word.",
  lease_expired: "Its lease expired: nobody heard of it any more.",
  replaced: "It was replaced: the next one was there before its end was known.",
  first: "None is known: this node had just started.",
};

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
