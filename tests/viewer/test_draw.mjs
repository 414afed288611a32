// Drawing: everything that happens is there, in a picture that is well-formed whatever a trace
// says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { draw } from "../../src/viewer/draw.js";
import { drawLegend } from "../../src/viewer/legend.js";
import { makeModel } from "../../src/viewer/model.js";
import { readTraces } from "../../src/viewer/trace.js";
import { Lines, drawn, failover } from "./lines.mjs";

const texts = (svg) => [...svg.matchAll(/<(?:text|tspan)[^>]*>([^<]+)</g)].map(([, text]) => text);
const tips = (svg) => [...svg.matchAll(/<title>([^<]*)</g)].map(([, text]) => text);

// The first fault of a text as XML, or nothing.
function fault(xml) {
  const open = [];
  const rest = xml.replace(
    /<([/]?)([a-zA-Z]+)((?:\s+[-a-zA-Z0-9]+="[^"<]*")*)\s*([/]?)>/g,
    (_, close, name, __, empty) => {
      if (close && open.pop() !== name) open.push(`</${name}>`);
      if (!close && !empty) open.push(name);
      return "";
    });
  const stray = /[<>]|&(?!(amp|lt|gt|quot);)|[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.exec(rest);
  return stray ? `stray ${JSON.stringify(stray[0])}` : open.length > 0 ? `open: ${open}` : "";
}

test("the look for faults finds some", () => {
  for (const bad
         of ["<a><b></a></b>", "<a>", "<a>&x;</a>", "<a>\u0001</a>", "<a b=c></a>", "<a>></a>"])
    assert.notEqual(fault(bad), "");
  assert.equal(fault('<a b="c">d &amp; e<f/></a>'), "");
});

for (const layout of ["across", "down"]) {
  test(`lanes, bars, arrows and marks of a failover, ${layout}`, () => {
    const { svg } = drawn(
      failover().model(), { layout, width: layout === "down" ? 360 : 1200, title: "A title" });
    assert.equal(fault(svg), "");
    const said = texts(svg);
    const lanes = layout === "down" ? ["1", "2", "3"] : ["node 1", "node 2", "node 3"];
    for (const text of
           [...lanes, "A title", "COORDINATOR 8", "GRANT", "I lead 8", "dies", "elected (2 of 3)",
            "follows 2"])
      assert.ok(said.includes(text), `${text}: ${said}`);
    for (const css of ["lease", "ghost", "candidate", "promise", "elects", "x"])
      assert.match(svg, new RegExp(`class="${css}"`));
    assert.ok(tips(svg).includes(
      "COORDINATOR from node 2 to node 1, epoch 8: sent at 500 µs, there after 300 µs"));
    assert.ok(tips(svg).includes(
      "COORDINATOR from node 2 to node 3, epoch 8: sent at 500 µs, never arrives"));
    assert.ok(tips(svg).some((tip) => tip.startsWith("node 2 leads in epoch 8 from 1 ms on")));
  });
}

test("a legend explains what is drawn and nothing else, of one picture or of several", () => {
  const one = drawn(failover().model());
  const legend = texts(one.svg);
  for (const name of ["COORDINATOR", "GRANT", "FIN", "lease", "promise", "lost"])
    assert.ok(legend.includes(name));
  for (const name of ["HB", "TOKEN", "folded", "renewals"]) assert.ok(!legend.includes(name));
  const other = drawn(new Lines().message(0, 1, 3, 2, "TOKEN").model());
  const both = texts(drawLegend([one, other], 360));
  assert.ok(both.includes("TOKEN") && both.includes("GRANT"));
  assert.ok(!texts(drawn(failover().model(), { legend: false }).svg).includes("promise"));
});

test("heartbeats and renewals are drawn when they are wished", () => {
  const model = failover().model();
  const window = { from: 0, to: model.end };
  const arrows =
    (heartbeats) => [...drawn(model, { window, heartbeats }).svg.matchAll(/data-a=/g)].length;
  assert.equal(arrows(true) - arrows(false), 3);
});

test("no arrow goes back, and time goes on from step to step", () => {
  const { svg, steps, scale } = drawn(failover({ simulated: false, skew: { 2: 90_000 } }).model());
  assert.doesNotMatch(svg, /after −/);
  assert.ok(steps.length > 10);
  for (let i = 1; i < steps.length; ++i) assert.ok(steps[i].t >= steps[i - 1].t);
  for (const { t } of steps) assert.ok(Number.isFinite(scale.x(t)));
  assert.ok(steps.some(
    ({ fields }) => fields.some(([name, text]) => name === "lease" && text === "300 ms")));
});

test("of one node alone the messages at one instant stand below each other", () => {
  const lines = failover();
  lines.lines = lines.lines.filter((line) => JSON.parse(line).node === 1);
  const { svg } = drawn(lines.model(), { layout: "down", width: 360, first: 1, legend: false });
  const heights = [...svg.matchAll(/<line class="s" x1="\S+" y1="(\S+)"/g)].map(([, y]) => y);
  assert.ok(heights.length > 3);
  assert.equal(new Set(heights).size, heights.length);
  assert.ok(texts(svg).includes("this node"));
  const leader = failover();
  leader.lines = leader.lines.filter((line) => JSON.parse(line).node === 2);
  assert.deepEqual(leader.model().arrows.map(({ look, fate }) => `${look} ${fate}`), [
    "coordinator open", "coordinator open", "grant unsent", "announce open", "extended unsent",
    "renewal open", "renewal unsent"
  ]);
});

test("what a user or a peer wrote can't break the picture", () => {
  const bad = '</title><script>"&\u0001\ud800]]>';
  const lines = failover()
                  .event(100_600, 1, bad, { reason: bad })
                  .event(100_700, 2, "deposed", { reason: bad, epoch: 8 })
                  .message(100_700, 1, 100_900, 2, bad, { text: bad });
  for (const layout of ["across", "down"]) {
    const { svg, steps } = drawn(lines.model(), { title: bad, label: bad, layout });
    assert.equal(fault(svg), "");
    assert.doesNotMatch(svg, /<script/);
    assert.ok(steps.some(({ fields }) => fields.some(([, text]) => text === bad)));
  }
});

test("a single line, and a trace of all kinds of lines, make a picture", () => {
  assert.equal(fault(drawn(new Lines().event(0, 1, "crash").model()).svg), "");
  const kinds = [
    "ELECTION", "OK", "DECLINE", "LEADER", "TOKEN", "TACK", "CTOKEN", "NACK", "RESIGN", "REFUSED",
    "HELLO", "STRANGE"
  ];
  const lines = failover();
  kinds.forEach(
    (kind, i) => lines.message(101_500 + 10 * i, 1, 101_700 + 20 * i, 2, kind, { epoch: 8 }));
  for (const kind of ["power_off", "suspend", "resume", "disk", "cut", "heal", "stop", "deposed"])
    lines.event(101_800, 1, kind, { peer: 2, epoch: 8 });
  const model = lines.model();
  for (const scale of ["auto", "linear"]) {
    const { svg } = drawn(model, { scale, window: { from: 0, to: model.end }, heartbeats: true });
    assert.equal(fault(svg), "");
    assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
  }
});

test(
  "lines that were cut, doubled or turned into something else make a picture or none, no error",
  () => {
    let seed = 11;
    const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
    const whole = failover({ simulated: false }).file().text;
    const bits = [
      '"', "{", "}", "0", "-1", "null", "\n", "[]", "event", "1e99", "\\u0000", '"node":3,',
      "crash", "CTOKEN", "99999999999999999999"
    ];
    for (let round = 0; round < 400; ++round) {
      let text = whole;
      for (let change = 0; change <= random(12); ++change) {
        const [at, length] = [random(text.length), random(60)];
        text = text.slice(0, at) + bits[random(bits.length)] + text.slice(at + length);
      }
      const model = makeModel(readTraces([{ name: "a", text }]));
      if (model.trace.records.length === 0) continue;
      const { svg } = drawn(model, {
        layout: round % 2 ? "down" : "across",
        window: { from: 0, to: model.end },
        heartbeats: true
      });
      assert.equal(fault(svg), "", `round ${round}`);
      assert.doesNotMatch(svg, /NaN|Infinity/, `round ${round}`);
      for (const lane of model.lanes) model.knowledge(lane, model.end / 2);
    }
  });

test("each look and shape that is drawn has a rule", () => {
  const css = readFileSync(new URL("../../src/viewer/draw.css", import.meta.url), "utf8");
  const { svg } = draw(
    failover().model(), { window: { from: 0, to: 2e8 }, episodes: [], width: 900, legend: true });
  const used = [...svg.matchAll(/<(?:rect|line|path) class="([a-z]+)"/g)].map(([, name]) => name);
  for (const name of new Set(used))
    assert.ok(css.includes(`.${name} `) || css.includes(`.${name},`), name);
});
