// The page of one node: what it says of itself comes by server-sent events, what the others say is
// asked again now and then, and at once after a change.
"use strict";

const askEvery = 2000;        // milliseconds
const patience = 5000;        // a node that stands still answers nothing, and ends nothing
const opened = new Date();
const byId = (id) => document.getElementById(id);

let cluster = null;           // the last answer of /cluster
let history = null;           // of /history
let failovers = [];           // of /failovers
let self = null;              // of /status
let heard = null;             // when they came
let leaderlessSince = null;   // as the page saw it, where the node itself follows somebody
let linked = false;           // the stream of events is open
let asking = false;
let askAgain = false;         // something has happened since it was asked

// An unchanged text is not set again, or a screen reader would read it again.
function show(id, text) {
  const element = byId(id);
  if (element.textContent !== String(text)) element.textContent = text;
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function instant(text) {
  const made = element("time", time(text));
  made.dateTime = text;
  made.title = text;
  return made;
}

function cell(content, className) {
  const made = element("td", undefined, className);
  const inner = element("span");  // one thing to lay out, whatever is in it
  inner.append(content);
  made.append(inner);
  return made;
}

function heading(text, scope) {
  const made = element("th", text);
  made.scope = scope;
  return made;
}

// ---- Who leads.

function showVerdict({ state, headline, detail, risk: danger }) {
  byId("verdict").className = "verdict " + state;
  show("headline", headline);
  show("detail", detail);
  show("risk", danger);
  document.title = headline + " – Bullring";
}

function showSince({ label, text }) {
  show("since-label", label);
  show("since", text);
}

// A change, as the stream reports it: what the others say of it is still to be asked.
function onLeader(change) {
  if (change.leader === null) {
    showVerdict({ state: "leaderless", headline: "No leader", risk: "",
                  detail: "As far as this node knows; an election is due." });
    showSince({ label: "Without a leader since", text: time(new Date()) });
  } else {
    const advertised = change.advertised ? change.advertised + " · " : "";
    showVerdict({ state: "asking", headline: `Node ${change.leader} leads`, risk: "",
                  detail: advertised + "asking who follows it …" });
    show("epoch", change.epoch);
  }
  ask();
}

// ---- The members.

// On a narrow screen the cells of a row stand below each other, each with its heading. What is laid
// out otherwise is still a table to those who have it read to them, if it says so.
function stack(id) {
  const table = byId(id);
  const names = [...table.tHead.rows[0].cells].map((one) => one.textContent);
  const tell = (elements, role) => elements.forEach((one) => one.setAttribute("role", role));
  tell([table], "table");
  tell([table.tHead, ...table.tBodies], "rowgroup");
  tell([...table.rows], "row");
  tell([...table.tHead.rows[0].cells], "columnheader");
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((one, place) => {
      one.dataset.name = names[place];
      one.setAttribute("role", one.tagName === "TH" ? "rowheader" : "cell");
    });
  }
}

/// The other members dial it where it is not.
function elsewhere(node) {
  if (!node.listed_problem) return "";
  return `; not reached at ${node.listed_address}, which the list has: ${node.listed_problem}`;
}

function memberRow(node) {
  const row = element("tr", undefined, node.id === self.id ? "self" : "");
  const name = heading("", "row");
  const id = element("span", String(node.id));
  if (node.id === self.id) id.append(element("span", " (this node)", "own"));
  name.append(id);
  const role = node.reachable ? node.role : "unreachable";
  const or = (value) => (value === null || value === undefined ? "–" : String(value));
  row.append(name,
             cell(element("span", role, "role " + role), "plain"),
             cell(node.reachable ? node.why + elsewhere(node) : "does not answer" +
                  (node.problem ? `: ${node.problem}` : ""), "wide"),
             cell(node.address, "plain"),
             cell(or(node.priority), "plain"),
             cell(or(node.version), "plain"),
             cell(node.reachable ? duration(node.uptime_ms) : "–", "plain"));
  return row;
}

function linkRow(node, nodes) {
  const row = element("tr", undefined, node.id === self.id ? "self" : "");
  row.append(heading(String(node.id), "row"));
  for (const other of nodes) {
    let mark = ["·", "untold", `${node.id} does not answer`];
    if (other.id === node.id) mark = ["", "same", "itself"];
    else if (node.reachable && node.peers_up.includes(other.id))
      mark = ["●", "hears", `${node.id} and ${other.id} hear each other`];
    else if (node.reachable) mark = ["✕", "deaf", `${node.id} does not hear ${other.id}`];
    const made = cell(mark[0], mark[1]);
    made.title = mark[2];
    made.setAttribute("aria-label", mark[2]);
    row.append(made);
  }
  return row;
}

