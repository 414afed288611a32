// The page on which traces are looked at: it opens them, steps and plays through what happens, and
// says what each node knew at that instant.
import { draw } from "./draw.js";
import { around, chooseWindow, findEpisodes, headline } from "./episodes.js";
import { makeModel } from "./model.js";
import { embedded, windowOf } from "./page_data.js";
import { durationText, readTraces } from "./trace.js";

const narrow = 600;         // pixels: less than this is a telephone's, where time runs down
const beat = 900;           // milliseconds a step takes when it plays
const shortestWindow = 2e3;
const byId = (id) => document.getElementById(id);

let view = {};              // the wishes: { title, from, to, theme, scale, heartbeats, names }
let model = null;
let episodes = [];
let parts = [];             // the windows that can be chosen
let shown = null;           // the window
let picture = null;         // as draw() answers
let step = -1;              // of picture.steps
let playing = null;         // a timer
let pressed = null;         // where a pointer went down

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

// ---- Opening.

function showTraces(files) {
  const trace = readTraces(files);
  const length = trace.records.at(-1)?.t ?? 0;
  const noted = [...trace.notes];
  if (view.from > length)
    noted.push(
      `The trace lasts ${durationText(length)}: the part that was asked for is behind its end`);
  byId("noted").hidden = noted.length === 0;
  byId("noted").firstElementChild.textContent =
    noted.length === 1 ? "A note" : `${noted.length} notes`;
  byId("notes").replaceChildren(...noted.map((note) => element("li", note)));
  byId("noted").open = trace.records.length === 0;
  document.querySelector("main").hidden = trace.records.length === 0;
  if (trace.records.length === 0) {
    byId("about").textContent = "There is no line of a trace in it.";
    return;
  }
  model = makeModel(trace);
  episodes = findEpisodes(model);
  parts = [{ name: "around the last elections", ...chooseWindow(model, episodes) },
           { name: `the whole trace, ${durationText(model.end)}`, from: 0, to: model.end },
           ...episodes.map((one) => ({ name: headline([one], { from: 0, to: model.end }),
                                       ...around(model, one.cause, one.settled) }))];
  const wished = windowOf(view, model);
  if (wished) parts.unshift({ name: "as it was asked for", ...wished });
  byId("part").replaceChildren(...parts.map(({ name }, i) => {
    const option = element("option", name);
    option.value = i;
    return option;
  }));
  byId("scale").value = view.scale === "linear" ? "linear" : "auto";
  byId("heartbeats").checked = Boolean(view.heartbeats);
  showPart(0);
}

async function openFiles(list) {
  view = { ...view, from: undefined, to: undefined, title: "" };
  showTraces(await Promise.all(
    [...list].map(async (file) => ({ name: file.name, text: await file.text() }))));
}

// From the node whose page this is.
async function openPaths(paths) {
  const failed = [];
  const files = await Promise.all(paths.map(async (path) => {
    const answer = await fetch(path, { cache: "no-store" }).catch(() => null);
    if (answer?.ok) return { name: path, text: await answer.text() };
    failed.push(
      `${path} cannot be had${answer ? `: it is answered with status ${answer.status}` : ""}.`);
    return { name: path, text: "" };
  }));
  showTraces(files);
  if (failed.length > 0) byId("about").textContent = failed.join(" ");
}

// ---- Drawing.

function showPart(index) {
  byId("part").value = index;
  shown = { from: parts[index].from, to: parts[index].to };
  redraw();
}

const tracedLanes = () => model.lanes.filter((lane) => lane.traced);

function viewNow(width) {
  const traced = tracedLanes();
  return {
    window: shown,
    episodes,
    width,
    layout: width < narrow ? "down" : "across",
    legend: true,
    scale: byId("scale").value,
    heartbeats: byId("heartbeats").checked,
    theme: view.theme,
    first: traced.length === 1 ? traced[0].node : null,
    label: byId("headline").textContent
  };
}

// `at`: the time at which it goes on; the step that was chosen, if it is still there.
function redraw(at = picture?.steps[step]?.t) {
  const traced = tracedLanes();
  const title = view.title || headline(episodes, shown) || "Nothing changes here";
  byId("headline").textContent = title;
  document.title = title;
  byId("about").textContent =
    `${durationText(shown.to - shown.from)} of a trace of ` +
    `${durationText(model.end)}, from ${durationText(shown.from)} on; ` +
    `${model.trace.records.length} lines of ${
      traced.length === 1 ? `node ${traced[0].name}` : `${traced.length} nodes`}`;
  picture = draw(model, viewNow(Math.max(320, byId("picture").clientWidth)));
  byId("picture").innerHTML = picture.svg;
  const cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
  cursor.setAttribute("class", "cursor");
  byId("picture").firstElementChild.append(cursor);
  const next = picture.steps.findIndex(({ t }) => at !== undefined && t >= at);
  goTo(Math.max(next, 0), false);
}

