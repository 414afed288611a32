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

function instant(text, words = time) {
  const made = element("time", words(text));
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

function showVerdict({ state, headline, detail,
                       since = "", risk = "", troubles = [], remedy = "" }) {
  byId("verdict").className = "verdict " + state;
  show("headline", headline);
  show("since", since);
  show("risk", risk);
  const list = byId("troubles");
  const same = [...list.children].map((one) => one.textContent).join("\n") === troubles.join("\n");
  if (!same) list.replaceChildren(...troubles.map((text) => element("li", text)));
  show("remedy", remedy && `What to do: ${remedy}`);
  show("detail", detail);
  document.title = headline + " – Bullring";
}

// A change, as the stream reports it: what the others say of it is still to be asked.
function onLeader(change) {
  if (change.leader === null) {
    showVerdict({ state: "leaderless", headline: "No leader",
                  since: `Since ${time(new Date())}.`,
                  detail: "As far as this node knows; an election is due." });
  } else {
    const advertised = change.advertised ? change.advertised + " · " : "";
    showVerdict({ state: "asking", headline: `Node ${change.leader} leads`,
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

function memberRow(node) {
  const row = element("tr", undefined, node.id === self.id ? "self" : "");
  const name = heading("", "row");
  const id = element("span", String(node.id));
  if (node.id === self.id) id.append(element("span", " (this node)", "own"));
  name.append(id);
  const role = node.reachable ? node.role : "unreachable";
  const or = (value) => (value === null || value === undefined ? "–" : String(value));
  const why = node.reachable ? [node.why, elsewhere(node)].filter((one) => one).join("; ")
                             : troublesOf(node)[0];
  const certificate = certificateOf(node, heard);
  const mode = or(node.security) + (node.security_migrate ? ", migrating" : "");
  const security = element("span", mode);
  if (certificate) security.append(element("span", `; ${certificate.text}`, certificate.level));
  row.append(name,
             cell(element("span", role, "role " + role), "plain"),
             cell(why, "wide"),
             cell(workOf(node, heard), "wide"),
             cell(security, "wide"),
             cell(voteOf(node), "plain third"),
             cell(or(node.priority), "plain third"),
             cell(node.reachable ? duration(node.uptime_ms) : "–", "plain third"),
             cell(node.address, "plain"),
             cell(or(node.version), "plain"));
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
  showVerdict({ ...verdict(cluster, heard),
                since: sinceOf(cluster, history, self.id, leaderlessSince, heard) });
  const source = nodes.find((node) => node.id === cluster.leader && node.reachable) || here;
  show("epoch", source.epoch || "–");
  show("lease-text", cluster.leader === null ? "none"
                   : cluster.quorum === "none" ? "there are none"
                   : duration(source.lease_left_ms) + ", and renewed");
  show("self", `node ${self.id}, version ${self.version}, priority ${self.priority}`);
}

// ---- What has been.

function changeOf(change) {
  const item = element("li");
  item.dataset.mark = JSON.stringify([change, shortTime(change.time)]);
  const details = element("details");
  const reason = change.reason || "not told";
  const summary = element("summary", undefined, "change");
  const told = (before, text) => {
    const part = element("span");
    part.append(element("span", before, "unseen"), text);
    return part;
  };
  const brief = change.gap_ms === null ? "–" : gap(change);
  summary.append(instant(change.time, shortTime), " ", told("", `node ${change.leader}`), " ",
                 told("the one before: ", reason), " ", told("without a leader: ", brief));
  const facts = element("dl");
  for (const [name, fact] of [
    ["Leader", `node ${change.leader}` + (change.advertised ? ` · ${change.advertised}` : "")],
    ["Epoch", change.epoch],
    ["The one before", ends[reason] || "How it went is not told."],
    ["Without a leader", gap(change)],
    ["When", time(change.time)],
  ]) facts.append(element("dt", name), element("dd", String(fact)));
  details.append(summary, facts);
  item.append(details);
  return item;
}

// Those that are open stay so.
function keep(list, marked) {
  const shown = new Map([...list.children].map((one) => [one.dataset.mark, one]));
  const all = marked.map(({ mark, make }) => shown.get(mark) || make());
  if (all.length !== shown.size || !all.every((one) => one.isConnected))
    list.replaceChildren(...all);
}

function drawHistory() {
  show("leaderless", leaderlessShare(history));
  keep(byId("changes"), history.changes.map((change) => (
    { mark: JSON.stringify([change, shortTime(change.time)]), make: () => changeOf(change) })));
}

// A picture never changes, so each is made once. A node that was started anew counts from 1 again,
// so the time belongs to the name.
const markOf = (one) => `${one.number}-${Math.round(Date.parse(one.time) / 1000)}`;

const drawer = Promise.all(["trace", "model", "episodes", "draw", "legend"].map(
  (name) => import(`./${name}.js`)));
const drawn = new Map();      // by mark: what draw() answered
const pictureWidth = 360;

async function drawInto(place, one) {
  const answer = await fetch(`failovers/${one.number}.jsonl`, { cache: "no-store" });
  if (!answer.ok) throw new OtherAnswer(`/failovers/${one.number}.jsonl`, answer.status);
  const [{ readTraces }, { makeModel }, { findEpisodes }, { draw }] = await drawer;
  const trace = readTraces([{ name: "", text: await answer.text() }]);
  const model = makeModel(trace);
  const picture = draw(model, {
    window: { from: 0, to: model.end }, episodes: findEpisodes(model), layout: "down",
    width: pictureWidth, first: self.id, id: `failover-${markOf(one)}`,
    label: `how node ${one.to} became the leader at ${time(one.time)}`,
  });
  drawn.set(place.closest("figure").dataset.mark, picture);
  place.innerHTML = picture.svg;
  drawLegend();
}

function figureOf(one) {
  const figure = element("figure");
  figure.dataset.mark = markOf(one);
  const link = element("a");
  link.href = `viewer.html?trace=failovers/${one.number}.jsonl`;
  link.title = "step through it";
  link.textContent = "drawing it …";
  const before = one.from === null ? "nobody" : `node ${one.from}`;
  const caption = element("figcaption");
  caption.append(instant(one.time), ` · ${before} → node ${one.to} (${one.reason}) · ` +
                 `epoch ${one.epoch}` +
                 (one.gap_ms === null ? "" : ` · ${duration(one.gap_ms)} without a leader`));
  figure.append(caption, link);
  drawInto(link, one).catch(() => {
    link.textContent = "It cannot be drawn now";
    figure.dataset.mark = "";  // tried anew with the next answers
  });
  return figure;
}

async function drawLegend() {
  const [, , , , { drawLegend: draw }] = await drawer;
  const marks = [...byId("diagrams").children].map((one) => one.dataset.mark);
  for (const mark of drawn.keys()) if (!marks.includes(mark)) drawn.delete(mark);
  byId("legend").innerHTML = draw([...drawn.values()], pictureWidth);
  byId("legend").parentElement.hidden = drawn.size === 0;
}

function drawFailovers() {
  byId("failovers").hidden = failovers.length === 0;
  if (failovers.length === 0) return;
  keep(byId("diagrams"),
       failovers.map((one) => ({ mark: markOf(one), make: () => figureOf(one) })));
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
    cluster = withoutTheGone(cluster);
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
byId("pictures").open = matchMedia("(min-width: 40rem)").matches;
setInterval(ask, askEvery);
ask();
listen();
