// One object: as YAML, and what changed between two of its versions.

import { getJson } from "./api.js";
import { compare } from "./diff.js";
import { make, setText } from "./dom.js";
import { History } from "./history.js";
import { linkTo, pathOf } from "./resources.js";
import { toLines } from "./yaml.js";

const MASK = "(hidden)";
const APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const CLASSES = { "+": "plus", "-": "minus", "@": "place" };

export class ObjectView {
  constructor(resource, namespace, name) {
    this.resource = resource;
    this.namespace = namespace;
    this.name = name;
    this.controller = new AbortController();
    this.history = new History(() => this.#changed());
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.state = make("span", { class: "count" });
    const change = () => this.#show();
    this.version = make("select", { change: () => { this.pinned = this.version.selectedIndex > 0; this.#show(); } });
    this.base = make("select", { change });
    this.managedBox = make("input", { type: "checkbox", change });
    this.secretBox = make("input", { type: "checkbox", change });
    this.text = make("pre", { tabindex: 0, role: "region", "aria-label": "Object" });
    const secrets = resource.fullName === "secrets" ? [make("label", {}, this.secretBox, " values")] : [];
    this.elements = [
      make("h1", { tabindex: -1 }, make("a", { href: linkTo(resource.fullName) }, resource.fullName),
        ...(namespace ? [" / ", make("a", { href: linkTo(resource.fullName, namespace) }, namespace)] : []), ` / ${name}`),
      make("div", { class: "bar" }, make("label", {}, "Version ", this.version),
        make("label", {}, "Differences from ", this.base), make("label", {}, this.managedBox, " managed fields"), ...secrets,
        this.state),
      this.error,
      this.text,
    ];
    this.title = `${name} · ${resource.fullName}`;
    this.pinned = false;
  }

  start() {
    this.#run();
  }

  stop() {
    this.controller.abort();
  }

  focus() {
    this.text.focus({ preventScroll: true });
  }

  async #run() {
    const { resource, namespace, name } = this;
    try {
      try {
        this.history.add("", await getJson(pathOf(resource, namespace, name), undefined, this.controller.signal));
        this.#changed();
      } catch (error) {
        // One that is gone may still have versions.
        if (error.code !== 404) throw error;
        this.#fail(error);
      }
      if (resource.watched) await this.history.run(pathOf(resource, namespace), name, this.controller.signal);
    } catch (error) {
      if (!this.controller.signal.aborted) this.#fail(error);
    }
  }

  #fail(error) {
    setText(this.error, String(error));
    this.error.hidden = false;
  }

  /** Offer the versions, the latest first; what is chosen stays, but the latest one gives way to a later one. */
  #changed() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      const versions = this.history.versions.toReversed();
      const [chosen, base] = [this.pinned ? this.version.value : undefined, this.base.value];
      const option = ({ version, type, who }) =>
        make("option", { value: version }, [version, type.toLowerCase(), who].filter(Boolean).join(" · "));
      this.version.replaceChildren(...versions.map(option));
      this.base.replaceChildren(
        make("option", { value: "" }, "nothing: the whole object"), make("option", { value: "before" }, "the one before"),
        ...versions.map(option));
      if (chosen !== undefined) this.version.value = chosen;
      if (base) this.base.value = base;
      const last = versions[0];
      setText(this.state, `${versions.length} version${versions.length === 1 ? "" : "s"}${last?.type === "DELETED" ? ", deleted" : ""}`);
      this.#show();
    });
  }

  #lines(at) {
    const object = structuredClone(this.history.versions[at].object);
    if (!this.managedBox.checked) delete object.metadata?.managedFields;
    if (this.resource.fullName === "secrets" && !this.secretBox.checked) {
      for (const part of ["data", "stringData"]) {
        for (const name of Object.keys(object[part] ?? {})) object[part][name] = MASK;
      }
      if (object.metadata?.annotations?.[APPLIED]) object.metadata.annotations[APPLIED] = MASK;
    }
    return toLines(object);
  }

  #show() {
    const { versions } = this.history;
    const at = versions.findIndex(({ version }) => version === this.version.value);
    if (at < 0) return;
    const wanted = this.base.value;
    const before = wanted === "before" ? at - 1 : versions.findIndex(({ version }) => version === wanted);
    if (!wanted) {
      setText(this.text, this.#lines(at).join("\n"));
      return;
    }
    if (before < 0) {
      setText(this.text, "There is no version before this one in the history of the server.");
      return;
    }
    const lines = compare(this.#lines(before), this.#lines(at));
    if (!lines.length) setText(this.text, "Both versions are equal.");
    else this.text.replaceChildren(...lines.map(({ sign, text }) =>
      make("span", { class: CLASSES[sign] ?? "" }, sign === "@" ? "@@" : `${sign} ${text}`)));
  }
}
