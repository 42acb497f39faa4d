// The versions of one object that the server still has: a watch from the oldest version of the history window on.

import { ApiError, follow } from "./api.js";

/** Versions that are kept of an object: the latest ones. */
const MOST = 200;

export class History {
  versions = [];

  /** Call `changed` whenever there are new versions. */
  constructor(changed) {
    this.changed = changed;
  }

  /** Add a version: its event's type, and the object. */
  add(type, object) {
    const version = object.metadata?.resourceVersion ?? "";
    if (this.versions.some((one) => one.version === version)) return;
    this.versions.push({ version, type, object, who: whoOf(object) });
    // The first one was read, and older ones come by the watch.
    this.versions.sort((a, b) => order(a.version, b.version));
    if (this.versions.length > MOST) this.versions.splice(0, this.versions.length - MOST);
  }

  /** Follow an object from its oldest version on, until the signal is aborted. Throw ApiError. */
  async run(path, name, signal) {
    const query = { fieldSelector: `metadata.name=${name}` };
    const take = (events) => {
      for (const { type, object } of events) this.add(type, object);
      if (events.length) this.changed();
    };
    let version = "1";
    for (;;) {
      try {
        await follow(path, query, "application/json", version, take, signal);
        return;
      } catch (error) {
        // `too old resource version: 1 (105)`: a watch may begin at the one in parentheses.
        const oldest = /\((\d+)\)/.exec(error.message)?.[1];
        if (!(error instanceof ApiError) || error.code !== 410 || !oldest || oldest === version) throw error;
        version = oldest;
      }
    }
  }
}

function order(a, b) {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** Return who made a version, and when: the latest entry of its managers. */
function whoOf(object) {
  const entries = (object.metadata?.managedFields ?? []).filter((entry) => entry.time);
  const latest = entries.reduce((found, entry) => (!found || entry.time >= found.time ? entry : found), null);
  return latest ? `${latest.manager}, ${latest.time}` : (object.metadata?.creationTimestamp ?? "");
}
