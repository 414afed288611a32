// Where everything of a drawing stands: lanes, instants, messages, and texts that cover no others.
// Time runs across, or down in steps, as on a telephone.
import { shapes } from "./legend.js";
import { isBackground } from "./messages.js";
import { makeScale } from "./scale.js";
import { rectAt, textAt, widthOf } from "./svg_parts.js";
import { durationText } from "./trace.js";

const lineHeight = 12;
const rowHeight = 22;
const near = 5;  // pixels: marks that stand together

export class Layout {
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
    this.zero =
      this.episodes.length > 0 ? Math.max(this.episodes[0].cause, window.from) : window.from;
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
    this.scale =
      makeScale({...this.wish(), left: this.left, right: this.right, mode: this.view.scale });
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
    for (const { at, lines } of this.groups())
      rowOf(at).lines = Math.max(rowOf(at).lines, lines.length, 1);
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
      all.forEach((arrows, i) => {
        for (const arrow of arrows) this.offsets.set(arrow, (i - own) * rowHeight);
      });
      heights.set(at, below + 26 + own * rowHeight + Math.max(lines - 1, 0) * lineHeight);
      below = Math.max(all.length - 1 - own, 0) * rowHeight;
    }
    return heights.set("end", below);
  }

  wish() {
    const { from, to } = this.view.window;
    const read = this.arrows.filter((one) => one.fate === "delivered" && !isBackground(one));
    const instants = [
      ...this.arrows.flatMap((one) => [one.sent, one.received]),
      ...this.marks.filter((one) => this.down || one.shape !== "trust").map((one) => one.at)
    ];
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
    lines.forEach(([css, text], i) => {
      this.texts += textAt(css, x, y + lineHeight * i, text, anchor);
    });
  }

  // ---- From the back to the front.

  when(at) { return durationText(at - this.zero); }

  // What it says, for a tooltip and for those who have it read to them.
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

  placesBeside(x, y, more) {
    if (this.down) {
      const end = x > this.right * 0.62;
      return [
        { x: x + (end ? -11 : 11), y: y + 4 - lineHeight * more, anchor: end ? "end" : "start" }
      ];
    }
    const above = y - 13 - lineHeight * more;
    return [[8, above], [8, y + 20], [-8, above], [-8, y + 20], [8, above - 14], [8, y + 34]].map(
      ([aside, baseline]) => ({ x: x + aside, y: baseline, anchor: aside < 0 ? "end" : "start" }));
  }
}
