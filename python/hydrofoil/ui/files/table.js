// The objects of a resource as a table: the server's own columns, in pages, then kept up to date by a watch.

import { ApiError, follow, getJson, withQuery } from "./api.js";
import { formatAge, parseAge } from "./age.js";
import { breathe, count, make, say, setText } from "./dom.js";
import { Grid, measure } from "./grid.js";
import { linkTo, pathOf } from "./resources.js";
import { Rows, place } from "./rows.js";
import { searchField } from "./search.js";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
/** The first page is there soon; the others are few. */
const FIRST_PAGE = 300;
const PAGE = 1000;
const FLUSH_MILLISECONDS = 100;

export class TableView {
  /** Take a resource, and the namespace that is looked at: empty for all. */
  constructor(resource, namespace) {
    this.resource = resource;
    this.namespace = namespace;
    this.rows = new Rows();
    this.pending = new Map();
    this.ended = new AbortController();
    this.searching = false;
    this.timer = 0;
    this.grid = new Grid(resource.fullName, (at) => { location.hash = this.#link(this.rows.found[at]); });
    this.counted = make("span", { class: "count" });
    this.wrong = make("p", { class: "wrong", role: "alert", hidden: true });
    this.wide = make("input", { type: "checkbox", change: () => this.#setColumns() });
    const search = searchField(`Search ${resource.fullName}`, (text) => this.#search(text), this.grid.root);
    this.elements = [
      make("h1", { tabindex: -1 }, resource.fullName),
      make("div", { class: "bar" }, search, ...this.#place(), make("label", {}, this.wide, " all columns"), this.counted),
      this.wrong,
      this.grid.root,
    ];
    this.title = resource.fullName;
  }

  /** Begin to load; what goes wrong is shown. */
  start() {
    this.#run();
    this.ages = setInterval(() => this.grid.refresh(), 1000);
  }

  /** End all requests. */
  stop() {
    this.ended.abort();
    clearInterval(this.ages);
    clearTimeout(this.timer);
    this.grid.close();
  }

  focus() {
    this.grid.root.focus({ preventScroll: true });
  }

  #place() {
    if (!this.resource.namespaced) return [];
    const go = (event) => { location.hash = linkTo(this.resource.fullName, event.target.value.trim()); };
    const field = make("input", { type: "text", value: this.namespace, size: 16, autocomplete: "off", change: go });
    return [make("label", {}, "Namespace ", field)];
  }

  async #run() {
    for (;;) {
      try {
        const version = await this.#load();
        setText(this.wrong, "");
        this.wrong.hidden = true;
        if (!this.resource.watched) return;
        const path = pathOf(this.resource, this.namespace);
        const take = (events) => this.#take(events);
        await follow(path, { includeObject: "Metadata" }, TABLE, version, take, this.ended.signal);
        return;
      } catch (error) {
        if (this.ended.signal.aborted) return;
        // What has expired is listed again: the rows stay until then.
        if (error instanceof ApiError && error.code === 410) continue;
        setText(this.wrong, String(error));
        this.wrong.hidden = false;
        return;
      }
    }
  }

  /** List all pages, and return the version of the list. Throw ApiError. */
  async #load() {
    const before = this.rows.all;
    const seen = new Set();
    let token = "";
    let version = "";
    let limit = FIRST_PAGE;
    do {
      const query = { limit, includeObject: "Metadata", continue: token };
      const path = withQuery(pathOf(this.resource, this.namespace), query);
      const page = await getJson(path, TABLE, this.ended.signal);
      if (!this.definitions) this.#define(page);
      const now = performance.now();
      for (const row of page.rows ?? []) {
        const found = this.#row(row, now);
        seen.add(found.key);
        this.pending.set(found.key, found);
        await breathe();
      }
      token = page.metadata?.continue ?? "";
      version = page.metadata?.resourceVersion ?? "";
      this.loading = Boolean(token);
      limit = PAGE;
      if (seen.size <= FIRST_PAGE) this.#flush();
      else this.#later();
    } while (token);
    // After a list that begins anew: what is gone meanwhile.
    for (const { key } of before) {
      if (!seen.has(key)) this.pending.set(key, null);
      await breathe();
    }
    this.#later();
    return version;
  }

  #define(page) {
    this.definitions = page.columnDefinitions ?? [];
    this.named = Math.max(this.definitions.findIndex(({ name }) => name === "Name"), 0);
    this.sample = (page.rows ?? []).slice(0, 200).map((row) => this.#row(row, 0));
    this.#setColumns();
  }

  #setColumns() {
    const places = (this.definitions ?? []).map((_, at) => at)
      .filter((at) => this.wide.checked || !this.definitions[at].priority);
    this.places = places;
    this.spaced = this.resource.namespaced && !this.namespace;
    this.age = places.findIndex((at) => this.definitions[at].name === "Age");
    const names = places.map((at) => this.definitions[at].name);
    const rows = (this.sample ?? []).map((row) => this.#cells(row));
    const numbers = new Set(places.flatMap((at, shown) =>
      ["integer", "number"].includes(this.definitions[at].type) ? [shown + (this.spaced ? 1 : 0)] : []));
    this.grid.setColumns(measure(this.spaced ? ["Namespace", ...names] : names, rows, numbers));
  }

  /** Return a row of the server as one of this table. */
  #row(row, now) {
    const { name = "", namespace = "" } = row.object?.metadata ?? {};
    const cells = (row.cells ?? []).map((cell) =>
      cell === null || cell === undefined ? "" : typeof cell === "object" ? JSON.stringify(cell) : String(cell));
    if (this.spaced ?? (this.resource.namespaced && !this.namespace)) cells.push(namespace);
    return { key: namespace ? `${namespace}/${name}` : name, namespace, name, cells, at: now };
  }

  #cells(row) {
    const cells = this.places.map((at) => row.cells[at] ?? "");
    if (this.age >= 0 && row.at) {
      const seconds = parseAge(cells[this.age]);
      if (!Number.isNaN(seconds)) cells[this.age] = formatAge(seconds + (performance.now() - row.at) / 1000);
    }
    return this.spaced ? [row.namespace, ...cells] : cells;
  }

  #link(row) {
    return linkTo(this.resource.fullName, row.namespace, row.name);
  }

