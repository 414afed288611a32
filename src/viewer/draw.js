// Draws a part of a model as SVG text, the same in a browser and in a file; draw.css has its looks.
// Time runs across, or down in steps, as on a telephone. Must set no style of its own: the page's
// policy forbids it.
import { isBackground, looks } from "./messages.js";
import { median, makeScale } from "./scale.js";
import { durationText, fieldsOf } from "./trace.js";

// By the shape of a mark or bar: how weighty it is where several meet, what it looks like, and what
// the legend says of it.
const shapes = {
  death: [8, "M-7-7L7 7M-7 7L7-7", "the process ends", ""],
  elected: [7, "M0-9L2.4-3L8.6-2.8L3.8 1.2L5.3 7.3L0 3.8L-5.3 7.3L-3.8 1.2L-8.6-2.8L-2.4-3Z", "elected", "a majority has promised"],
  deposed: [6, "M-6-5H6L0 6Z", "gives up", "and stops acting as the leader first"],
  election: [5, "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0", "starts an election", ""],
  start: [4, "M-5-6L7 0L-5 6Z", "start", "of the process"],
  suspicion: [3, "M0-6L6 0L0 6L-6 0Z", "suspicion", "a peer is not heard any more"],
  other: [3, "M-4-4H4V4H-4Z", "event", "of another kind"],
  follows: [2, "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0", "leader known", "to this node"],
  trust: [1, "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0", "up", "a peer is heard again"],
};
const bars = {
  lease: ["lease", "this node leads, and nobody else can"],
  ghost: ["rest of a lease", "its holder died before it ran out"],
  candidate: ["candidate", "asks for promises"],
  stepping: ["stepping down", "its work is ending"],
  promise: ["promise", "bound to one candidate or leader"],
  absent: ["hang", "paused, suspended or silent"],
  lost: ["lost", "a message that never arrived"],
  nobody: ["no leader", "nobody reacts yet"],
  elects: ["election", "from the first reaction to the winner"],
  cut: ["cut, healed", "links between these nodes"],
  fold: ["folded", "so much time in which nothing happens"],
};
const withoutQuorum = {
  lease: ["leads", "or believes that it does"],
  elected: ["elected", "nobody higher is there"],
};
const lineHeight = 12;
const rowHeight = 22;
const near = 5;        // pixels: marks that stand together
const sampleWidth = 34;
const withEpoch = ["coordinator", "ctoken", "announce", "leader", "textbook"];