function zoom(factor) {
  const middle = picture.steps[step]?.t ?? (shown.from + shown.to) / 2;
  const length = Math.max((shown.to - shown.from) * factor, shortestWindow);
  const share = (middle - shown.from) / (shown.to - shown.from || 1);
  moveTo(middle - length * share, length);
}

function moveTo(from, length) {
  const begin = Math.max(0, Math.min(from, model.end - length));
  shown = { from: begin, to: Math.min(model.end, begin + length) };
  redraw();
}

const moveBy = (share) =>
  moveTo(shown.from + (shown.to - shown.from) * share, shown.to - shown.from);

function goNear() {
  const { arrow, t } = picture.steps[step] ?? {};
  if (t === undefined) return;
  const [sent, received] = arrow ? [arrow.sent, arrow.received] : [t, t];
  const room = Math.max(received - sent, picture.typicalFlight, shortestWindow) * 2;
  moveTo(sent - room, received - sent + 2 * room);
}

// ---- Stepping.

function goTo(index, follow = true) {
  step = Math.max(-1, Math.min(index, picture.steps.length - 1));
  const now = picture.steps[step];
  for (const one of byId("picture").querySelectorAll(".chosen")) one.classList.remove("chosen");
  byId("back").disabled = step <= 0;
  byId("forth").disabled = step >= picture.steps.length - 1;
  tell(now);
  const t = now?.t ?? shown.from;
  elementOf(now)?.classList.add("chosen");
  const cursor = byId("picture").querySelector(".cursor");
  const along = picture.scale.x(t);
  const ends = picture.down ? [picture.left, along, picture.right, along]
                            : [along, picture.top - 4, along, picture.bottom];
  ["x1", "y1", "x2", "y2"].forEach((name, i) => cursor.setAttribute(name, ends[i]));
  if (picture.down && follow) cursor.scrollIntoView({ block: "center" });
  showKnown(t, now);
}

function elementOf(one) {
  if (!one) return null;
  if (one.arrow)
    return byId("picture").querySelector(`[data-a="${one.arrow.index}"]`);
  return byId("picture").querySelector(`[data-k~="${one.mark.index}"]`);
}

function tell(one) {
  const last = picture.steps.length;
  byId("what").textContent = one ? one.text : last === 0 ? "Nothing happens here." : "";
  byId("fields").replaceChildren(...(one?.fields ?? []).flatMap(([name, text]) =>
    [element("dt", name), element("dd", text)]));
}

function showKnown(t, now) {
  byId("when").textContent = `What each node knew, ${durationText(t)} into the trace` +
    (picture.steps.length > 0 ? ` (step ${step + 1} of ${picture.steps.length})` : "");
  const about = now?.mark?.lane ?? (now?.end === "sent" ? now.arrow.from : now?.arrow.to);
  byId("known").tBodies[0].replaceChildren(...tracedLanes().map((lane) => {
    const { role, leader, epoch, promised, left } = model.knowledge(lane, t);
    const row = element("tr", undefined, lane === about ? "about" : "");
    const head = element("th", lane.name);
    head.scope = "row";
    const cells =
      [role, leader, epoch, promised, left === "" || left === null ? "" : durationText(left)];
    row.append(head, ...cells.map((text) => element("td", text || "–")));
    return row;
  }));
}

function play(on) {
  clearInterval(playing);
  playing = null;
  byId("play").setAttribute("aria-pressed", on);
  byId("play").textContent = on ? "Pause" : "Play";
  if (!on) return;
  if (step >= picture.steps.length - 1) goTo(0);
  playing = setInterval(() => {
    if (step >= picture.steps.length - 1) play(false);
    else goTo(step + 1);
  }, beat / Number(byId("speed").value));
}

// The step that an element of the drawing stands for, or null.
function stepOf(target) {
  const { a, k } = target.closest("[data-a], [data-k]")?.dataset ?? {};
  if (a !== undefined) return picture.steps.findIndex(({ arrow }) => arrow === model.arrows[a]);
  if (k !== undefined)
    return picture.steps.findIndex(({ mark }) => mark === model.marks[parseInt(k, 10)]);
  return null;
}

