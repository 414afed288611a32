// A command for node.js: draws traces, or the trace in a page of `bullring-sim diagram`, as one SVG
// file on stdout. scripts/pictures makes the documents' pictures by it.
//
//   node src/viewer/svg.js PAGE.html | TRACE… [--title TEXT] [--heartbeats] [--whole] > FILE.svg
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { draw } from "./draw.js";
import { chooseWindow, findEpisodes, headline } from "./episodes.js";
import { makeModel } from "./model.js";
import { embedded, windowOf } from "./page_data.js";
import { readTraces } from "./trace.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options:
    { title: { type: "string" }, heartbeats: { type: "boolean" }, whole: { type: "boolean" } },
});
const texts = positionals.map((name) => ({ name, text: readFileSync(name, "utf8") }));
const data = /<script type="([^"]*)" class="trace-data">([^]*?)<\/script>/g;
const isPage = texts.length === 1 && texts[0].text.startsWith("<!doctype html>");
const { files, view } = isPage
  ? embedded([...texts[0].text.matchAll(data)].map((one) => one.slice(1)))
  : { files: texts, view: {} };
const trace = readTraces(files);
for (const note of trace.notes) process.stderr.write(`${note}\n`);
const model = makeModel(trace);
const episodes = findEpisodes(model);
const window = values.whole ? { from: 0, to: model.end }
                            : windowOf(view, model) ?? chooseWindow(model, episodes);
const css = readFileSync(new URL("draw.css", import.meta.url), "utf8");
process.stdout.write('<?xml version="1.0" encoding="UTF-8"?>\n' + draw(model, {
  window, episodes, css, legend: true, theme: view.theme ?? "auto", scale: view.scale ?? "auto",
  title: values.title ?? (view.title || headline(episodes, window)),
  heartbeats: values.heartbeats ?? view.heartbeats, width: 1200,
}).svg);
