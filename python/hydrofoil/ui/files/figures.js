// Figures of the server, asked for every two seconds: resources, watches, requests, and what a test does to it.

import { ApiError, getJson, pause, withQuery } from "./api.js";
import { bytes, count, duration, make, rate, setText } from "./dom.js";
import { formatAge } from "./age.js";
import { Grid, measure } from "./grid.js";
import { discover, linkTo, pathOf } from "./resources.js";
import { searchField } from "./search.js";

const STATS = "/ui/stats";
export const CONTROLS = "/hydrofoil/v1";
const MILLISECONDS = 2000;

/** A grid of figures that are asked for again and again. A subclass has `read`, which returns `{columns, rows, facts}`. */
class FiguresView {
  constructor(title, numbers = [], more = []) {
    this.title = title;
    this.numbers = new Set(numbers);
    this.controller = new AbortController();
    this.rows = [];
    this.words = [];
    this.grid = new Grid(title, (at) => {
      if (this.matches[at].link) location.hash = this.matches[at].link;
    });
    this.facts = make("dl");
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    const search = searchField(`Search ${title.toLowerCase()}`, (text) => {
      this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
      this.#filter();
    }, this.grid.root);
    this.elements = [
      make("h1", { tabindex: -1 }, title), make("div", { class: "bar" }, search, ...more), this.facts, this.error,
      this.grid.root,
    ];
  }

  start() {
    this.#run();
  }

  stop() {
    this.controller.abort();
    this.grid.close();
  }

  focus() {
    this.grid.root.focus({ preventScroll: true });
  }

  async #run() {
    const { signal } = this.controller;
    while (!signal.aborted) {
      try {
        if (document.visibilityState === "visible" || !this.rows.length) this.#show(await this.read(signal));
        if (!this.partial) this.error.hidden = true;
      } catch (error) {
        if (signal.aborted) return;
        this.fail(error);
      }
      await pause(MILLISECONDS, signal);
    }
  }

  fail(error) {
    setText(this.error, String(error));
    this.error.hidden = false;
  }

  #show({ columns, rows, facts = [] }) {
    const names = columns.join("\n");
    if (names !== this.header || (rows.length > 0) !== this.hasWidths) {
      this.header = names;
      this.hasWidths = rows.length > 0;
      this.grid.setColumns(measure(columns, rows.map(({ cells }) => cells), this.numbers));
    }
    this.rows = rows;
    this.#filter();
    const known = [...this.facts.querySelectorAll("dd")];
    if (known.length === facts.length) facts.forEach(([, text], at) => setText(known[at], text));
    else this.facts.replaceChildren(...facts.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text))));
  }

  #filter() {
    const hasWords = ({ cells }) => {
      const text = cells.join("\n").toLowerCase();
      return this.words.every((word) => text.includes(word));
    };
    this.matches = this.words.length ? this.rows.filter(hasWords) : this.rows;
    const { matches } = this;
    this.grid.setRows(matches.length, (at) => matches[at] ?? { cells: [] });
  }
}

const fullName = ({ group, resource }) => (group ? `${resource}.${group}` : resource);

/** The resources, with their objects, memory and writes; without the right to the figures, with their objects alone. */
export class ResourcesView extends FiguresView {
  constructor() {
    super("Resources", [2, 3, 4]);
  }