// The time under a pointer.
function timeUnder({ clientX, clientY }) {
  const box = byId("picture").firstElementChild.getBoundingClientRect();
  const share = picture.width / box.width;
  return picture.scale.t(picture.down ? (clientY - box.top) * share : (clientX - box.left) * share);
}

// ---- What people do.

function onKey(event) {
  const keys = {
    ArrowRight: () => goTo(step + 1), ArrowDown: () => goTo(step + 1),
    ArrowLeft: () => goTo(step - 1), ArrowUp: () => goTo(step - 1),
    Home: () => goTo(0), End: () => goTo(picture.steps.length - 1),
    PageUp: () => moveBy(-0.5), PageDown: () => moveBy(0.5),
    "+": () => zoom(0.5), "-": () => zoom(2), " ": () => play(!playing),
    Enter: goNear, Escape: () => showPart(Number(byId("part").value)),
  };
  if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  keys[event.key]();
}

function onRelease(event) {
  const begin = pressed;
  pressed = null;
  if (!begin || !model) return;
  const moved = event.clientX - begin.x;
  if (!picture.down && Math.abs(moved) > 6) {
    const perPixel = (shown.to - shown.from) / (picture.right - picture.left);
    return moveTo(shown.from - moved * perPixel, shown.to - shown.from);
  }
  const at = timeUnder(event);
  const past = picture.steps.filter(({ t }) => t <= at).length - 1;
  goTo(stepOf(event.target) ?? Math.max(past, 0));
}

function onWheel(event) {
  if (picture.down || (!event.ctrlKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY))) return;
  event.preventDefault();
  if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : 0.8);
  else moveBy(event.deltaX / 1000);
}

// As a file of its own, with its looks inside.
function save() {
  const css = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .map((rule) => rule.cssText).filter((text) => text.includes(".diagram")).join("\n");
  const { svg } =
    draw(model, {...viewNow(1200), layout: "across", css, title: byId("headline").textContent });
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  link.download = "election.svg";
  link.click();
  URL.revokeObjectURL(link.href);
}

function listen() {
  const onClick = {
    back: () => goTo(step - 1),
    forth: () => goTo(step + 1),
    play: () => play(!playing),
    closer: () => zoom(0.5),
    wider: () => zoom(2),
    earlier: () => moveBy(-0.5),
    later: () => moveBy(0.5),
    open: () => byId("files").click(),
    save,
  };
  for (const [id, act] of Object.entries(onClick))
    byId(id).addEventListener("click", () => { if (model || id === "open") act(); });
  byId("files").addEventListener("change", (event) => openFiles(event.target.files));
  byId("part").addEventListener("change", (event) => showPart(Number(event.target.value)));
  for (const id of ["scale", "heartbeats"]) byId(id).addEventListener("change", () => redraw());
  byId("speed").addEventListener("change", () => { if (playing) play(true); });
  const surface = byId("picture");
  surface.addEventListener("keydown", onKey);
  surface.addEventListener("pointerdown", (event) => { pressed = { x: event.clientX }; });
  surface.addEventListener("pointerup", onRelease);
  surface.addEventListener("pointercancel", () => { pressed = null; });
  surface.addEventListener("pointerover", (event) => {
    const under = stepOf(event.target);
    tell(picture.steps[under ?? step]);
  });
  surface.addEventListener("pointerleave", () => tell(picture.steps[step]));
  surface.addEventListener("wheel", onWheel, { passive: false });
  for (const name of ["dragover", "dragleave", "drop"])
    document.addEventListener(name, (event) => {
      event.preventDefault();
      document.body.classList.toggle("dropping", name === "dragover");
      if (name === "drop" && event.dataTransfer.files.length > 0)
        openFiles(event.dataTransfer.files);
    });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (model && innerWidth !== width) redraw();
    width = innerWidth;
  });
}

function start() {
  const data = embedded(
    [...document.querySelectorAll("script.trace-data")].map((one) => [one.type, one.textContent]));
  view = data.view;
  if (["light", "dark"].includes(view.theme)) document.body.className = `diagram ${view.theme}`;
  listen();
  const paths = new URLSearchParams(location.search).getAll("trace");
  if (data.files.length > 0) showTraces(data.files);
  else if (paths.length > 0) openPaths(paths);
}

start();
