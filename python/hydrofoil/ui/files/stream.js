// What happens: the events of up to three resources as they come.

import { follow, getJson, withQuery } from "./api.js";
import { count, make, rate, setText } from "./dom.js";
import { Grid } from "./grid.js";
import { discover, linkTo, pathOf } from "./resources.js";
import { searchField } from "./search.js";

/** A browser has six connections to a server, for all its pages: some are left for these. */
const MOST = 3;
const KEPT = 5000;
const USUAL = ["pods", "events", "deployments.apps"];
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const COLUMNS = [
  { name: "Time", width: 12 }, { name: "Event", width: 8 }, { name: "Resource", width: 22 },
  { name: "Namespace", width: 16 }, { name: "Name", width: 36 }, { name: "Version", width: 18 },
];

export class StreamView {
  constructor() {
    this.title = "Stream";
    this.events = [];
    this.buffer = [];
    this.watches = new Map();
    this.words = [];
    this.grid = new Grid("Events");
    this.grid.setColumns(COLUMNS);
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.counter = make("span", { class: "count" });
    this.pauseBox = make("input", { type: "checkbox" });
    this.choice = make("fieldset", {}, make("legend", {}, `Up to ${MOST} resources`));
    const search = searchField("Search events", (text) => {
      this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
      this.#filter();
    }, this.grid.root);
    this.elements = [
      make("h1", { tabindex: -1 }, "Stream"),
      make("div", { class: "bar" }, search, make("label", {}, this.pauseBox, " pause"), this.counter),
      make("details", {}, make("summary", {}, "Resources"), this.choice),
      this.error,
      this.grid.root,
    ];
    this.arrivals = [];
  }

  start() {
    this.timer = setInterval(() => this.#flush(), 100);
    this.#choose();
  }

  stop() {
    this.stopped = true;
    clearInterval(this.timer);
    for (const one of this.watches.values()) one.abort();
    this.grid.close();
  }

  focus() {
    this.grid.root.focus({ preventScroll: true });
  }

  /** Begin with the resources that are written most at present. */
  async #choose() {
    try {
      const resources = (await discover()).filter(({ watched }) => watched);
      const busy = await this.#busiest();
      const names = [...busy, ...USUAL].filter((name) => resources.some(({ fullName }) => fullName === name));
      const first = new Set([...new Set(names)].slice(0, MOST));
      this.boxes = resources.map((resource) => {
        const box = make("input", { type: "checkbox", change: () => this.#toggle(resource, box.checked) });
        this.choice.append(make("label", {}, box, ` ${resource.fullName}`));
        box.checked = first.has(resource.fullName);
        if (box.checked) this.#toggle(resource, true);
        return box;
      });
      this.#bound();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #busiest() {
    try {
      const { resources } = await getJson("/ui/stats");
      return resources.filter((one) => one.writes_per_second > 0)
        .sort((a, b) => b.writes_per_second - a.writes_per_second)
        .map(({ group, resource }) => (group ? `${resource}.${group}` : resource));
    } catch {
      return [];
    }
  }

  #bound() {
    const full = this.boxes.filter((box) => box.checked).length >= MOST;
    for (const box of this.boxes) box.disabled = full && !box.checked;
  }

  #toggle(resource, on) {
    if (this.boxes) this.#bound();
    this.watches.get(resource.fullName)?.abort();
    this.watches.delete(resource.fullName);
    if (on && !this.stopped) {
      const controller = new AbortController();
      this.watches.set(resource.fullName, controller);
      this.#follow(resource, controller.signal);
    }
  }

  async #follow(resource, signal) {
    while (!signal.aborted) {
      try {
        const { metadata } = await getJson(withQuery(pathOf(resource), { limit: 1 }), LIST, signal);
        const take = (events) => this.#take(resource, events);
        await follow(pathOf(resource), {}, METADATA, metadata.resourceVersion, take, signal);
      } catch (error) {
        // After what has expired it goes on with the present.
        if (signal.aborted || error.code === 410) continue;
        this.#fail(error, resource);
        return;
      }
    }
  }

  #fail(error, resource) {
    if (this.stopped) return;
    setText(this.error, resource ? `${resource.fullName}: ${error}` : String(error));
    this.error.hidden = false;
  }

  #take(resource, events) {
    const time = new Date().toTimeString().slice(0, 8);
    this.arrivals.push([performance.now(), events.length]);
    if (this.pauseBox.checked) return;
    for (const { type, object } of events) {
      const { namespace = "", name = "", resourceVersion = "" } = object.metadata ?? {};
      this.buffer.push({ resource: resource.fullName, namespace, name,
        cells: [time, type, resource.fullName, namespace, name, resourceVersion] });
    }
  }

  #hasWords(event) {
    event.text ??= event.cells.join("\n").toLowerCase();
    return this.words.every((word) => event.text.includes(word));
  }

  #flush() {
    const now = performance.now();
    this.arrivals = this.arrivals.filter(([at]) => at > now - 3000);
    const lately = this.arrivals.reduce((sum, [, number]) => sum + number, 0) / 3;
    setText(this.counter, `${rate(lately)} a second, ${count(this.events.length)} kept`);
    if (this.buffer.length) {
      this.events.push(...this.buffer.splice(0));
      if (this.events.length > KEPT) this.events.splice(0, this.events.length - KEPT);
      this.#filter();
    }
  }

  /** Show the events that the search has found, the latest one first. */
  #filter() {
    const matches = this.words.length ? this.events.filter((event) => this.#hasWords(event)) : this.events;
    const last = matches.length - 1;
    this.grid.open = (at) => { location.hash = this.#link(matches[last - at]); };
    this.grid.setRows(matches.length, (at) => {
      const event = matches[last - at];
      return event ? { cells: event.cells, link: this.#link(event), linked: 4 } : { cells: [] };
    });
  }

  #link({ resource, namespace, name }) {
    return linkTo(resource, namespace, name);
  }
}
