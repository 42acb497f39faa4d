// Start a Kubernetes API server for tests, reset it, break it on purpose and look at its requests.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";

const RULE = "a text is a manifest if it has a line break or ': ', or begins with '{' or '['";
const SUFFIXES = [".yaml", ".yml", ".json"];

/** Report whether a text is a manifest, by its form alone; otherwise it is a path. */
function isManifest(text) {
  return text.includes("\n") || text.includes(": ") || /^\s*[{[]/.test(text);
}

/** Return the files of a path: itself, or the manifests of a folder and of those in it. */
async function filesOf(path) {
  const found = await stat(path).catch(() => null);
  if (found === null) throw new Error(`${JSON.stringify(path)} is no file or folder, and no manifest (${RULE})`);
  if (!found.isDirectory()) return [path];
  const entries = (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const below = await Promise.all(
    entries
      .filter((entry) => entry.isDirectory() || SUFFIXES.includes(extname(entry.name)))
      .map((entry) => filesOf(join(path, entry.name))),
  );
  return below.flat();
}

/** An answer that is a failure; `status` is the Status of the server. */
export class ApiError extends Error {
  constructor(status) {
    super(status.message);
    this.status = status;
  }
}

/** A server of one test or suite. */
export class Server {
  #program;
  #folder;

  constructor(program, folder, url, kubeconfig) {
    this.#program = program;
    this.#folder = folder;
    this.url = url;
    this.kubeconfig = kubeconfig;
  }

  async #call(method, path, body) {
    const answer = await fetch(`${this.url}/hydrofoil/v1${path}`, { method, body });
    const found = await answer.json();
    if (!answer.ok) throw new ApiError(found);
    return found;
  }

  /** Return to the state at readiness, without faults and requests. */
  async reset() {
    await this.#call("POST", "/reset");
  }

  /** Break all connections and end the history, as clients see it of a restart; address, objects and users stay. */
  async restart() {
    await this.#call("POST", "/restart");
    // fetch learns in the next turns of the loop that connections which it keeps are broken.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** Return the id of the present state. */
  async snapshot() {
    return (await this.#call("POST", "/snapshots")).id;
  }

  /** Return to a snapshot; return the number of objects that differed. */
  async restore(id) {
    return (await this.#call("POST", `/snapshots/${id}/restore`)).changed;
  }

  /** Stop the clock, at a Date or now. */
  async freeze(at) {
    await this.#call("PUT", "/clock", JSON.stringify({ now: at?.toISOString() ?? null, frozen: true }));
  }

  /** Move the clock forward by a duration such as "25h". */
  async advance(duration) {
    await this.#call("POST", "/clock/advance", JSON.stringify({ duration }));
  }

  /** Add a fault; return it with `id`, `seen` and `hits`. */
  async addFault(action, given = {}) {
    return this.#call("POST", "/faults", JSON.stringify({ action, ...given }));
  }

  /** Return a fault with its present counts. */
  async fault(id) {
    return this.#call("GET", `/faults/${id}`);
  }

  /** Remove all faults. */
  async clearFaults() {
    await this.#call("DELETE", "/faults");
  }

  /** Return the requests that are selected, as `{ verb: "list" }`; an empty text is an absent attribute. */
  async requests(where = {}) {
    return (await this.#call("GET", `/requests?${new URLSearchParams(where)}`)).items;
  }

  /**
   * Apply objects in YAML or JSON; return them as they are stored. A text with a line break or ": ", or that begins with
   * "{" or "[", is a manifest; any other is the path of a file or a folder, which begins at the working folder.
   */
  async apply(manifests, { namespace, status = false } = {}) {
    const query = new URLSearchParams(namespace === undefined ? {} : { namespace });
    if (status) query.set("status", "true");
    let text = manifests;
    if (!isManifest(manifests)) {
      query.set("origin", manifests);
      text = (await Promise.all((await filesOf(manifests)).map((path) => readFile(path, "utf8")))).join("\n---\n");
    }
    return (await this.#call("POST", `/apply?${query}`, text)).items;
  }

  /** Return an object such as "deployments.apps/web" once it meets a condition. */
  async wait(object, options = {}) {
    const { condition = "exists", namespace = "default", timeout = 10, ...others } = options;
    if (typeof options !== "object" || Object.keys(others).length > 0) {
      throw new TypeError("the options of wait are one object: { condition, namespace, timeout }");
    }
    return this.#call("POST", "/wait", JSON.stringify({ object, condition, namespace, timeout }));
  }

  /** Return an object such as "deployments.apps/web". */
  async get(object, { namespace = "default" } = {}) {
    return this.#call("GET", `/object?${new URLSearchParams({ object, namespace })}`);
  }

  /** Set members of the status of an object, as its controller would; null removes one. Return the object. */
  async setStatus(object, status, { namespace = "default" } = {}) {
    return this.#call("PUT", "/status", JSON.stringify({ object, status, namespace }));
  }

  /** Return headers and kubeconfig of a user that has no rights but those of roles. */
  async user(name, groups = []) {
    return this.#call("POST", "/users", JSON.stringify({ name, groups }));
  }

  /** End the server. */
  async stop() {
    if (this.#program.exitCode === null) {
      const ended = new Promise((resolve) => this.#program.once("exit", resolve));
      this.#program.kill("SIGTERM");
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Start a server with flags of `hydrofoil serve`. */
export async function start(...flags) {
  const [command, ...words] = (process.env.HYDROFOIL ?? "hydrofoil").split(/\s+/);
  const folder = await mkdtemp(join(tmpdir(), "hydrofoil-"));
  const kubeconfig = join(folder, "kubeconfig");
  const given = [...words, "serve", "--port=0", "--test-controls", `--kubeconfig=${kubeconfig}`, ...flags];
  const program = spawn(command, given, { stdio: ["ignore", "pipe", "inherit"] });
  const failed = new Promise((_, reject) => {
    program.once("error", reject);
    program.once("exit", (code) => reject(new Error(`hydrofoil has ended with code ${code}`)));
  });
  const started = (async () => {
    for await (const line of createInterface({ input: program.stdout })) {
      if (line.startsWith("serving on ")) return line.slice("serving on ".length);
    }
    return failed;
  })();
  failed.catch(() => {});
  try {
    const url = await Promise.race([started, failed]);
    program.stdout.resume();
    return new Server(program, folder, url, kubeconfig);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
