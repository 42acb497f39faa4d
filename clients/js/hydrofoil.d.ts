/** An object of the API. */
export interface KubernetesObject {
  apiVersion?: string;
  kind?: string;
  metadata: { name?: string; namespace?: string; [member: string]: unknown };
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its members are those of its kind
  [member: string]: any;
}

/** A failure as the server answers it. */
export interface Status {
  kind: "Status";
  message: string;
  reason?: string;
  code?: number;
  details?: Record<string, unknown>;
}

/** An answer that is a failure. */
export class ApiError extends Error {
  constructor(status: Status);
  readonly status: Status;
}

export type Action = "delay" | "status" | "deny" | "cut" | "stall" | "expire" | "no-bookmarks" | "down";
type Texts = string | string[];

/** The requests that a fault matches, how often it acts, and the parameters of its action. */
export interface FaultOptions {
  verb?: Texts;
  resource?: Texts;
  namespace?: Texts;
  name?: Texts;
  user?: Texts;
  agent?: Texts;
  path?: Texts;
  nth?: number;
  times?: number;
  seconds?: number | [low: number, high: number];
  code?: number;
  reason?: string;
  message?: string;
  retryAfter?: number;
  when?: "before" | "after" | "body";
  after?: number;
}

/** A fault with its counts. */
export interface Fault extends FaultOptions {
  id: string;
  action: Action;
  seen: number;
  hits: number;
  text: string;
}

/** A request that the server has answered. */
export interface Request {
  method: string;
  path: string;
  params: Record<string, string>;
  verb: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  user: string;
  agent: string;
  /** 0 if the connection broke before an answer. */
  code: number;
  started: string;
  /** Seconds; null while a watch is open. */
  duration: number | null;
  requestBytes: number;
  responseBytes: number;
  body: string;
  answer: string;
  fault: string;
}

/** A user with its credentials. */
export interface User {
  headers: Record<string, string>;
  kubeconfig: Record<string, unknown>;
}

export interface ApplyOptions {
  /** The namespace of objects that name none. */
  namespace?: string;
  /** Whether the status is written, too. */
  status?: boolean;
}

export interface WaitOptions {
  /** `exists`, `deleted`, `Ready`, `condition=Ready=False` or `jsonpath={.spec.replicas}=3`. */
  condition?: string;
  namespace?: string;
  /** Seconds. */
  timeout?: number;
}

/** A server of one test or suite. */
export class Server {
  private constructor();
  /** The address: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** The path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Return to the state at readiness, without faults and requests. */
  reset(): Promise<void>;
  /** Break all connections and end the history, as clients see it of a restart; address, objects and users stay. */
  restart(): Promise<void>;
  /** Return the id of the present state. */
  snapshot(): Promise<string>;
  /** Return to a snapshot; return the number of objects that differed. */
  restore(id: string): Promise<number>;
  /** Stop the clock, at a moment or now. */
  freeze(at?: Date): Promise<void>;
  /** Move the clock forward by a duration such as "25h". */
  advance(duration: string): Promise<void>;
  /** Add a fault. */
  addFault(action: Action, given?: FaultOptions): Promise<Fault>;
  /** Return a fault with its present counts. */
  fault(id: string): Promise<Fault>;
  /** Remove all faults. */
  clearFaults(): Promise<void>;
  /** Return the requests that are selected; an empty text is an absent attribute. */
  requests(where?: Record<string, string>): Promise<Request[]>;
  /**
   * Apply objects in YAML or JSON; return them as they are stored. A text with a line break or ": ", or that begins with
   * "{" or "[", is a manifest; any other is the path of a file or a folder, which begins at the working folder.
   */
  apply(manifests: string, options?: ApplyOptions): Promise<KubernetesObject[]>;
  /** Wait until an object such as "deployments.apps/web" is gone. */
  wait(object: string, options: WaitOptions & { condition: "deleted" | "delete" }): Promise<null>;
  /** Return an object such as "deployments.apps/web" once it meets a condition. */
  wait(object: string, options?: WaitOptions): Promise<KubernetesObject>;
  /** Return an object such as "deployments.apps/web". */
  get(object: string, options?: { namespace?: string }): Promise<KubernetesObject>;
  /** Set members of the status of an object, as its controller would; null removes one. Return the object. */
  setStatus(object: string, status: Record<string, unknown>, options?: { namespace?: string }): Promise<KubernetesObject>;
  /** Return headers and kubeconfig of a user that has no rights but those of roles. */
  user(name: string, groups?: string[]): Promise<User>;
  /** End the server. */
  stop(): Promise<void>;
}

/** Start a server with flags of `hydrofoil serve`. */
export function start(...flags: string[]): Promise<Server>;
