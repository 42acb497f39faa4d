// Objects as YAML. What could be read as another thing, or not be seen at all, is in quotes.

const PLAIN = /^[A-Za-z_/][\w./@%+-]*(?:[ :=][\w./@%+=-]+)*$/;
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null|~)$/i;
/** Controls, marks that turn the direction of a line, and other characters that show nothing. */
const UNSEEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const escapeUnseen = (text) =>
  text.replace(UNSEEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

function quote(text) {
  return escapeUnseen(JSON.stringify(text));
}

function scalar(value) {
  if (typeof value !== "string") return JSON.stringify(value);
  return PLAIN.test(value) && !WORDS.test(value) && !/: |:$/.test(value) ? value : quote(value);
}

/** Return the lines of a text of several lines, with their head; null for a text that is no block. */
function block(text, indent) {
  if (!text.includes("\n") || text.search(UNSEEN) >= 0 || /^[ \n]/.test(text)) return null;
  const kept = text.endsWith("\n\n") ? null : text.endsWith("\n") ? "|" : "|-";
  if (kept === null) return null;
  const lines = text.replace(/\n$/, "").split("\n");
  return [kept, ...lines.map((line) => (line ? indent + line : ""))];
}

function add(lines, head, value, indent) {
  if (value === null || typeof value !== "object") {
    const found = typeof value === "string" ? block(value, `${indent}  `) : null;
    if (found) lines.push(`${head} ${found[0]}`, ...found.slice(1));
    else lines.push(`${head} ${scalar(value)}`);
    return;
  }
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  if (!size) lines.push(`${head} ${Array.isArray(value) ? "[]" : "{}"}`);
  else {
    lines.push(head);
    if (Array.isArray(value)) addItems(lines, value, indent);
    else addMembers(lines, value, `${indent}  `);
  }
}

function addMembers(lines, value, indent) {
  for (const [name, member] of Object.entries(value)) add(lines, `${indent}${scalar(name)}:`, member, indent);
}

function addItems(lines, items, indent) {
  for (const item of items) {
    const begun = lines.length;
    if (item !== null && typeof item === "object" && !Array.isArray(item) && Object.keys(item).length) {
      addMembers(lines, item, `${indent}  `);
      lines[begun] = `${indent}- ${lines[begun].slice(indent.length + 2)}`;
    } else add(lines, `${indent}-`, item, indent);
  }
}

/** Return an object as lines of YAML. */
export function toLines(value) {
  const lines = [];
  addMembers(lines, value, "");
  return lines;
}
