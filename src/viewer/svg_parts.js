// The elements that a drawing consists of, as SVG text. Must escape whatever a trace says.

const bad = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const xml = (text) =>
  String(text).replace(bad, "\ufffd").replace(/[&<>"]/g, (one) => entities[one]);
export const num = (value) => Number(value.toFixed(1));
export const widthOf = (text, size = 11) => text.length * size * 0.57;
export const title = (text) => `<title>${xml(text)}</title>`;

export function textAt(css, x, y, text, anchor = "start") {
  return `<text class="${css}" x="${num(x)}" y="${num(y)}"` +
         `${anchor === "start" ? "" : ` text-anchor="${anchor}"`}>${xml(text)}</text>\n`;
}

export const rectAt = (css, x, y, width, height, inside = "") =>
  `<rect class="${css}" x="${num(x)}" y="${num(y)}" width="${num(Math.max(width, 0))}" ` +
  `height="${num(Math.max(height, 0))}" rx="2"${inside ? `>${inside}</rect>` : "/>"}\n`;

export const lineAt = (css, x1, y1, x2, y2) =>
  `<line class="${css}" x1="${num(x1)}" y1="${num(y1)}" x2="${num(x2)}" y2="${num(y2)}"/>\n`;

export function headAt(x, y, dx, dy) {
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const point = (back, side) =>
    `${num(x - ux * back - uy * side)},${num(y - uy * back + ux * side)}`;
  return `<polygon class="h" points="${point(0, 0)} ${point(8, 3)} ${point(8, -3)}"/>`;
}

export function wrap({ theme, layout, width, css, label, title: text }, height, inside) {
  return `<svg xmlns="http://www.w3.org/2000/svg" class="diagram ${theme ?? "auto"} ${layout}" ` +
    `width="${width}" height="${num(height)}" viewBox="0 0 ${width} ${num(height)}" role="img" ` +
    `aria-label="${xml(label || text || "diagram")}">\n${css ? `<style>\n${css}</style>\n` : ""}` +
    `<rect class="paper" width="${width}" height="${num(height)}"/>\n${inside}</svg>\n`;
}
