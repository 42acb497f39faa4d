// The rows of a table, in the order of the server: by namespace and name. A hundred thousand of them change a thousand
// times a second: changes are collected by key, and both lists are made anew in one pass for all of them.

import { breathe } from "./dom.js";

/** Return a sorted list without some rows, and with others, which are sorted as well. */
export function merge(rows, added, removed) {
  if (!added.length && !removed.size) return rows;
  const found = [];
  let at = 0;
  for (const row of rows) {
    while (at < added.length && added[at].key < row.key) found.push(added[at++]);
    if (!removed.has(row)) found.push(row);
  }
  while (at < added.length) found.push(added[at++]);
  return found;
}

/** Return the place of a key in sorted rows, or that of the next one. */
export function place(rows, key) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** All rows, and those of them that a search has found. */
export class Rows {
  all = [];
  matches = [];
  #byKey = new Map();
  #words = [];
  #search = 0;

  /** Remove all rows; the search stays. */
  clear() {
    this.#search++;
    this.all = [];
    this.matches = [];
    this.#byKey.clear();
  }

  #hasWords(row) {
    row.text ??= row.cells.join("\n").toLowerCase();
    return this.#words.every((word) => row.text.includes(word));
  }

  /**
   * Take changes, by key: a row, or null for one that is gone. A row is changed in place, so that its place in both lists
   * stays.
   */
  apply(changes) {
    const added = [];
    const removed = new Set();
    const entering = [];
    const leaving = new Set();
    for (const [key, row] of changes) {
      let old = this.#byKey.get(key);
      if (row === null) {
        if (!old) continue;
        this.#byKey.delete(key);
        removed.add(old);
        if (old.matching) leaving.add(old);
        continue;
      }
      const before = old?.matching ?? false;
      if (old) Object.assign(old, row, { text: undefined });
      else {
        old = row;
        this.#byKey.set(key, row);
        added.push(row);
      }
      old.matching = this.#hasWords(old);
      if (old.matching && !before) entering.push(old);
      else if (!old.matching && before) leaving.add(old);
    }
    const order = (a, b) => (a.key < b.key ? -1 : 1);
    this.all = merge(this.all, added.sort(order), removed);
    // Without a search both are one list.
    this.matches = this.#words.length ? merge(this.matches, entering.sort(order), leaving) : this.all;
  }

  /** Return the row of a key; undefined without one. */
  get(key) {
    return this.#byKey.get(key);
  }

  /** Find the rows that have all words of a text; return whether no later search has replaced this one.
   *  No change may be applied meanwhile. */
  async search(text) {
    const own = ++this.#search;
    this.#words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = this.all;
    const found = this.#words.length ? [] : rows;
    for (let at = 0; at < rows.length && found !== rows; at++) {
      if (at % 500 === 0) {
        await breathe();
        if (own !== this.#search) return false;
      }
      const row = rows[at];
      row.matching = this.#hasWords(row);
      if (row.matching) found.push(row);
    }
    this.matches = found;
    return true;
  }
}
