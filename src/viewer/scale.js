// Says where an instant stands on the paper. Time runs evenly, but a stretch in which nothing
// happens may be folded: an election takes a millisecond and the silence before it half a second,
// and both must be seen. A list of steps gives every instant a row of its own instead.

const foldWidth = 46;
const foldWidthWithMarks = 110;
const flightWidthWanted = 34;
const flightWidthEnough = 14;
const foldsMax = 8;
const tickGap = 84;
const longWait = 20e6;  // between two steps: worth a word
const waitHeight = 24;

export function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

// The stretches without any instant, longest first.
function gapsOf({ from, to, instants }) {
  const all = [from, ...instants.filter((at) => at > from && at < to), to].sort((a, b) => a - b);
  return all.slice(1).map((at, i) => ({ from: all[i], to: at }))
    .filter((gap) => gap.to > gap.from)
    .sort((a, b) => (b.to - b.from) - (a.to - a.from));
}

// As few of the longest gaps as make the messages readable, in the order of time.
function chooseFolds(wish) {
  const { from, to, marks, mode } = wish;
  const flight = median(wish.flights);
  if (mode === "linear" || flight <= 0) return [];
  const folds = [];
  let open = to - from;
  let width = wish.right - wish.left;
  if (flight * width / open >= flightWidthEnough) return [];
  for (const gap of gapsOf(wish)) {
    if (folds.length === foldsMax || flight * width / open >= flightWidthWanted) break;
    const length = gap.to - gap.from;
    // The room at the edges is there for a purpose.
    if ((gap.from === from || gap.to === to) && length < 12 * flight) continue;
    const margin = Math.min(length / 8, flight);
    const fold = { from: gap.from + margin, to: gap.to - margin, width: foldWidth };
    if (marks.some((mark) => fold.from <= mark && mark <= fold.to)) fold.width = foldWidthWithMarks;
    if ((fold.to - fold.from) * width / open < fold.width * 1.5 || width < fold.width * 3) continue;
    folds.push(fold);
    open -= fold.to - fold.from;
    width -= fold.width;
  }
  return folds.sort((a, b) => a.from - b.from);
}

function foldedStretches(wish) {
  const folds = chooseFolds(wish);
  const folded = folds.reduce((sum, fold) => sum + fold.to - fold.from, 0);
  const taken = folds.reduce((sum, fold) => sum + fold.width, 0);
  const perNs = (wish.right - wish.left - taken) / Math.max(wish.to - wish.from - folded, 1);
  const stretches = [];
  let [at, x] = [wish.from, wish.left];
  const add = (to, width, isFold) => {
    if (to > at) stretches.push({ from: at, to, left: x, right: x + width, folded: isFold });
    [at, x] = [to, x + width];
  };
  for (const fold of folds) {
    add(fold.from, (fold.from - at) * perNs, false);
    add(fold.to, fold.width, true);
  }
  add(wish.to, (wish.to - at) * perNs, false);
  return stretches;
}

// One stretch from step to step. `heightOf`: the room that is needed before an instant.
function stepStretches({ from, to, left, instants, heightOf }) {
  const all = [...new Set(instants.filter((at) => at >= from && at <= to))].sort((a, b) => a - b);
  const stretches = [];
  let [at, x] = [from, left];
  for (const step of all) {
    const long = step - at >= longWait;
    const next = x + heightOf(step) + (long ? waitHeight : 0);
    stretches.push({ from: at, to: step, left: x, right: next, folded: long, step: true });
    [at, x] = [step, next];
  }
  if (to > at)
    stretches.push({ from: at, to, left: x, right: x + 16, folded: to - at >= longWait });
  return stretches;
}

// `wish`: { from, to, left, right, mode: "auto" | "linear" | "steps", instants at which something
// happens, marks that must be seen but may stand in a fold, flights: how long messages take that
// are to be read, heightOf }.
export function makeScale(wish) {
  const whole = { ...wish, to: Math.max(wish.to, wish.from + 1) };
  const stretches = wish.mode === "steps" ? stepStretches(whole) : foldedStretches(whole);
  const last = stretches[stretches.length - 1];
  const along = (value, [a, b], [c, d]) => (b === a ? d : c + (value - a) * (d - c) / (b - a));
  // A step of no length, at the very beginning, is passed at once.
  const at = (t) =>
    stretches.find((one) => t < one.to || (t === one.to && one.from === one.to)) ?? last;
  return {
    stretches, end: last.right, folded: stretches.some((one) => one.folded),
    x: (t) => { const one = at(t); return along(t, [one.from, one.to], [one.left, one.right]); },
    t: (x) => {
      const one = stretches.find((stretch) => x < stretch.right) ?? last;
      return along(x, [one.left, one.right], [one.from, one.to]);
    },
    ticks: (zero) => ticksOf(stretches, zero),
    unit: (zero) => unitOf(stretches, zero),
  };
}

function unitOf(stretches, zero) {
  const ends = [stretches[0].from, stretches[stretches.length - 1].to];
  return Math.max(...ends.map((end) => Math.abs(end - zero))) >= 10e9 ? "s" : "ms";
}

// The smallest 1, 2 or 5 times a power of ten that leaves room for the texts.
function tickStep(nsPerPixel) {
  const wanted = Math.max(nsPerPixel * tickGap, 1);
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * ([1, 2, 5, 10].find((factor) => power * factor >= wanted) ?? 10);
}

// In milliseconds or seconds from `zero`; none in folds.
function ticksOf(stretches, zero) {
  const unit = unitOf(stretches, zero) === "s" ? 1e9 : 1e6;
  const ticks = [];
  for (const { from, to, left, right, folded } of stretches) {
    if (folded) continue;
    const step = tickStep((to - from) / Math.max(right - left, 1));
    const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
    const add = (at, digits) => {
      const x = left + (at - from) * (right - left) / (to - from);
      if (ticks.length > 0 && x - ticks[ticks.length - 1].x < tickGap * 0.6) return;
      ticks.push(
        { x, text: (((at - zero) / unit).toFixed(digits)).replace(/^-(0(\.0*)?)$/, "$1") });
    };
    const before = ticks.length;
    for (let at = zero + Math.ceil((from - zero) / step) * step; at <= to; at += step)
      add(at, decimals);
    if (ticks.length === before) add((from + to) / 2, Math.max(decimals, 1));
  }
  return ticks;
}
