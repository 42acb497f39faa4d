"""An operator with Kopf: `python -m tests.clients.kopf_operator KUBECONFIG [OBJECTS]`.

It defines its kind, reconciles objects of it, changes a tenth of them, deletes all, and prints what that took as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import kopf
from kubernetes import client, config

GROUP, VERSION, PLURAL, NAMESPACE = "kopf.hydrofoil.test", "v1", "tasks", "default"
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION: Any = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{PLURAL}.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": PLURAL, "singular": "task", "kind": "Task"},
        "versions": [
            {
                "name": VERSION,
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": OPEN, "status": OPEN}}},
            }
        ],
    },
}
PAUSE = 0.2
"""Seconds between two looks at all objects."""


def operator() -> kopf.OperatorRegistry:
    """Handlers of creation, change and deletion; the last has Kopf put its finalizer on each object."""
    registry = kopf.OperatorRegistry()

    async def settle(spec: kopf.Spec, patch: kopf.Patch, **_: Any) -> None:
        patch.status["steps"] = spec["steps"]

    async def release(**_: Any) -> None:
        pass

    for on in (kopf.on.create, kopf.on.update):
        on(GROUP, VERSION, PLURAL, registry=registry)(settle)
    kopf.on.delete(GROUP, VERSION, PLURAL, registry=registry)(release)
    kopf.on.login(registry=registry)(kopf.login_with_kubeconfig)
    return registry


def objects() -> list[Any]:
    """All objects there are."""
    found: Any = client.CustomObjectsApi().list_namespaced_custom_object(GROUP, VERSION, NAMESPACE, PLURAL)
    return list(found["items"])


def define() -> None:
    """Create the kind and wait until it is served."""
    definitions = client.ApiextensionsV1Api()
    definitions.create_custom_resource_definition(DEFINITION)
    established = False
    while not established:
        found: Any = definitions.read_custom_resource_definition(f"{PLURAL}.{GROUP}")
        established = any(c.type == "Established" and c.status == "True" for c in found.status.conditions or ())


def seed(count: int) -> None:
    """Create the objects, and change every tenth."""
    api = client.CustomObjectsApi()
    place = GROUP, VERSION, NAMESPACE, PLURAL
    for i in range(count):
        head = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Task", "metadata": {"name": f"t{i}"}}
        api.create_namespaced_custom_object(*place, head | {"spec": {"steps": i}})
        if i % 10 == 0:
            api.patch_namespaced_custom_object(*place, f"t{i}", {"spec": {"steps": i + 1}})


def settled(found: list[Any]) -> bool:
    """Report whether each object is reconciled by its status."""
    return all(o.get("status", {}).get("steps") == o["spec"]["steps"] for o in found)


async def until(fits: Callable[[list[Any]], bool]) -> float:
    """Seconds until all objects are so."""
    start = time.monotonic()
    while not fits(await asyncio.to_thread(objects)):
        await asyncio.sleep(PAUSE)
    return time.monotonic() - start


async def main(kubeconfig: str, count: int) -> None:
    """Run the operator until all objects are created and deleted."""
    os.environ["KUBECONFIG"] = kubeconfig
    config.load_kube_config(kubeconfig)
    await asyncio.to_thread(define)
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    ready, stop = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(
        kopf.operator(
            registry=operator(),
            settings=settings,
            namespaces=[NAMESPACE],
            standalone=True,
            ready_flag=ready,
            stop_flag=stop,
        )
    )
    await ready.wait()
    start = time.monotonic()
    await asyncio.to_thread(seed, count)
    await until(lambda found: len(found) == count and settled(found))
    reconciled = time.monotonic() - start
    await asyncio.to_thread(
        client.CustomObjectsApi().delete_collection_namespaced_custom_object, GROUP, VERSION, NAMESPACE, PLURAL
    )
    deleted = await until(lambda found: not found)
    stop.set()
    await running
    print(json.dumps({"objects": count, "reconciledSeconds": reconciled, "deletedSeconds": deleted}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000))
