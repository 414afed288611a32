// Draws a part of a model as SVG text, the same in a browser and in a file; draw.css has its looks.
// Must set no style of its own: the page's policy forbids it.
import { Layout } from "./layout.js";
import { bars, legendRows, shapes } from "./legend.js";
import { looks } from "./messages.js";
import { median } from "./scale.js";
import { headAt, lineAt, num, textAt, title, widthOf, wrap } from "./svg_parts.js";
import { durationText, fieldsOf } from "./trace.js";

const withEpoch = ["coordinator", "ctoken", "announce", "leader", "textbook"];

class Picture extends Layout {
  drawBands() {
    const whole = { at: this.down ? (this.left + this.right) / 2 : (this.top + this.bottom) / 2 };
    const half = this.down ? (this.right - this.left) / 2 : (this.bottom - this.top) / 2;
    for (const { lost, begin, end, winner } of this.episodes) {
      const parts = [
        ["nobody", lost, begin, "no leader", "pale"],
        ["elects", begin, end, winner ? "election" : "no winner", "strong"]
      ];
      for (const [css, from, to, word, text] of parts) {
        if (to <= from || !(this.shows(from) || this.shows(to))) continue;
        this.symbols.add(css);
        this.out += this.bar(css, from, to, whole, half);
        const [[x1, y1], [x2]] = [this.place(from, whole), this.place(to, whole)];
        const told = `${word} ${durationText(to - from)}`;
        if (this.down) this.captions.push([told, y1]);
        else
          this.put(
            [[text, told]],
            [8, 24].map((up) => ({ x: (x1 + x2) / 2, y: this.top - up, anchor: "middle" })));
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
      this.put(
        [[`halo ${isCut ? "wrong" : "right"}`, text]],
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
    const where =
      this.episodes.length > 0 && this.episodes[0].why && zero === this.episodes[0].cause
      ? `${this.episodes[0].why}, `
      : "";
    this.texts += textAt("pale", left, bottom + 43,
                         `${scale.unit(zero)}; 0: ${where}${durationText(zero)} into the trace`);
  }

  // The time of each step, where it is another one than that before.
  drawAxisDown() {
    for (const [told, y] of this.captions)
      this.put(
        [["pale small", told]],
        [12, 25].flatMap(
          (dy) => [{ x: this.right - 4, y: y + dy, anchor: "end" }, { x: 62, y: y + dy }]),
        { size: 10, mustBe: false });
    let said = "";
    for (const { from, to, left, right, folded, step } of this.scale.stretches) {
      if (folded && step)
        this.texts +=
          textAt("pale small", 4, (left + right) / 2, `${durationText(to - from)} later`);
      const text = durationText(to - this.zero);
      if (step && text !== said) this.texts += textAt("pale small", 54, right + 4, text, "end");
      said = text;
    }
  }

  drawLanes() {
    const { from, to } = this.view.window;
    for (const lane of this.lanes) {
      const dead =
        lane.absences.filter((one) => one.kind === "dead" && one.to > from && one.from < to);
      let at = from;
      const line = (css, until) => {
        if (until > at)
          this.out += lineAt(css, ...this.place(at, lane), ...this.place(until, lane));
        at = Math.max(at, until);
      };
      for (const one of dead) {
        line("lane", one.from);
        line("gone", Math.min(one.to, to));
      }
      line("lane", to);
      if (this.down)
        this.out += lineAt(
          this.model.absence(lane, to)?.kind === "dead" ? "gone" : "lane", ...this.place(to, lane),
          lane.at, this.bottom - 6);
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
        this.put(
          [["", text]], [{ x: x1 + 14, y: y1 + 4 }, { x: x2 - 6, y: y2 + 4, anchor: "end" }]);
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
        add(
          standing ? "candidate" : "stepping", lane, one, 6,
          `${name}: ${bars[standing ? "candidate" : "stepping"].join(", ")}`);
        say(lane, one, [standing ? "candidate" : "stepping down"]);
      }
      for (const one of lane.leases) {
        const epoch = this.model.epochName(one.epoch);
        if (one.rest > one.to)
          add("ghost", lane, { from: one.to, to: one.rest }, 9, "the rest of its lease");
        add(
          "lease", lane, one, 9,
          `${name} leads in epoch ${one.epoch} from ${this.when(one.from)}` +
            (one.open ? " on" : ` to ${this.when(one.to)}`));
        say(lane, one, [`leads in epoch ${epoch}`, epoch]);
      }
    }
  }

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
      this.out += `<g class="m l-${look} ${looks[look][3]} ${fate}" data-a="${
                    arrow.index}">` +
        title(this.tellArrow(arrow)) + lineAt("hit", x1, y1, x2, y2) + lineAt("s", x1, y1, x2, y2) +
        `${end}</g>\n`;
      const name = looks[look][0];
      if (!name) continue;
      const epoch = (arrow.sending ?? arrow.receipt)?.epoch ?? "0";
      const told =
        name + (withEpoch.includes(look) && epoch !== "0" ? ` ${this.model.epochName(epoch)}` : "");
      const once = `${arrow.sent} ${arrow.from.place} ${told}`;
      const parts = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74];
      const seen = x2 > this.right ? (this.right - x1) / (x2 - x1) : 1;
      const places = parts.map((part) => ({
                                 x: x1 + (x2 - x1) * seen * part,
                                 anchor: "middle",
                                 y: y1 + (y2 - y1) * seen * part + (this.down ? -4 : 4)
                               }));
      if (!this.down)
        places.push(...places.map((one) => ({...one, x: one.x + 5, anchor: "start" })));
      if (!(this.down && said.has(once)))
        this.put([[`halo small l-${look}`, told]], places, { size: 10, mustBe: !said.has(once) });
      said.add(once);
    }
    this.out += "</g>\n";
  }

  // The marks of one lane that stand at nearly the same place, and what is said of them: one line
  // for each thing; several peers with the same fate share one.
  drawMarks() {
    for (const { lane, at, marks, chief, lines } of this.groups()) {
      const [x, y] = this.place(at, lane);
      this.symbols.add(chief.shape);
      const tip = marks.map((mark) => this.tellMark(mark)).join("\n");
      this.out += `<g class="k ${chief.shape}" data-k="${
                      [chief, ...marks].map((one) => one.index).join(" ")}" ` +
        `transform="translate(${num(x)} ${num(y)})">${title(tip)}<path d="${
                    shapes[chief.shape][1]}"/></g>\n`;
      const styles = { death: "wrong strong", elected: "strong" };
      const told = lines.map((text) =>
        [`halo ${styles[marks.find(({ label }) => label === text)?.shape] ?? ""}`, text]);
      if (told.length > 0) this.put(told, this.placesBeside(x, y, told.length - 1));
    }
  }

  // Of as many more lines than one.
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
      `width="${num(this.right - this.left)}" height="${
                   num(this.bottom - this.top + 40)}"/></clipPath>\n`;
    let height = this.bottom + (this.down ? 8 : 56);
    let legend = "";
    if (view.legend) ({ legend, height } = legendRows(this, height + 12, view.width));
    return {
      height,
      svg: wrap(view, height, this.heading() + clip + this.out + marks + this.texts + legend)
    };
  }

  heading() {
    const { title: text, window } = this.view;
    if (!text) return "";
    const whole = window.from <= 0 && window.to >= this.model.end;
    const parts = [
      whole ? "the whole trace"
            : `${durationText(window.to - window.from)} of the trace, from ${
                durationText(window.from)} on`,
      ...(this.scale.folded && !this.down ? ["quiet stretches folded"] : []),
      ...(this.view.heartbeats ? [] : ["heartbeats and renewals not shown"])
    ];
    return textAt("title", 16, 28, text) + textAt("pale", 16, 47, parts.join("; "));
  }
}

// `view`: { window, episodes, title, layout: "across" | "down", scale: "auto" | "linear",
// heartbeats, theme: "auto" | "light" | "dark", width, first: the node whose lane comes first,
// legend, css: the rules of a file that stands alone, label, id }. Answers { svg, width, height,
// scale, looks, symbols, steps: what happens in it, in order, each with { t, text, fields, arrow or
// mark } }.
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
  const inWindow =
    steps.filter(({ t }) => picture.shows(t)).sort((a, b) => a.t - b.t || a.order - b.order);
  const { scale, looks: used, symbols, down, top, bottom, left, right } = picture;
  return { svg, width: view.width, height, scale, looks: used, symbols, steps: inWindow,
           down, top, bottom, left, right, typicalFlight: median(picture.wish().flights) };
}
