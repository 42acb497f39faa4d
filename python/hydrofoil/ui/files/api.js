// Requests to the API, with the token that the page was given.

import { breathe } from "./dom.js";

let token = "";
let asking = null;
let ask = () => Promise.reject(new ApiError(401, "a token is needed"));

/** An answer that is none of the wanted ones. */
export class ApiError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }

  toString() {
    return this.code ? `${this.code} ${TITLES[this.code] ?? ""}: ${this.message}` : this.message;
  }
}

const TITLES = {
  401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 406: "Not Acceptable", 410: "Gone", 429: "Too Many Requests",
  500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
};

/** Take the function that asks for a token: it gets the reason, and returns a promise of the token. */
export function onLogin(login) {
  ask = login;
}

/** Use a token from now on. It is in this variable, and nowhere else. */
export function setToken(text) {
  token = text;
}

async function failure(response) {
  let message = response.statusText;
  try {
    const text = await response.text();
    message = text.startsWith("{") ? (JSON.parse(text).message ?? message) : text.trim() || message;
  } catch {
    // The code says enough.
  }
  return new ApiError(response.status, message);
}

/** Return the answer to a GET, which is 200. Throw ApiError. */
export async function get(path, accept = "application/json", signal = undefined) {
  for (;;) {
    const used = token;
    const headers = { Accept: accept };
    if (used) headers.Authorization = `Bearer ${used}`;
    let response;
    try {
      response = await fetch(path, { headers, signal, cache: "no-cache", redirect: "error" });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError(0, "no answer from the server");
    }
    if (response.status === 200) return response;
    const error = await failure(response);
    // A server that knows callers without credentials refuses them by 403.
    const unknown = error.code === 401 || (error.code === 403 && !used && error.message.includes("system:anonymous"));
    if (!unknown) throw error;
    if (used === token) {
      asking ??= ask(error).finally(() => { asking = null; });
      token = await asking;
    }
  }
}

/** Return the JSON of a path. Throw ApiError. */
export async function getJson(path, accept, signal) {
  return (await get(path, accept, signal)).json();
}

/** Return the JSON of a path; null for whatever is wrong. It asks for no token. */
export async function getQuietly(path) {
  try {
    const response = await fetch(path, { headers: token ? { Authorization: `Bearer ${token}` } : {}, redirect: "error" });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/** Return a path with parameters; those without a value are left out. */
export function withQuery(path, parameters) {
  // For a browser a server would indent what it sends, which doubles it.
  const all = Object.entries({ pretty: "false", ...parameters });
  return `${path}?${new URLSearchParams(all.filter(([, value]) => value !== undefined && value !== ""))}`;
}

/**
 * Yield the events of one watch in arrays, as many as have arrived, until the server ends it. Throw ApiError: 410 if the
 * version has expired.
 */
export async function* watch(path, accept, signal) {
  const reader = (await get(path, accept, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      let events = [];
      for (const line of lines) {
        const event = JSON.parse(line);
        if (event.type === "ERROR") {
          if (events.length) yield events;
          throw new ApiError(event.object?.code ?? 500, event.object?.message ?? "the watch failed");
        }
        events.push(event);
        if (events.length >= 100) {
          yield events;
          events = [];
          await breathe();
        }
      }
      if (events.length) yield events;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

const hidden = () => document.visibilityState === "hidden";

/** Wait until somebody can see the page. */
async function visible() {
  while (hidden()) {
    await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  }
}

/** Wait, or end at once with an aborted signal. */
export function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

/**
 * Give the events after a version to `take`, in arrays, until the signal is aborted: a watch that ends goes on where it
 * was. A page that nobody sees holds no connection, since a browser has six for all pages of a server. Throw ApiError:
 * 410 if the version has expired.
 */
export async function follow(path, query, accept, version, take, signal) {
  let at = version;
  while (!signal.aborted) {
    await visible();
    if (signal.aborted) return;
    const one = new AbortController();
    const stop = () => one.abort();
    const look = () => hidden() && one.abort();
    signal.addEventListener("abort", stop, { once: true });
    document.addEventListener("visibilitychange", look);
    try {
      const target = withQuery(path, { ...query, watch: "1", allowWatchBookmarks: "true", resourceVersion: at });
      for await (const events of watch(target, accept, one.signal)) {
        const last = events[events.length - 1].object;
        const metadata = last.metadata?.resourceVersion ? last.metadata : last.rows?.[0]?.object?.metadata;
        at = metadata?.resourceVersion ?? at;
        take(events.filter((event) => event.type !== "BOOKMARK"));
      }
    } catch (error) {
      if (error instanceof ApiError && [401, 403, 404, 406, 410].includes(error.code)) throw error;
      // Others, and broken connections, are tried again.
    } finally {
      signal.removeEventListener("abort", stop);
      document.removeEventListener("visibilitychange", look);
    }
    if (!hidden()) await pause(500, signal);
  }
}
