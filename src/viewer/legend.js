// The looks of marks and bars, and the legend that explains those that were used.
import { looks } from "./messages.js";
import { headAt, lineAt, num, rectAt, wrap, xml } from "./svg_parts.js";

const sampleWidth = 34;

// By the shape of a mark or bar: how weighty it is where several meet, what it looks like, and what
// the legend says of it.
export const shapes = {
  death: [8, "M-7-7L7 7M-7 7L7-7", "the process ends", ""],
  elected: [
    7, "M0-9L2.4-3L8.6-2.8L3.8 1.2L5.3 7.3L0 3.8L-5.3 7.3L-3.8 1.2L-8.6-2.8L-2.4-3Z", "elected",
    "a majority has promised"
  ],
  deposed: [6, "M-6-5H6L0 6Z", "gives up", "and stops acting as the leader first"],
  election: [5, "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0", "starts an election", ""],
  start: [4, "M-5-6L7 0L-5 6Z", "start", "of the process"],
  suspicion: [3, "M0-6L6 0L0 6L-6 0Z", "suspicion", "a peer is not heard any more"],
  other: [3, "M-4-4H4V4H-4Z", "event", "of another kind"],
  follows: [2, "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0", "leader known", "to this node"],
  trust: [1, "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0", "up", "a peer is heard again"],
};
export const bars = {
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

// The meaning of the lines and bars that were used, below `top`.
export function legendRows({ looks: used, symbols, model }, top, width) {
  const quorum = model?.trace.quorum;
  const middle = sampleWidth / 2;
  const entries = [];
  const seen = new Set();
  for (const look of Object.keys(looks).filter((one) => used.has(one))) {
    const [, name, meaning, weight] = looks[look];
    if (seen.has(name)) continue;
    seen.add(name);
    entries.push([
      `<g class="m l-${look} ${weight}">${lineAt("s", 0, 0, sampleWidth - 6, 0)}${
        headAt(sampleWidth, 0, 1, 0)}</g>`,
      name, meaning
    ]);
  }
  for (const name of Object.keys(bars).filter((one) => symbols.has(one))) {
    const sample = name === "cut" ? lineAt("cut", 0, 0, sampleWidth, 0)
      : name === "fold"
      ? '<path class="zigzag" d="M12-8l2 4l-4 4l4 4l-2 4M22-8l2 4l-4 4l4 4l-2 4"/>'
      : name === "lost"
      ? `<g class="m">${lineAt("s", 4, 0, 22, 0)}<path class="x" d="M18-4l8 8m-8 0l8-8"/></g>`
      : rectAt(name, 2, name === "promise" ? -3 : -6, sampleWidth - 4, name === "promise" ? 6 : 12);
    entries.push([sample, ...(quorum === "none" && withoutQuorum[name] || bars[name])]);
  }
  for (const shape of Object.keys(shapes).filter((one) => symbols.has(one))) {
    const [, path, name, known] = shapes[shape];
    const meaning = quorum === "none" && withoutQuorum[shape]?.[1] || known;
    entries.push([
      `<g class="k ${shape}" transform="translate(${middle} 0)"><path d="${path}"/></g>`, name,
      meaning
    ]);
  }
  const columns = Math.max(1, Math.floor(width / 385));
  const rows = Math.ceil(entries.length / columns);
  const isNarrow = width < 440;
  const rowPitch = isNarrow ? 31 : 20;
  const second = isNarrow ? `x="${sampleWidth + 8}" dy="12" class="pale small"` : 'dx="3"';
  const legend = entries.map(([sample, name, meaning], i) => {
    const [x, y] = [16 + Math.floor(i / rows) * (width / columns), top + (i % rows) * rowPitch];
    return `<g transform="translate(${num(x)} ${num(y)})">${sample}<text x="${
             sampleWidth + 8}" y="4">` +
      `<tspan class="strong">${xml(name)}</tspan><tspan ${second}>${
             xml(meaning)}</tspan></text></g>\n`;
  }).join("");
  return { legend, height: top + rows * rowPitch + 4 };
}

// One legend for several pictures, as wide as they are.
export function drawLegend(pictures, width) {
  const all = (name) => new Set(pictures.flatMap((one) => [...one[name]]));
  const { legend, height } =
    legendRows({ looks: all("looks"), symbols: all("symbols") }, 16, width);
  return wrap({ layout: "legend", width, label: "legend of the pictures" }, height, legend);
}
