// A grid of any number of rows, of which only those near the window are in the document.

import { make, setText } from "./dom.js";

const HEIGHT = 28;
const SPARE = 10;
/** Browsers lay out no element of more than some ten million pixels: above, the scroll bar stands for more rows a pixel. */
const MOST_PIXELS = 8_000_000;
/** The width of most characters, and of what is around the text of a cell, in pixels. */
const CHARACTER = 7.8;
const PADDING = 24;
let numbers = 0;

export class Grid {
  /**
   * Take the name of the grid for those who do not see it; `open` is called with the number of a row that is chosen, if
   * rows can be.
   */
  constructor(label, open = undefined) {
    this.id = `grid-${++numbers}`;
    this.open = open;
    this.length = 0;
    this.active = -1;
    this.row = () => ({ cells: [] });
    this.columns = [];
    this.head = make("div", { role: "row", class: "row", "aria-rowindex": 1 });
    this.body = make("div", { role: "rowgroup", class: "body" });
    this.root = make(
      "div",
      { role: "grid", class: "grid", tabindex: 0, "aria-label": label, "aria-rowcount": 1, "aria-readonly": "true" },
      make("div", { role: "rowgroup", class: "head" }, this.head),
      this.body,
    );
    this.pool = [];
    this.frame = 0;
    this.root.addEventListener("scroll", () => this.refresh(), { passive: true });
    this.root.addEventListener("keydown", (event) => this.#key(event));
    this.body.addEventListener("click", (event) => this.#click(event));
    this.resized = new ResizeObserver(() => this.refresh());
    this.resized.observe(this.root);
  }

  /** Forget the observer of a grid that leaves the document. */
  close() {
    this.resized.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** Take the columns: `{name, width, number}`, the width in characters, `number` for figures. */
  setColumns(columns) {
    this.columns = columns;
    this.root.setAttribute("aria-colcount", columns.length);
    const pixels = columns.map(({ width }) => Math.ceil(width * CHARACTER) + PADDING);
    this.root.style.setProperty("--columns", pixels.map((width) => `minmax(${width}px, ${width}fr)`).join(" "));
    this.root.style.setProperty("--width", `${pixels.reduce((sum, width) => sum + width, 0)}px`);
    this.head.replaceChildren(...columns.map(({ name, number }, at) =>
      make("div", { role: "columnheader", class: number ? "cell number" : "cell", "aria-colindex": at + 1 }, name)));
    for (const one of this.pool) one.element.remove();
    this.pool = [];
    this.refresh();
  }

  /**
   * Take the number of rows, and a function that returns one: `{cells, link, mark}`, where `link` is the address of its
   * first cell that is no namespace (`linked`), and `mark` a class of the last one.
   */
  setRows(length, row) {
    this.length = length;
    this.row = row;
    if (this.active >= length) this.active = length - 1;
    this.root.setAttribute("aria-rowcount", length + 1);
    // At once: nobody can scroll to where the body does not reach yet.
    const height = `${Math.min(length * HEIGHT, MOST_PIXELS)}px`;
    if (this.body.style.height !== height) this.body.style.height = height;
    this.refresh();
  }

  /** Lay out the rows near the window in the next frame. */
  refresh() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.#layOut();
    });
  }

  get #window() {
    return Math.max(this.root.clientHeight - HEIGHT, HEIGHT);
  }

  /** Return how many pixels of rows one pixel of the scroll bar stands for. */
  get #scale() {
    const whole = this.length * HEIGHT;
    return whole <= MOST_PIXELS ? 1 : (whole - this.#window) / (MOST_PIXELS - this.#window);
  }

  /** Return the number of the first row in the window. */
  get first() {
    return Math.floor((this.root.scrollTop * this.#scale) / HEIGHT);
  }

  /** Scroll by rows: what was inserted above the window leaves it where it was. */
  shift(rows) {
    if (rows) this.root.scrollTop += (rows * HEIGHT) / this.#scale;
  }

  /** Scroll so that a row is in the window. */
  reveal(at) {
    const scale = this.#scale;
    const top = this.root.scrollTop * scale;
    const wanted = at * HEIGHT;
    if (wanted < top) this.root.scrollTop = wanted / scale;
    else if (wanted + HEIGHT > top + this.#window) this.root.scrollTop = (wanted + HEIGHT - this.#window) / scale;
  }

  #layOut() {
    const scrolled = this.root.scrollTop;
    const exact = scrolled * this.#scale;
    const first = Math.max(Math.floor(exact / HEIGHT) - SPARE, 0);
    const last = Math.min(Math.ceil((exact + this.#window) / HEIGHT) + SPARE, this.length);
    const needed = last - first;
    while (this.pool.length < needed) this.pool.push(this.#element());
    this.pool.forEach((one, at) => {
      if (at >= needed) {
        one.element.hidden = true;
        one.at = -1;
        one.element.removeAttribute("id");
        return;
      }
      const number = first + at;
      this.#fill(one, number, scrolled + number * HEIGHT - exact);
    });
    const active = this.active >= first && this.active < last ? `${this.id}-${this.active}` : "";
    if (active) this.root.setAttribute("aria-activedescendant", active);
    else this.root.removeAttribute("aria-activedescendant");
  }

  #element() {
    const cells = this.columns.map(({ number }, at) =>
      make("div", { role: "gridcell", class: number ? "cell number" : "cell", "aria-colindex": at + 1 }));
    const element = make("div", { role: "row", class: "row" }, ...cells);
    this.body.append(element);
    return { element, cells, at: -1, link: null };
  }

  #fill(one, number, top) {
    const { cells, link, linked = 0, mark = "" } = this.row(number);
    const { element } = one;
    element.hidden = false;
    if (one.at !== number) {
      one.at = number;
      element.id = `${this.id}-${number}`;
      element.setAttribute("aria-rowindex", number + 2);
    }
    element.style.transform = `translateY(${top}px)`;
    element.classList.toggle("active", number === this.active);
    element.setAttribute("aria-selected", number === this.active);
    one.cells.forEach((cell, at) => {
      const text = cells[at] ?? "";
      if (link && at === linked) {
        if (one.link?.parentNode !== cell) {
          one.link = make("a", { tabindex: -1 });
          cell.replaceChildren(one.link);
        }
        if (one.link.getAttribute("href") !== link) one.link.setAttribute("href", link);
        setText(one.link, text);
      } else setText(cell, text);
      if (at === one.cells.length - 1) cell.classList.toggle("slow", mark === "slow");
    });
  }

  #click(event) {
    const found = this.pool.find(({ element }) => element.contains(event.target));
    if (!found || found.at < 0) return;
    this.active = found.at;
    this.refresh();
    if (!event.target.closest("a") && !String(getSelection())) this.open?.(found.at);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(Math.floor(this.#window / HEIGHT) - 1, 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === "Enter" && this.active >= 0) this.open?.(this.active);
    else if (event.key in moves && this.length) {
      this.active = Math.min(Math.max(this.active + moves[event.key], 0), this.length - 1);
      this.reveal(this.active);
      this.refresh();
    } else return;
    event.preventDefault();
  }
}

/** Return columns for rows of texts: each as wide as its longest text among the first ones, within reason. */
export function measure(names, rows, numbered = new Set()) {
  return names.map((name, at) => {
    const longest = rows.slice(0, 200).reduce((most, cells) => Math.max(most, (cells[at] ?? "").length), name.length);
    return { name, width: Math.min(Math.max(longest, 4), 48), number: numbered.has(at) };
  });
}
