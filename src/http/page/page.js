// The page of one node: what it says of itself comes by server-sent events, what the others say is
// asked again now and then, and at once after a change.
"use strict";

const askEvery = 2000;   // milliseconds
const byId = (id) => document.getElementById(id);
const show = (id, text) => { byId(id).textContent = text; };

let cluster = null;      // the last answer of /cluster
let history = null;      // of /history
let failovers = [];      // of /failovers
let self = null;         // this node's id
let linked = false;      // the stream of events is open
let asking = false;
let askAgain = false;    // something has happened since it was asked

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function duration(ms) {
  if (ms < 1) return ms.toFixed(2) + " ms";
  if (ms < 1000) return (ms < 10 ? ms.toFixed(1) : Math.round(ms)) + " ms";
  const s = ms / 1000;
  if (s < 60) return s.toFixed(1) + " s";
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(s % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

function time(text) {
  const at = new Date(text);
  const today = at.toDateString() === new Date().toDateString();
  return today ? at.toLocaleTimeString() : at.toLocaleString();
}

function replaceRows(body, rows) {
  body.replaceChildren(...rows);
}

// ---- Who leads.

function showVerdict(state, headline, detail) {
  byId("verdict").className = "verdict " + state;
  show("headline", headline);
  show("detail", detail);
  document.title = headline + " – Bullring";
}

// A change, as the stream tells it.
function onLeader(change) {
  if (change.leader === null) {
    showVerdict("leaderless", "No leader", "as far as this node knows; an election is due");
    show("since", "–");
  } else {
    showVerdict("led", `Node ${change.leader} leads`, change.advertised);
    show("epoch", change.epoch);
  }
  ask();
}

// ---- The members.

const reachable = (nodes) => nodes.filter((node) => node.reachable);

// The leader that a majority names, as `bullring status` judges.
function agreed(nodes) {
  const named = new Map();
  for (const node of reachable(nodes)) {
    if (node.leader === null || node.leader === undefined) continue;
    const key = node.leader + "/" + node.epoch;
    named.set(key, (named.get(key) || 0) + 1);
  }
  for (const [key, count] of named)
    if (count * 2 > nodes.length) return { leader: Number(key.split("/")[0]), by: count };
  return null;
}

function memberRow(node) {
  const row = element("tr", undefined, node.id === self ? "self" : "");
  row.append(element("td", String(node.id), "plain"));
  const role = node.reachable ? node.role : "unreachable";
  const cell = element("td", undefined, "plain");
  cell.append(element("span", role, "role " + role));
  row.append(cell);
  row.append(element("td", node.reachable ? node.why : "does not answer", "wide"));
  row.append(element("td", node.address, "plain"));
  row.append(element("td", node.reachable ? duration(node.uptime_ms) : "–", "plain"));
  return row;
}

function linkRow(node, nodes) {
  const row = element("tr", undefined, node.id === self ? "self" : "");
  row.append(element("th", String(node.id)));
  for (const other of nodes) {
    let mark = ["·", "untold", "it does not answer"];
    if (other.id === node.id) mark = ["", "same", ""];
    else if (node.reachable && node.peers_up.includes(other.id))
      mark = ["●", "hears", `${node.id} and ${other.id} hear each other`];
    else if (node.reachable) mark = ["✕", "deaf", `${node.id} does not hear ${other.id}`];
    const cell = element("td", mark[0], mark[1]);
    cell.title = mark[2];
    row.append(cell);
  }
  return row;
}

function drawCluster() {
  const nodes = cluster.nodes;
  show("cluster", `${cluster.cluster} · ${cluster.algorithm}`);
  replaceRows(byId("members").tBodies[0], nodes.map(memberRow));
  const head = element("tr");
  head.append(element("th", ""));
  for (const node of nodes) head.append(element("th", String(node.id)));
  replaceRows(byId("links").tHead, [head]);
  replaceRows(byId("links").tBodies[0], nodes.map((node) => linkRow(node, nodes)));

  const here = nodes.find((node) => node.id === self);
  const answered = `${reachable(nodes).length} of ${nodes.length} members answer`;
  const agreement = agreed(nodes);
  if (agreement) {
    const leader = nodes.find((node) => node.id === agreement.leader);
    const told = leader && leader.advertised ? leader.advertised + " · " : "";
    showVerdict("led", `Node ${agreement.leader} leads`,
                `${told}${agreement.by} of ${nodes.length} members follow it; ${answered}`);
  } else {
    showVerdict("leaderless", "No leader", `no majority agrees on one; ${answered}` +
                (here && here.why ? ` · here: ${here.why}` : ""));
  }
  const teller = agreement && nodes.find((node) => node.id === agreement.leader && node.reachable);
  const source = teller || here;
  show("epoch", source && source.reachable && source.epoch ? source.epoch : "–");
  show("lease-text", agreement && source && source.reachable
       ? duration(source.lease_left_ms) + ", and renewed" : "none");
}

// ---- What has been.

function drawHistory() {
  const share = history.watched_ms > 0 ? 100 * history.leaderless_ms / history.watched_ms : 0;
  show("leaderless", `${duration(history.leaderless_ms)} of ${duration(history.watched_ms)}` +
       (history.leaderless_ms > 0 ? ` (${share < 0.01 ? share.toFixed(4) : share.toFixed(2)} %)` : ""));
  const newest = history.changes[0];
  const led = byId("verdict").classList.contains("led");
  show("since", newest && led ? time(newest.time) : "–");
  replaceRows(byId("changes").tBodies[0], history.changes.map((change) => {
    const row = element("tr");
    row.append(element("td", time(change.time), "plain"));
    row.append(element("td", String(change.leader) +
                       (change.advertised ? ` · ${change.advertised}` : ""), "wide"));
    row.append(element("td", String(change.epoch), "plain"));
    row.append(element("td", change.gap_ms === null ? "first since this node started"
                       : change.gap_ms === 0 ? "none" : duration(change.gap_ms), "plain"));
    return row;
  }));
}

// A picture never changes, so each is made once. A node that was started anew counts from 1 again,
// so the time belongs to the name; the browser, too, would show again what it has by that name.
const nameOf = (one) => `${one.number}.svg?${Math.round(Date.parse(one.time) / 1000)}`;

function drawFailovers() {
  byId("failovers").hidden = failovers.length === 0;
  const shown = new Map();
  for (const figure of byId("diagrams").children) shown.set(figure.dataset.name, figure);
  byId("diagrams").replaceChildren(...failovers.map((one) => {
    const known = shown.get(nameOf(one));
    if (known) return known;
    const figure = element("figure");
    figure.dataset.name = nameOf(one);
    const path = `failovers/${nameOf(one)}`;
    const image = element("img");
    image.src = path;
    image.loading = "lazy";
    image.alt = `node ${one.to} becomes the leader`;
    const link = element("a");
    link.href = path;
    link.append(image);
    const before = one.from === null ? "nobody" : `node ${one.from}`;
    figure.append(element("figcaption", `${time(one.time)} · ${before} → node ${one.to} · ` +
                          `epoch ${one.epoch}` + (one.gap_ms === null ? ""
                          : ` · ${duration(one.gap_ms)} without a leader`)), link);
    return figure;
  }));
}

async function get(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

async function ask() {
  if (asking) {
    askAgain = true;
    return;
  }
  asking = true;
  try {
    if (self === null) self = (await get("status")).id;
    show("self", self);
    [history, failovers, cluster] =
      await Promise.all([get("history"), get("failovers"), get("cluster")]);
    drawCluster();
    drawHistory();
    drawFailovers();
    show("seen", (linked ? "live" : "not live") + " · " + new Date().toLocaleTimeString());
  } catch (error) {
    showVerdict("unknown", "This node does not answer",
                "what stands below was true when it last did");
    show("seen", String(error.message || error));
  } finally {
    asking = false;
  }
  if (askAgain) {
    askAgain = false;
    ask();
  }
}

function listen() {
  const events = new EventSource("events");
  events.addEventListener("open", () => { linked = true; });
  events.addEventListener("error", () => {
    linked = false;
    // A browser connects again by itself, but not after an answer other than 200.
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, askEvery);
  });
  events.addEventListener("leader", (event) => onLeader(JSON.parse(event.data)));
}

setInterval(ask, askEvery);
ask();
listen();
