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
    this.controller = new AbortController();
    this.searching = false;
    /** How often a list has expired since the last whole one. */
    this.expirations = 0;
    this.timer = 0;
    this.grid = new Grid(resource.fullName, (at) => { location.hash = this.#link(this.rows.matches[at]); });
    this.counter = make("span", { class: "count" });
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.wideBox = make("input", { type: "checkbox", change: () => this.#setColumns() });
    const search = searchField(`Search ${resource.fullName}`, (text) => this.#search(text), this.grid.root);
    this.elements = [
      make("h1", { tabindex: -1 }, resource.fullName),
      make("div", { class: "bar" }, search, ...this.#namespaceField(), make("label", {}, this.wideBox, " all columns"), this.counter),
      this.error,
      this.grid.root,
    ];
    this.title = resource.fullName;
  }

  /** Begin to load; what goes wrong is shown. */
  start() {
    this.#run();
    this.ageTimer = setInterval(() => this.grid.refresh(), 1000);
  }

  /** End all requests. */
  stop() {
    this.controller.abort();
    clearInterval(this.ageTimer);
    clearTimeout(this.timer);
    this.grid.close();
  }

  focus() {
    this.grid.root.focus({ preventScroll: true });
  }

  #namespaceField() {
    if (!this.resource.namespaced) return [];
    const go = (event) => { location.hash = linkTo(this.resource.fullName, event.target.value.trim()); };
    const field = make("input", { type: "text", value: this.namespace, size: 16, autocomplete: "off", change: go });
    return [make("label", {}, "Namespace ", field)];
  }

  async #run() {
    for (;;) {
      try {
        const version = await this.#load();
        this.expirations = 0;
        setText(this.error, "");
        this.error.hidden = true;
        if (!this.resource.watched) return;
        const path = pathOf(this.resource, this.namespace);
        const take = (events) => this.#take(events);
        await follow(path, { includeObject: "Metadata" }, TABLE, version, take, this.controller.signal);
        return;
      } catch (error) {
        if (this.controller.signal.aborted) return;
        // What has expired is listed again: the rows stay until then.
        if (error instanceof ApiError && error.code === 410) {
          this.expirations++;
          continue;
        }
        setText(this.error, String(error));
        this.error.hidden = false;
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
      // A list whose pages expire again and again is asked for in one piece.
      const query = { limit: this.expirations < 4 ? limit : undefined, includeObject: "Metadata", continue: token };
      const path = withQuery(pathOf(this.resource, this.namespace), query);
      const page = await getJson(path, TABLE, this.controller.signal);
      if (!this.definitions) this.#define(page);
      const now = performance.now();
      for (const row of page.rows ?? []) {
        const entry = this.#row(row, now);
        seen.add(entry.key);
        this.pending.set(entry.key, entry);
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
    this.nameColumn = Math.max(this.definitions.findIndex(({ name }) => name === "Name"), 0);
    this.sample = (page.rows ?? []).slice(0, 200).map((row) => this.#row(row, 0));
    this.#setColumns();
  }

  #setColumns() {
    const places = (this.definitions ?? []).map((_, at) => at)
      .filter((at) => this.wideBox.checked || !this.definitions[at].priority);
    this.columns = places;
    this.showsNamespace = this.resource.namespaced && !this.namespace;
    this.ageColumn = places.findIndex((at) => this.definitions[at].name === "Age");
    const names = places.map((at) => this.definitions[at].name);
    const rows = (this.sample ?? []).map((row) => this.#cells(row));
    const numbers = new Set(places.flatMap((at, shown) =>
      ["integer", "number"].includes(this.definitions[at].type) ? [shown + (this.showsNamespace ? 1 : 0)] : []));
    this.grid.setColumns(measure(this.showsNamespace ? ["Namespace", ...names] : names, rows, numbers));
  }

  /** Return a row of the server as one of this table. */
  #row(row, now) {
    const { name = "", namespace = "" } = row.object?.metadata ?? {};
    const cells = (row.cells ?? []).map((cell) =>
      cell === null || cell === undefined ? "" : typeof cell === "object" ? JSON.stringify(cell) : String(cell));
    if (this.showsNamespace ?? (this.resource.namespaced && !this.namespace)) cells.push(namespace);
    return { key: namespace ? `${namespace}/${name}` : name, namespace, name, cells, at: now };
  }

  #cells(row) {
    const cells = this.columns.map((at) => row.cells[at] ?? "");
    if (this.ageColumn >= 0 && row.at) {
      const seconds = parseAge(cells[this.ageColumn]);
      if (!Number.isNaN(seconds)) cells[this.ageColumn] = formatAge(seconds + (performance.now() - row.at) / 1000);
    }
    return this.showsNamespace ? [row.namespace, ...cells] : cells;
  }

  #link(row) {
    return linkTo(this.resource.fullName, row.namespace, row.name);
  }

  #take(events) {
    const now = performance.now();
    for (const { type, object } of events) {
      for (const row of object.rows ?? []) {
        const entry = this.#row(row, now);
        this.pending.set(entry.key, type === "DELETED" ? null : entry);
      }
    }
    this.#later();
  }

  #later() {
    if (!this.timer && !this.controller.signal.aborted) this.timer = setTimeout(() => this.#flush(), FLUSH_MILLISECONDS);
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
    const top = grid.root.scrollTop > 0 ? rows.matches[grid.first]?.key : undefined;
    const before = grid.first;
    const active = rows.matches[grid.active]?.key;
    rows.apply(this.pending);
    this.pending.clear();
    if (active !== undefined) grid.active = Math.min(place(rows.matches, active), rows.matches.length - 1);
    this.#show();
    if (top !== undefined) grid.shift(place(rows.matches, top) - before);
  }

  #show() {
    const { all, matches } = this.rows;
    const linked = Math.max(this.columns.indexOf(this.nameColumn), 0) + (this.showsNamespace ? 1 : 0);
    this.grid.setRows(matches.length, (at) => ({ cells: this.#cells(matches[at]), link: this.#link(matches[at]), linked }));
    const total = `${count(all.length)}${this.loading ? " so far" : ""}`;
    setText(this.counter, matches.length === all.length ? total : `${count(matches.length)} of ${total}`);
  }

  async #search(text) {
    this.searching = true;
    const key = this.rows.matches[this.grid.active]?.key;
    if (!(await this.rows.search(text))) return;
    this.searching = false;
    const at = key === undefined ? -1 : place(this.rows.matches, key);
    this.grid.active = this.rows.matches[at]?.key === key ? at : -1;
    this.grid.root.scrollTop = 0;
    this.#show();
    say(`${count(this.rows.matches.length)} found`);
  }
}
