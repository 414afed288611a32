// Finds the traces and the wishes that `bullring-sim diagram` has put into a page, and takes the
// wishes to mean a part of a trace.

// `scripts`: the page's, as [type, text]. Answers { files, view }.
export function embedded(scripts) {
  const of = (type) => scripts.filter(([one]) => one === type).map(([, text]) => text);
  const view = JSON.parse(of("application/json")[0] ?? "{}");
  const files =
    of("application/jsonl").map((text, i) => ({ name: view.names?.[i] ?? `trace ${i + 1}`, text }));
  return { files, view };
}

// The wished part of the trace, or null where none is wished or it lies behind the trace.
export function windowOf({ from, to }, { end }) {
  if ((from === undefined && to === undefined) || from > end) return null;
  const within = (at) => Math.min(Math.max(at, 0), end);
  return { from: within(from ?? 0), to: within(to ?? end) };
}
