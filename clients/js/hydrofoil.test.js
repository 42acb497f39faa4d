import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";

import { ApiError, start } from "./hydrofoil.js";

const MAPS = "/api/v1/namespaces/default/configmaps";
const MAP = (name) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
let server;

before(async () => {
  server = await start();
});
after(() => server.stop());
beforeEach(() => server.reset());

const status = async (path) => (await fetch(server.url + path)).status;

test("objects are applied, awaited and restored", async () => {
  const state = await server.snapshot();
  await server.apply(MAP("a"));
  assert.equal((await server.wait("configmaps/a")).kind, "ConfigMap");
  assert.equal(await server.restore(state), 1);
  await server.restart();
  assert.equal(await status(`${MAPS}/a`), 404);
  await assert.rejects(server.wait("configmaps/a", { timeout: 0.1 }), ApiError);
});

test("a status is set as a controller does", async () => {
  await server.apply("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}");
  assert.equal((await server.setStatus("pods/p", { phase: "Running" })).status.phase, "Running");
  assert.equal((await server.get("pods/p")).status.phase, "Running");
  await assert.rejects(server.get("pods/q"), ApiError);
});

test("faults act as often as asked", async () => {
  const fault = await server.addFault("status", { code: 503, verb: "list", times: 1 });
  assert.deepEqual([await status(MAPS), await status(MAPS)], [503, 200]);
  assert.equal((await server.fault(fault.id)).hits, 1);
  assert.equal((await server.requests({ verb: "list", code: "503" })).length, 1);
  await server.clearFaults();
});

test("time is in the hand of the test", async () => {
  await server.freeze(new Date("2026-01-01T00:00:00Z"));
  await server.advance("25h");
  const [made] = await server.apply(MAP("b"));
  assert.equal(made.metadata.creationTimestamp, "2026-01-02T01:00:00Z");
});

test("users have credentials", async () => {
  const { headers } = await server.user("bob", ["dev"]);
  assert.equal((await fetch(server.url + MAPS, { headers })).status, 403);
});

test("a text is a manifest or a path by its form", async () => {
  const folder = await mkdtemp(join(tmpdir(), "objects-"));
  try {
    await mkdir(join(folder, "b"));
    await writeFile(join(folder, "a.yaml"), MAP("a"));
    await writeFile(join(folder, "b", "b.json"), '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}');
    await writeFile(join(folder, "notes.txt"), "no manifest");
    const names = async (text) => (await server.apply(text)).map((item) => item.metadata.name);
    assert.deepEqual(await names(folder), ["a", "b"]);
    assert.deepEqual(await names(join(folder, "a.yaml")), ["a"]);
    assert.deepEqual(await names("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}"), ["c"]);
    assert.deepEqual(await names('[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"}}]'), ["d"]);
    await assert.rejects(server.apply("nowhere.yaml"), /"nowhere.yaml" is no file or folder, and no manifest/);
    await writeFile(join(folder, "a.yaml"), "kind: ConfigMap\n");
    await assert.rejects(server.apply(join(folder, "a.yaml")), /a.yaml, document 1: an object needs apiVersion/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the options of a wait are one object", async () => {
  await assert.rejects(server.wait("configmaps/a", "exists", "default", 500), TypeError);
  await assert.rejects(server.wait("configmaps/a", { timout: 1 }), TypeError);
});