  #take(events) {
    const now = performance.now();
    for (const { type, object } of events) {
      for (const row of object.rows ?? []) {
        const found = this.#row(row, now);
        this.pending.set(found.key, type === "DELETED" ? null : found);
      }
    }
    this.#later();
  }

  #later() {
    if (!this.timer && !this.ended.signal.aborted) this.timer = setTimeout(() => this.#flush(), FLUSH_MILLISECONDS);
  }

  /** Apply the changes of the last moments together; the window and the active row stay where they are. */
  #flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.searching) {
      this.#later();
      return;
    }
    const { grid, rows } = this;
    const top = grid.root.scrollTop > 0 ? rows.found[grid.first]?.key : undefined;
    const before = grid.first;
    const active = rows.found[grid.active]?.key;
    rows.apply(this.pending);
    this.pending.clear();
    if (active !== undefined) grid.active = Math.min(place(rows.found, active), rows.found.length - 1);
    this.#show();
    if (top !== undefined) grid.shift(place(rows.found, top) - before);
  }

  #show() {
    const { all, found } = this.rows;
    const linked = Math.max(this.places.indexOf(this.named), 0) + (this.spaced ? 1 : 0);
    this.grid.setRows(found.length, (at) => ({ cells: this.#cells(found[at]), link: this.#link(found[at]), linked }));
    const total = `${count(all.length)}${this.loading ? " so far" : ""}`;
    setText(this.counted, found.length === all.length ? total : `${count(found.length)} of ${total}`);
  }

  async #search(text) {
    this.searching = true;
    const key = this.rows.found[this.grid.active]?.key;
    if (!(await this.rows.search(text))) return;
    this.searching = false;
    const at = key === undefined ? -1 : place(this.rows.found, key);
    this.grid.active = this.rows.found[at]?.key === key ? at : -1;
    this.grid.root.scrollTop = 0;
    this.#show();
    say(`${count(this.rows.found.length)} found`);
  }
}
