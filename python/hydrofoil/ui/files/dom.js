// Elements of the document. Whatever comes from a server is a text node or the value of an attribute that cannot run:
// nothing here, or anywhere else on the page, parses markup.

/** Return a new element with attributes (`true` for one without a value) and children, of which texts stay texts. */
export function make(tag, attributes = {}, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") found.addEventListener(name, value);
    else if (value !== false && value !== undefined) found.setAttribute(name, value === true ? "" : String(value));
  }
  found.append(...children);
  return found;
}

/** Set the text of an element, if it is another one: what is the same is not laid out again. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Tell those who do not see the page what has changed. */
export function say(text) {
  setText(document.getElementById("said"), text);
}

const NUMBERS = new Intl.NumberFormat("en-US");

/** Return a number with its thousands apart. */
export function count(number) {
  return NUMBERS.format(number);
}

/** Return a number of bytes in the unit that suits it. */
export function bytes(number) {
  if (number < 1024) return `${number} B`;
  const at = Math.min(Math.floor(Math.log2(number) / 10), 4);
  return `${(number / 1024 ** at).toFixed(1)} ${["B", "KiB", "MiB", "GiB", "TiB"][at]}`;
}

/** Return a number of writes a second. */
export function rate(number) {
  return number === 0 ? "0" : number < 10 ? number.toFixed(1) : count(Math.round(number));
}

/** Return a duration in seconds as milliseconds or seconds. */
export function duration(seconds) {
  return seconds < 1 ? `${(seconds * 1000).toFixed(seconds < 0.01 ? 2 : 0)} ms` : `${seconds.toFixed(1)} s`;
}

const SLICE = 8;
let begun = 0;

/** Wait for the next turn of the page if this one has had its milliseconds: call it between pieces of long work. */
export async function breathe() {
  if (performance.now() - begun < SLICE) return;
  await new Promise((resolve) => setTimeout(resolve));
  begun = performance.now();
}
