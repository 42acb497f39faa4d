// What `tsc --strict` accepts, and what it refuses: it is compiled, and never run.

import { ApiError, start, type Fault, type KubernetesObject, type Server } from "./hydrofoil.js";

export async function use(): Promise<void> {
  const server: Server = await start("--history-window=5s");
  const [made] = await server.apply("boats.yaml", { namespace: "team", status: true });
  const name: string | undefined = made?.metadata.name;
  const found: KubernetesObject = await server.wait("boats.example.com/a", { condition: "Ready", timeout: 5 });
  const set: KubernetesObject = await server.setStatus("boats.example.com/a", { phase: "Up" }, { namespace: "team" });
  const same: KubernetesObject = await server.get("boats.example.com/a");
  const gone: null = await server.wait("boats.example.com/a", { condition: "deleted" });
  const fault: Fault = await server.addFault("status", { code: 503, verb: ["list", "watch"], times: 1 });
  const agents: string[] = (await server.requests({ verb: "list" })).map((request) => request.agent);
  await server.restore(await server.snapshot());
  await server.restart();
  await server.freeze(new Date());
  console.log(server.url, name, found["spec"]?.foils, set, same, gone, fault.hits, agents, (await server.user("bob")).headers);
  try {
    await server.stop();
  } catch (error) {
    if (error instanceof ApiError) console.log(error.status.reason);
  }
  // @ts-expect-error -- the options are one object
  await server.wait("boats.example.com/a", "exists", "default", 500);
  // @ts-expect-error -- there is no such action
  await server.addFault("statsu");
  // @ts-expect-error -- a server is started
  new Server();
}