const bad = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const xml = (text) => String(text).replace(bad, "\ufffd").replace(/[&<>"]/g, (one) => entities[one]);
const num = (value) => Number(value.toFixed(1));
const widthOf = (text, size = 11) => text.length * size * 0.57;
const title = (text) => `<title>${xml(text)}</title>`;

function textAt(css, x, y, text, anchor = "start") {
  return `<text class="${css}" x="${num(x)}" y="${num(y)}"` +
         `${anchor === "start" ? "" : ` text-anchor="${anchor}"`}>${xml(text)}</text>\n`;
}

const rectAt = (css, x, y, width, height, inside = "") =>
  `<rect class="${css}" x="${num(x)}" y="${num(y)}" width="${num(Math.max(width, 0))}" ` +
  `height="${num(Math.max(height, 0))}" rx="2"${inside ? `>${inside}</rect>` : "/>"}\n`;

const lineAt = (css, x1, y1, x2, y2) =>
  `<line class="${css}" x1="${num(x1)}" y1="${num(y1)}" x2="${num(x2)}" y2="${num(y2)}"/>\n`;

function headAt(x, y, dx, dy) {
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const point = (back, side) =>
    `${num(x - ux * back - uy * side)},${num(y - uy * back + ux * side)}`;
  return `<polygon class="h" points="${point(0, 0)} ${point(8, 3)} ${point(8, -3)}"/>`;
}

class Picture {
  constructor(model, view) {
    const { window } = view;
    Object.assign(this, {
      model, view, down: view.layout === "down", out: "", texts: "", boxes: [],
      looks: new Set(), symbols: new Set(), captions: [], offsets: new Map(),
      episodes: view.episodes.filter(({ end, cause }) => end >= window.from && cause <= window.to),
      lanes: [...model.lanes].sort((a, b) => (b.node === view.first) - (a.node === view.first)),
      arrows: model.arrows.filter((one) => one.received >= window.from && one.sent <= window.to &&
                                           (view.heartbeats || !isBackground(one))),
      marks: model.marks.filter((one) => this.shows.call({ view }, one.at)),
      links: model.links.filter((one) => this.shows.call({ view }, one.at)),
    });
    this.zero = this.episodes.length > 0 ? Math.max(this.episodes[0].cause, window.from) : window.from;
    this.head = view.title ? 62 : 8;
    if (this.down) this.layOutDown();
    else this.layOutAcross();
  }

  shows(at) { return at >= this.view.window.from && at <= this.view.window.to; }

  layOutAcross() {
    const { width } = this.view;
    const count = this.lanes.length;
    const gap = count <= 6 ? 104 : count <= 12 ? 68 : 40;
    [this.left, this.right] = width < 800 ? [72, width - 80] : [108, width - 110];
    this.top = this.head + 30 + (this.links.length > 0 ? 18 : 0);
    this.lanes.forEach((lane, i) => { lane.at = this.top + 57 + i * gap; });
    this.bottom = this.top + 114 + (count - 1) * gap;
    this.scale = makeScale({ ...this.wish(), left: this.left, right: this.right, mode: this.view.scale });
  }

  // A column for each node, and below each other the instants at which something happens.
  layOutDown() {
    const { width } = this.view;
    const gap = Math.min(120, (width - 92 - 44) / Math.max(this.lanes.length - 1, 1));
    this.lanes.forEach((lane, i) => { lane.at = 92 + i * gap; });
    [this.left, this.right, this.top] = [0, width, this.head + 44];
    const heights = this.rowHeights();
    this.scale = makeScale({ ...this.wish(), left: this.top, mode: "steps",
                             heightOf: (at) => heights.get(at) });
    this.bottom = this.scale.end + 14 + heights.get("end");
  }

  // By instant: the room before it. Of one node the messages at one instant stand below each other:
  // first what it has received, then its mark, then what it has sent.
  rowHeights() {
    const rows = new Map();
    const rowOf = (at) => {
      if (!rows.has(at)) rows.set(at, { unsent: new Map(), open: new Map(), lines: 0 });
      return rows.get(at);
    };
    for (const { at, lines } of this.groups()) rowOf(at).lines = Math.max(rowOf(at).lines, lines.length, 1);
    for (const arrow of this.arrows) {
      const { sent, received, fate, look, from } = arrow;
      const row = rowOf(sent);
      rowOf(received);
      if (!row[fate]) continue;
      const key = fate === "open" ? look : `${look} ${from.place}`;
      if (!row[fate].has(key)) row[fate].set(key, []);
      row[fate].get(key).push(arrow);
    }
    const heights = new Map();
    let below = 0;
    for (const at of [...rows.keys()].sort((a, b) => a - b)) {
      const { unsent, open, lines } = rows.get(at);
      const own = lines > 0 ? unsent.size : Math.max(unsent.size - 1, 0);
      const all = [...unsent.values(), ...(lines > 0 ? [[]] : []), ...open.values()];
      all.forEach((arrows, i) => { for (const arrow of arrows) this.offsets.set(arrow, (i - own) * rowHeight); });
      heights.set(at, below + 26 + own * rowHeight + Math.max(lines - 1, 0) * lineHeight);
      below = Math.max(all.length - 1 - own, 0) * rowHeight;
    }
    return heights.set("end", below);
  }

  wish() {
    const { from, to } = this.view.window;
    const read = this.arrows.filter((one) => one.fate === "delivered" && !isBackground(one));
    const instants = [...this.arrows.flatMap((one) => [one.sent, one.received]),
                      ...this.marks.filter((one) => this.down || one.shape !== "trust").map((one) => one.at)];
    return { from, to, instants, flights: read.map((one) => one.received - one.sent),
             marks: [...this.marks, ...this.links].map((one) => one.at) };
  }

  place(at, lane) {
    const along = this.scale.x(Math.min(Math.max(at, this.view.window.from), this.view.window.to));
    return this.down ? [lane.at, along] : [along, lane.at];
  }

  // Along a lane, or across all of them.
  bar(css, from, to, lane, half, inside = "") {
    const [[x1, y1], [x2, y2]] = [this.place(from, lane), this.place(to, lane)];
    return this.down ? rectAt(css, x1 - half, y1, 2 * half, y2 - y1, inside)
                     : rectAt(css, x1, y1 - half, x2 - x1, 2 * half, inside);
  }

  // Lines of text in a place of their own: the first of the places where they cover no others.
  put(lines, places, { size = 11, mustBe = true } = {}) {
    const width = Math.max(...lines.map(([, text]) => widthOf(text, size)));
    const boxOf = ({ x, y, anchor = "start" }) => {
      const left = anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2;
      return [left - 2, y - size, left + width + 2, y + 3 + lineHeight * (lines.length - 1)];
    };
    const meets = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    const free = places.find((place) => !this.boxes.some((box) => meets(box, boxOf(place))));
    if (!free && !mustBe) return;
    const { x, y, anchor } = free ?? places[0];
    this.boxes.push(boxOf(free ?? places[0]));
    lines.forEach(([css, text], i) => { this.texts += textAt(css, x, y + lineHeight * i, text, anchor); });
  }

  // ---- From the back to the front.

  drawBands() {
    const whole = { at: this.down ? (this.left + this.right) / 2 : (this.top + this.bottom) / 2 };
    const half = this.down ? (this.right - this.left) / 2 : (this.bottom - this.top) / 2;
    for (const { lost, begin, end, winner } of this.episodes) {
      const parts = [["nobody", lost, begin, "no leader", "pale"], ["elects", begin, end, winner ? "election" : "no winner", "strong"]];
      for (const [css, from, to, word, text] of parts) {
        if (to <= from || !(this.shows(from) || this.shows(to))) continue;
        this.symbols.add(css);
        this.out += this.bar(css, from, to, whole, half);
        const [[x1, y1], [x2]] = [this.place(from, whole), this.place(to, whole)];
        const told = `${word} ${durationText(to - from)}`;
        if (this.down) this.captions.push([told, y1]);
        else this.put([[text, told]], [8, 24].map((up) => ({ x: (x1 + x2) / 2, y: this.top - up, anchor: "middle" })));
      }
    }
  }

  drawLinks() {
    const groups = new Map();
    for (const { at, isCut, from, to } of this.links) {
      const key = `${at} ${isCut}`;
      if (!groups.has(key)) groups.set(key, { at, isCut, pairs: [] });
      groups.get(key).pairs.push(`${from}→${to}`);
    }
    for (const { at, isCut, pairs } of groups.values()) {
      this.symbols.add("cut");
      const along = this.place(at, { at: 0 })[this.down ? 1 : 0];
      const short = pairs.slice(0, 4).join(", ") + (pairs.length > 4 ? ", …" : "");
      const text = `${isCut ? "cut" : "healed"} ${short}`;
      const css = isCut ? "cut" : "heal";
      this.out += this.down ? lineAt(css, this.left, along, this.right, along)
                            : lineAt(css, along, this.top - 4, along, this.bottom);
      this.put([[`halo ${isCut ? "wrong" : "right"}`, text]],
               this.down ? [{ x: this.right - 6, y: along - 4, anchor: "end" }]
                         : [24, 38].map((up) => ({ x: along, y: this.top - up, anchor: "middle" })));
    }
  }

  drawAxisAcross() {
    const { left, right, top, bottom, scale, zero } = this;
    this.out += lineAt("axis", left, bottom, right, bottom);
    for (const { x, text } of scale.ticks(zero)) {
      this.out += lineAt("grid", x, top, x, bottom);
      this.put([["small", text]], [{ x, y: bottom + 17, anchor: "middle" }], { size: 10 });
    }
    for (const one of scale.stretches.filter(({ folded }) => folded)) {
      this.symbols.add("fold");
      for (const x of [one.left + 6, one.right - 6]) {
        let path = `M${num(x)} ${top}`;
        for (let y = top, side = 2; y < bottom; y += 6, side = -side) path += `l${side} 6`;
        this.out += `<path class="zigzag" d="${path}"/>\n`;
      }
      this.put([["pale small", `+${durationText(one.to - one.from)}`]], [17, 31].map((y) => (
        { x: (one.left + one.right) / 2, y: bottom + y, anchor: "middle" })), { size: 10 });
    }
    const where = this.episodes.length > 0 && this.episodes[0].why && zero === this.episodes[0].cause
      ? `${this.episodes[0].why}, ` : "";
    this.texts += textAt("pale", left, bottom + 43,
                         `${scale.unit(zero)}; 0: ${where}${durationText(zero)} into the trace`);
  }

  // The time of each step, where it is another one than that before.
  drawAxisDown() {
    for (const [told, y] of this.captions)
      this.put([["pale small", told]], [12, 25].flatMap((dy) => [{ x: this.right - 4, y: y + dy, anchor: "end" },
                                                                 { x: 62, y: y + dy }]), { size: 10, mustBe: false });
    let said = "";
    for (const { from, to, left, right, folded, step } of this.scale.stretches) {
      if (folded && step) this.texts += textAt("pale small", 4, (left + right) / 2, `${durationText(to - from)} later`);
      const text = durationText(to - this.zero);
      if (step && text !== said) this.texts += textAt("pale small", 54, right + 4, text, "end");
      said = text;
    }
  }

  drawLanes() {
    const { from, to } = this.view.window;
    for (const lane of this.lanes) {
      const dead = lane.absences.filter((one) => one.kind === "dead" && one.to > from && one.from < to);
      let at = from;
      const line = (css, until) => {
        if (until > at) this.out += lineAt(css, ...this.place(at, lane), ...this.place(until, lane));
        at = Math.max(at, until);
      };
      for (const one of dead) {
        line("lane", one.from);
        line("gone", Math.min(one.to, to));
      }
      line("lane", to);
      if (this.down) this.out += lineAt(this.model.absence(lane, to)?.kind === "dead" ? "gone" : "lane",
                                        ...this.place(to, lane), lane.at, this.bottom - 6);
      const [before, after] = [from, to].map((when) => this.model.state(lane, when));
      if (this.down) {
        const own = lane.node === this.view.first ? "this node" : lane.traced ? before : "";
        this.texts += textAt("name", lane.at, this.top - 26, lane.name, "middle");
        this.put([["pale small", own]], [{ x: lane.at, y: this.top - 13, anchor: "middle" }],
                 { size: 10, mustBe: false });
        continue;
      }
      this.texts += textAt("name", this.left - 12, lane.at, `node ${lane.name}`, "end") +
                    textAt("pale", this.left - 12, lane.at + 13, before, "end") +
                    textAt("pale", this.right + 10, lane.at + 4, after);
    }
  }

  drawBars() {
    const { from, to } = this.view.window;
    const add = (css, lane, bar, half, tip) => {
      if (bar.to < from || bar.from > to || bar.to <= bar.from) return;
      this.symbols.add(css);
      this.out += this.bar(css, bar.from, bar.to, lane, half, title(tip));
    };
    const say = (lane, bar, texts) => {
      const [[x1, y1], [x2, y2]] = [this.place(bar.from, lane), this.place(bar.to, lane)];
      const text = texts.find((one) => widthOf(one) + 26 < x2 - x1);
      if (text && !this.down && this.shows(Math.min(bar.to, to)))
        this.put([["", text]], [{ x: x1 + 14, y: y1 + 4 }, { x: x2 - 6, y: y2 + 4, anchor: "end" }]);
    };
    for (const lane of this.lanes) {
      const name = `node ${lane.name}`;
      for (const one of lane.promises)
        add("promise", lane, one, 3, `${name} has promised ${one.holder} epoch ${one.epoch}`);
      for (const one of lane.absences.filter(({ kind }) => kind !== "dead")) {
        add("absent", lane, one, 7, `${name} is ${one.kind}`);
        say(lane, one, [one.kind]);
      }
      for (const one of lane.roles) {
        const standing = one.word === "candidate";
        add(standing ? "candidate" : "stepping", lane, one, 6, `${name}: ${bars[standing ? "candidate" : "stepping"].join(", ")}`);
        say(lane, one, [standing ? "candidate" : "stepping down"]);
      }
      for (const one of lane.leases) {
        const epoch = this.model.epochName(one.epoch);
        if (one.rest > one.to) add("ghost", lane, { from: one.to, to: one.rest }, 9, "the rest of its lease");
        add("lease", lane, one, 9, `${name} leads in epoch ${one.epoch} from ${this.when(one.from)}` +
            (one.open ? " on" : ` to ${this.when(one.to)}`));
        say(lane, one, [`leads in epoch ${epoch}`, epoch]);
      }
    }
  }

  when(at) { return durationText(at - this.zero); }

  // What it says, for a tooltip and for those who have it read to them.
  tellArrow({ from, to, sent, received, fate, look, sending, receipt }) {
    const epoch = (sending ?? receipt)?.epoch ?? "0";
    const head = `${looks[look][1]} from node ${from.name} to node ${to.name}` +
                 (epoch === "0" ? "" : `, epoch ${this.model.epochName(epoch)}`);
    return head + {
      delivered: `: sent at ${this.when(sent)}, there after ${durationText(received - sent)}`,
      lost: `: sent at ${this.when(sent)}, never arrives`,
      open: `: sent at ${this.when(sent)}; when it arrives is not in the trace`,
      unsent: `: there at ${this.when(received)}; when it was sent is not in the trace`,
    }[fate];
  }

  // What begins or ends beside the window goes on as at its edge.
  pointsOf(arrow) {
    const { from, to, sent, received, fate } = arrow;
    const slant = this.down ? 0 : 14;
    const pointAt = (at, lane) => (this.down ? this.place(at, lane) : [this.scale.x(at), lane.at]);
    const [start, end] = [pointAt(sent, from), pointAt(received, to)];
    if (fate === "delivered") return [start, end];
    if (this.down) for (const point of [start, end]) point[1] += this.offsets.get(arrow) ?? 0;
    if (fate === "unsent") return [this.down ? [from.at, end[1]] : [end[0] - slant, from.at], end];
    const full = this.down ? [to.at, start[1]] : [start[0] + slant, to.at];
    if (fate === "open") return [start, full];
    return [start, full.map((value, i) => start[i] + (value - start[i]) * 0.55)];
  }

  drawArrows() {
    const said = new Set();
    this.out += `<g clip-path="url(#${this.view.id}-clip)">\n`;
    for (const arrow of this.arrows) {
      const { look, fate } = arrow;
      this.looks.add(look);
      const [[x1, y1], [x2, y2]] = this.pointsOf(arrow);
      let end = headAt(x2, y2, x2 - x1, y2 - y1);
      if (fate === "lost") {
        this.symbols.add("lost");
        end = `<path class="x" d="M${num(x2 - 4)} ${num(y2 - 4)}l8 8m-8 0l8-8"/>`;
      }
      this.out += `<g class="m l-${look} ${looks[look][3]} ${fate}" data-a="${this.model.arrows.indexOf(arrow)}">` +
        title(this.tellArrow(arrow)) + lineAt("hit", x1, y1, x2, y2) + lineAt("s", x1, y1, x2, y2) + `${end}</g>\n`;
      const name = looks[look][0];
      if (!name) continue;
      const epoch = (arrow.sending ?? arrow.receipt)?.epoch ?? "0";
      const told = name + (withEpoch.includes(look) && epoch !== "0" ? ` ${this.model.epochName(epoch)}` : "");
      const once = `${arrow.sent} ${arrow.from.place} ${told}`;
      const parts = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74];
      const seen = x2 > this.right ? (this.right - x1) / (x2 - x1) : 1;
      const places = parts.map((part) => ({ x: x1 + (x2 - x1) * seen * part, anchor: "middle",
                                            y: y1 + (y2 - y1) * seen * part + (this.down ? -4 : 4) }));
      if (!this.down) places.push(...places.map((one) => ({ ...one, x: one.x + 5, anchor: "start" })));
      if (!(this.down && said.has(once)))
        this.put([[`halo small l-${look}`, told]], places, { size: 10, mustBe: !said.has(once) });
      said.add(once);
    }
    this.out += "</g>\n";
  }

  // The marks of one lane that stand at nearly the same place, and what is said of them: one line
  // for each thing; several peers with the same fate share one.
  groups() {
    const groups = [];
    for (const lane of this.lanes) {
      let last = null;
      for (const mark of this.marks.filter((one) => one.lane === lane)) {
        const isNear = last && (this.down ? last.at === mark.at
          : this.scale.x(mark.at) - this.scale.x(last.at) < near);
        if (isNear) last.marks.push(mark);
        else groups.push(last = { lane, at: mark.at, marks: [mark] });
      }
    }
    for (const group of groups) {
      group.chief = [...group.marks].sort((a, b) => shapes[b.shape][0] - shapes[a.shape][0])[0];
      group.lines = this.linesOf(group);
    }
    return groups;
  }

  linesOf({ marks, chief }) {
    const [weight] = shapes[chief.shape];
    const peers = new Map();
    const lines = [];
    for (const { shape, label, about, record } of marks) {
      if (about !== 0) {
        if (shape === "trust" && weight > 1) continue;
        peers.set(label, [...new Set([...(peers.get(label) ?? []), about])].sort((a, b) => a - b));
      } else if (!(shape === "follows" && record.leader === 0 && weight > 2)) {
        // That there is no leader goes without saying beside what weighs more.
        lines.push(label);
      }
    }
    const ofPeers = [...peers].map(([label, ids]) => `${ids.join(", ")} ${label}`);
    return [...new Set([...ofPeers, ...lines])];
  }

  drawMarks() {
    for (const { lane, at, marks, chief, lines } of this.groups()) {
      const [x, y] = this.place(at, lane);
      this.symbols.add(chief.shape);
      const tip = marks.map((mark) => this.tellMark(mark)).join("\n");
      this.out += `<g class="k ${chief.shape}" data-k="${[chief, ...marks].map((one) => this.model.marks.indexOf(one)).join(" ")}" ` +
                  `transform="translate(${num(x)} ${num(y)})">${title(tip)}<path d="${shapes[chief.shape][1]}"/></g>\n`;
      const styles = { death: "wrong strong", elected: "strong" };
      const told = lines.map((text) =>
        [`halo ${styles[marks.find(({ label }) => label === text)?.shape] ?? ""}`, text]);
      if (told.length > 0) this.put(told, this.placesBeside(x, y, told.length - 1));
    }
  }

  // Of as many more lines than one.
  placesBeside(x, y, more) {
    if (this.down) {
      const end = x > this.right * 0.62;
      return [{ x: x + (end ? -11 : 11), y: y + 4 - lineHeight * more, anchor: end ? "end" : "start" }];
    }
    const above = y - 13 - lineHeight * more;
    return [[8, above], [8, y + 20], [-8, above], [-8, y + 20], [8, above - 14], [8, y + 34]]
      .map(([aside, baseline]) => ({ x: x + aside, y: baseline, anchor: aside < 0 ? "end" : "start" }));
  }

  tellMark({ lane, at, label, about, record }) {
    return `node ${lane.name}: ${about ? `${about} ` : ""}${label}, at ${this.when(at)}` +
           (record && record.epoch !== "0" ? `, epoch ${this.model.epochName(record.epoch)}` : "");
  }

  svg() {
    const { view } = this;
    this.drawBands();
    if (!this.down) this.drawAxisAcross();
    this.drawLinks();
    this.drawLanes();
    this.drawBars();
    const marked = this.out;
    this.out = "";
    // Neither texts of marks nor of arrows lie on a lane or beside the drawing.
    if (!this.down) {
      for (const { at } of this.lanes) this.boxes.push([this.left, at - 4, this.right, at + 4]);
      this.boxes.push([0, this.top, this.left - 4, this.bottom]);
    }
    this.drawMarks();  // its texts first: those of arrows find another place
    const marks = this.out;
    this.out = marked;
    this.drawArrows();
    if (this.down) this.drawAxisDown();
    const clip = `<clipPath id="${view.id}-clip"><rect x="${this.left}" y="${this.top - 20}" ` +
                 `width="${num(this.right - this.left)}" height="${num(this.bottom - this.top + 40)}"/></clipPath>\n`;
    let height = this.bottom + (this.down ? 8 : 56);
    let legend = "";
    if (view.legend) ({ legend, height } = legendRows(this, height + 12, view.width));
    return { height, svg: wrap(view, height, this.heading() + clip + this.out + marks + this.texts + legend) };
  }

  heading() {
    const { title: text, window } = this.view;
    if (!text) return "";
    const whole = window.from <= 0 && window.to >= this.model.end;
    const parts = [
      whole ? "the whole trace" : `${durationText(window.to - window.from)} of the trace, from ${durationText(window.from)} on`,
      ...(this.scale.folded && !this.down ? ["quiet stretches folded"] : []),
      ...(this.view.heartbeats ? [] : ["heartbeats and renewals not shown"])];
    return textAt("title", 16, 28, text) + textAt("pale", 16, 47, parts.join("; "));
  }
}

function wrap({ theme, layout, width, css, label, title: text }, height, inside) {
  return `<svg xmlns="http://www.w3.org/2000/svg" class="diagram ${theme ?? "auto"} ${layout}" ` +
    `width="${width}" height="${num(height)}" viewBox="0 0 ${width} ${num(height)}" role="img" ` +
    `aria-label="${xml(label || text || "diagram")}">\n${css ? `<style>\n${css}</style>\n` : ""}` +
    `<rect class="paper" width="${width}" height="${num(height)}"/>\n${inside}</svg>\n`;
}

// The meaning of the lines and bars that were used, below `top`.
function legendRows({ looks: used, symbols, model }, top, width) {
  const quorum = model?.trace.quorum;
  const middle = sampleWidth / 2;
  const entries = [];
  const seen = new Set();
  for (const look of Object.keys(looks).filter((one) => used.has(one))) {
    const [, name, meaning, weight] = looks[look];
    if (seen.has(name)) continue;
    seen.add(name);
    entries.push([`<g class="m l-${look} ${weight}">${lineAt("s", 0, 0, sampleWidth - 6, 0)}${headAt(sampleWidth, 0, 1, 0)}</g>`, name, meaning]);
  }
  for (const name of Object.keys(bars).filter((one) => symbols.has(one))) {
    const sample = name === "cut" ? lineAt("cut", 0, 0, sampleWidth, 0)
                 : name === "fold" ? '<path class="zigzag" d="M12-8l2 4l-4 4l4 4l-2 4M22-8l2 4l-4 4l4 4l-2 4"/>'
                 : name === "lost" ? `<g class="m">${lineAt("s", 4, 0, 22, 0)}<path class="x" d="M18-4l8 8m-8 0l8-8"/></g>`
                 : rectAt(name, 2, name === "promise" ? -3 : -6, sampleWidth - 4, name === "promise" ? 6 : 12);
    entries.push([sample, ...(quorum === "none" && withoutQuorum[name] || bars[name])]);
  }
  for (const shape of Object.keys(shapes).filter((one) => symbols.has(one))) {
    const [, path, name, known] = shapes[shape];
    const meaning = quorum === "none" && withoutQuorum[shape]?.[1] || known;
    entries.push([`<g class="k ${shape}" transform="translate(${middle} 0)"><path d="${path}"/></g>`, name, meaning]);
  }
  const columns = Math.max(1, Math.floor(width / 385));
  const rows = Math.ceil(entries.length / columns);
  const isNarrow = width < 440;
  const rowPitch = isNarrow ? 31 : 20;
  const second = isNarrow ? `x="${sampleWidth + 8}" dy="12" class="pale small"` : 'dx="3"';
  const legend = entries.map(([sample, name, meaning], i) => {
    const [x, y] = [16 + Math.floor(i / rows) * (width / columns), top + (i % rows) * rowPitch];
    return `<g transform="translate(${num(x)} ${num(y)})">${sample}<text x="${sampleWidth + 8}" y="4">` +
           `<tspan class="strong">${xml(name)}</tspan><tspan ${second}>${xml(meaning)}</tspan></text></g>\n`;
  }).join("");
  return { legend, height: top + rows * rowPitch + 4 };
}

// One legend for several pictures, as wide as they are.
export function drawLegend(pictures, width) {
  const all = (name) => new Set(pictures.flatMap((one) => [...one[name]]));
  const { legend, height } = legendRows({ looks: all("looks"), symbols: all("symbols") }, 16, width);
  return wrap({ layout: "legend", width, label: "legend of the pictures" }, height, legend);
}

// `view`: { window, episodes, title, layout: "across" | "down", scale: "auto" | "linear", heartbeats,
// theme: "auto" | "light" | "dark", width, first: the node whose lane comes first, legend, css: the
// rules of a file that stands alone, label, id }. Answers { svg, width, height, scale, looks, symbols,
// steps: what happens in it, in order, each with { t, text, fields, arrow or mark } }.
export function draw(model, view) {
  const picture = new Picture(model, { id: "diagram", layout: "across", scale: "auto", ...view });
  const { svg, height } = picture.svg();
  const steps = [];
  const add = (t, order, text, record, more) =>
    steps.push({ t, order, text, fields: record ? fieldsOf(record) : [], ...more });
  for (const arrow of picture.arrows) {
    const text = picture.tellArrow(arrow);
    if (arrow.fate !== "unsent") add(arrow.sent, 1, text, arrow.sending, { arrow, end: "sent" });
    const isThere = arrow.fate === "delivered" || arrow.fate === "unsent";
    if (isThere) add(arrow.received, 2, text, arrow.receipt, { arrow, end: "received" });
  }
  for (const mark of picture.marks) add(mark.at, 3, picture.tellMark(mark), mark.record, { mark });
  const inWindow = steps.filter(({ t }) => picture.shows(t)).sort((a, b) => a.t - b.t || a.order - b.order);
  const { scale, looks: used, symbols, down, top, bottom, left, right } = picture;
  return { svg, width: view.width, height, scale, looks: used, symbols, steps: inWindow,
           down, top, bottom, left, right, typicalFlight: median(picture.wish().flights) };
}