function drawCluster() {
  const nodes = cluster.nodes;
  show("cluster", `${cluster.cluster} · ${self.algorithm}`);
  byId("members").tBodies[0].replaceChildren(...nodes.map(memberRow));
  stack("members");
  const head = element("tr");
  head.append(element("td", ""), ...nodes.map((node) => heading(String(node.id), "col")));
  byId("links").tHead.replaceChildren(head);
  byId("links").tBodies[0].replaceChildren(...nodes.map((node) => linkRow(node, nodes)));

  leaderlessSince = cluster.leader !== null ? null
                  : history.leaderless_since || leaderlessSince || new Date();
  const here = nodes.find((node) => node.id === self.id && node.reachable) || self;
  showVerdict(verdict(cluster, here, time(leaderlessSince)));
  showSince(sinceOf(cluster, history, self.id, leaderlessSince));
  const source = nodes.find((node) => node.id === cluster.leader && node.reachable) || here;
  show("epoch", source.epoch || "–");
  show("lease-text", cluster.leader === null ? "none"
                   : cluster.quorum === "none" ? "there are none"
                   : duration(source.lease_left_ms) + ", and renewed");
  show("self", `node ${self.id}, version ${self.version}, priority ${self.priority}`);
}

// ---- What has been.

function drawHistory() {
  show("leaderless", leaderlessShare(history));
  byId("changes").tBodies[0].replaceChildren(...history.changes.map((change) => {
    const row = element("tr");
    const advertised = change.advertised ? ` · ${change.advertised}` : "";
    row.append(cell(instant(change.time), "plain"),
               cell(String(change.leader) + advertised, "wide"),
               cell(String(change.epoch), "plain"),
               cell(change.reason || "not told", "plain"),
               cell(gap(change), "plain"));
    return row;
  }));
  stack("changes");
}

// A picture never changes, so each is made once. A node that was started anew counts from 1 again,
// so the time belongs to the name; the browser, too, would show again what it has by that name.
const markOf = (one) => `${one.number}-${Math.round(Date.parse(one.time) / 1000)}`;

function picture(path, text) {
  const image = element("img");
  image.src = path;
  image.loading = "lazy";
  image.alt = text;
  return image;
}

function figureOf(one) {
  const figure = element("figure");
  figure.dataset.mark = markOf(one);
  const link = element("a");
  link.href = `failovers/${one.number}.svg?${markOf(one)}`;
  link.append(picture(`failovers/${one.number}.bare.svg?${markOf(one)}`,
                      `picture of how node ${one.to} became the leader at ${time(one.time)}`));
  const before = one.from === null ? "nobody" : `node ${one.from}`;
  const caption = element("figcaption");
  caption.append(instant(one.time), ` · ${before} → node ${one.to} (${one.reason}) · ` +
                 `epoch ${one.epoch}` +
                 (one.gap_ms === null ? "" : ` · ${duration(one.gap_ms)} without a leader`));
  figure.append(caption, link);
  return figure;
}

function legendOf(newest) {
  const figure = element("figure", undefined, "legend");
  figure.dataset.mark = "legend-" + markOf(newest);
  figure.append(element("figcaption", "What the lines and bars in all of them mean"),
                picture(`failovers/legend.svg?${markOf(newest)}`, "legend of the pictures"));
  return figure;
}

function drawFailovers() {
  byId("failovers").hidden = failovers.length === 0;
  if (failovers.length === 0) return;
  const shown = new Map();
  for (const figure of byId("diagrams").children) shown.set(figure.dataset.mark, figure);
  const figures = failovers.map((one) => shown.get(markOf(one)) || figureOf(one));
  const legend = shown.get("legend-" + markOf(failovers[0])) || legendOf(failovers[0]);
  const all = [legend, ...figures];
  const same = all.length === shown.size && all.every((figure) => figure.isConnected);
  if (!same) byId("diagrams").replaceChildren(...all);  // else whoever stands on a link stays there
}

// ---- Asking.

class OtherAnswer extends Error {
  constructor(path, status) {
    super(`${path}: ${status}`);
    this.path = path;
    this.status = status;
  }
}

async function get(path) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(patience) });
  if (!answer.ok) throw new OtherAnswer("/" + path, answer.status);
  return answer.json();
}

function showSilence(error) {
  showVerdict(silence({ node: self && self.id, host: location.host, heard, opened,
                        path: error.path || null, status: error.status || null }));
  byId("facts").className = "stale";
  show("lease-text", "not known");
  show("seen", heard === null ? "nothing heard yet" : `nothing heard since ${time(heard)}`);
}

async function ask() {
  if (asking) {
    askAgain = true;
    return;
  }
  asking = true;
  let failure = null;
  try {
    [self, cluster] = await Promise.all(["status", "cluster"].map(get));
    // After what may take a second: it is to tell how that has come about.
    [history, failovers] = await Promise.all(["history", "failovers"].map(get));
    heard = new Date();
  } catch (error) {
    failure = error;
  }
  asking = false;
  if (failure) showSilence(failure);
  else draw();
  if (askAgain) {
    askAgain = false;
    ask();
  }
}

function draw() {
  byId("facts").className = "";
  show("zone", `Times are this browser's: ${zone(heard)}`);
  drawCluster();
  drawHistory();
  drawFailovers();
  show("seen", (linked ? "live" : "not live") + ` · heard at ${time(heard)}`);
}

function listen() {
  const events = new EventSource("events");
  events.addEventListener("open", () => { linked = true; });
  events.addEventListener("error", () => {
    linked = false;
    ask();
    // A browser connects again by itself, but not after an answer other than 200.
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, askEvery);
  });
  events.addEventListener("leader", (event) => onLeader(JSON.parse(event.data)));
}

show("zone", `Times are this browser's: ${zone()}`);
setInterval(ask, askEvery);
ask();
listen();
