"""How the page looks to eyes, to a keyboard and to a screen reader, at each size and colour."""

import itertools

SIZES = {"desktop": (1280, 900, False), "phone": (390, 844, True)}
LOOKS = list(itertools.product(SIZES, ("light", "dark")))

# Nobody is to read these: words of the browser, or of a value that is not there.
RAW = ("Failed to fetch", "NetworkError", "TypeError", "undefined", "NaN", "null", "Invalid Date")

# The faults of the visible page, in words. WCAG 2.1: contrast by relative luminance, at least 4.5.
_FAULTS = """
const faults = [];
const visible = (one) => one.getClientRects().length > 0 &&
                         !one.closest('thead, noscript, [hidden]');
const rgba = (text) => {
  const parts = text.match(/[\\d.]+/g).map(Number);
  return parts.length === 3 ? [...parts, 1] : parts;
};
const luminance = ([r, g, b]) => {
  const part = (value) => {
    const c = value / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
};
const behind = (one) => {
  for (let at = one; at; at = at.parentElement) {
    const color = rgba(getComputedStyle(at).backgroundColor);
    if (color[3] === 1) return color;
  }
  return [255, 255, 255, 1];
};
const contrast = (a, b) => {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
};
const judge = (one, style, text) => {
  const ratio = contrast(rgba(style.color), behind(one));
  if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${text}`);
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const text = texts.currentNode.textContent.trim();
  const one = texts.currentNode.parentElement;
  if (text && visible(one)) judge(one, getComputedStyle(one), text);
}
for (const one of document.querySelectorAll('[data-name]')) {
  const style = getComputedStyle(one, '::before');
  if (style.content !== 'none' && visible(one)) judge(one, style, style.content);
}

const width = document.documentElement.scrollWidth;
if (width > innerWidth) faults.push(`${width} wide on a screen of ${innerWidth}`);
const texted = 'dd, dt, td, tbody th, p, li, h1, h2, figcaption, summary > *:not(h2)';
for (const one of document.querySelectorAll(texted)) {
  if (visible(one) && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
    faults.push(`cut off: ${one.textContent}`);
}
for (const one of document.querySelectorAll('.stacks td, .stacks tbody th, dd, summary > *')) {
  const box = one.getBoundingClientRect();
  if (visible(one) && (box.left < 0 || box.right > innerWidth))
    faults.push(`beside the screen: ${one.textContent}`);
}

// Epochs are the numbers of so many digits.
const again = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (again.nextNode()) {
  for (const found of again.currentNode.textContent.matchAll(/\\d{10,}/g)) {
    const range = document.createRange();
    range.setStart(again.currentNode, found.index);
    range.setEnd(again.currentNode, found.index + found[0].length);
    if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1)
      faults.push(`${found[0]} breaks`);
  }
}
for (const image of document.images)
  if (image.complete && image.naturalWidth === 0) faults.push(`no picture: ${image.src}`);
return faults;
"""

NAMED = {"link", "image", "img", "region", "heading", "table", "button"}


def look(browser, size, colours):
    width, height, mobile = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": colours}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def in_zone(browser, name):
    browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": name})


def faults(browser):
    """The faults of the page as it stands, in words."""
    found = browser.execute_script(_FAULTS)
    text = browser.execute_script("return document.body.innerText")
    found += [f"raw: {word}" for word in RAW if word in text]
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    for node in tree:
        role = node.get("role", {}).get("value")
        if role in NAMED and not node.get("ignored") and not node["name"]["value"].strip():
            found.append(f"a {role} without a name")
    rows = sum(node.get("role", {}).get("value") == "row" for node in tree)
    tables = browser.execute_script("return document.querySelectorAll('tr').length")
    if rows < tables:
        found.append(f"{rows} rows are told of {tables}")
    return found