  async read(signal) {
    this.resources ??= await discover();
    let stats = null;
    try {
      stats = await getJson(STATS, undefined, signal);
      this.partial = false;
    } catch (error) {
      if (!(error instanceof ApiError) || ![403, 404].includes(error.code)) throw error;
      this.partial = true;
      // Not every server has figures; a right that is missing is told.
      if (error.code === 403) this.fail(error);
    }
    const known = stats ? new Map(stats.resources.map((one) => [fullName(one), one])) : await this.#countByLists(signal);
    if ([...known.keys()].some((name) => !this.resources.some((one) => one.fullName === name))) {
      this.resources = await discover();
    }
    const rows = this.resources.map((resource) => {
      const { objects = 0, bytes: size, writes_per_second: writes } = known.get(resource.fullName) ?? {};
      const cells = [
        resource.fullName, resource.kind, typeof objects === "number" ? count(objects) : objects,
        size === undefined ? "" : bytes(size), writes === undefined ? "" : rate(writes),
      ];
      return { cells, link: linkTo(resource.fullName), objects: Number(objects) || 0 };
    });
    rows.sort((a, b) => Number(b.objects > 0) - Number(a.objects > 0) || (a.cells[0] < b.cells[0] ? -1 : 1));
    const all = [...known.values()];
    const sum = (name) => all.reduce((total, one) => total + (Number(one[name]) || 0), 0);
    const facts = [["objects", count(sum("objects"))]];
    if (stats) facts.push(["memory", bytes(sum("bytes"))], ["writes a second", rate(sum("writes_per_second"))]);
    return { columns: ["Resource", "Kind", "Objects", "Memory", "Writes/s"], rows, facts };
  }

  /** Count by lists of one object each; what may not be listed has the code in the place of its number. */
  async #countByLists(signal) {
    if (this.counts && performance.now() - this.countTime < 30_000) return this.counts;
    this.counts = new Map();
    for (const resource of this.resources) {
      try {
        const list = await getJson(withQuery(pathOf(resource), { limit: 1 }), undefined, signal);
        this.counts.set(resource.fullName, { objects: list.items.length + (list.metadata.remainingItemCount ?? 0) });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        this.counts.set(resource.fullName, { objects: String(error.code) });
      }
    }
    this.countTime = performance.now();
    return this.counts;
  }
}

/** The open watches, those with slow readers first. */
export class WatchesView extends FiguresView {
  constructor() {
    super("Watches", [5, 6, 7]);
  }

  async read(signal) {
    const { watches } = await getJson(STATS, undefined, signal);
    const rows = watches.map((one) => ({
      cells: [
        fullName(one), [one.namespace, one.name].filter(Boolean).join("/"), one.user, one.agent, formatAge(one.seconds),
        count(one.events), bytes(one.bytes), count(one.lag), one.slow ? "slow" : "keeps up",
      ],
      mark: one.slow ? "slow" : "",
    }));
    const slow = watches.filter((one) => one.slow).length;
    const columns = ["Resource", "Where", "User", "Agent", "Open for", "Events", "Sent", "Versions behind", "Reader"];
    return { columns, rows, facts: [["open watches", count(watches.length)], ["slow readers", count(slow)]] };
  }
}

/** The requests in flight, and the latencies of each kind. */
export class RequestsView extends FiguresView {
  constructor() {
    super("Requests", [2, 3, 4, 5, 6]);
  }

  async read(signal) {
    const stats = await getJson(STATS, undefined, signal);
    const rows = stats.latencies.map((one) => ({
      cells: [
        one.verb, (one.resource ? fullName(one) : "(no resource)") + (one.subresource ? `/${one.subresource}` : ""),
        count(one.requests), count(one.errors), duration(one.mean), duration(one.p50), duration(one.p99),
      ],
    }));
    const facts = [["in flight", count(stats.requests_in_flight)], ["waiting", count(stats.requests_waiting ?? 0)]];
    return { columns: ["Verb", "Resource", "Requests", "Errors", "Mean", "Half within", "99 % within"], rows, facts };
  }
}

/** The faults and the clock of a server under test. */
export class TestsView extends FiguresView {
  constructor() {
    super("Tests", [2, 3]);
  }

  async read(signal) {
    const [{ items }, clock] = await Promise.all(
      ["faults", "clock"].map((name) => getJson(`${CONTROLS}/${name}`, undefined, signal)));
    const rows = items.map((one) => ({ cells: [one.id, one.action, count(one.seen), count(one.hits), one.text] }));
    const facts = [["clock", clock.now], ["", clock.frozen ? "stands still" : "runs"], ["faults", count(items.length)]];
    return { columns: ["Id", "Fault", "Seen", "Hits", "What it does"], rows, facts };
  }
}
