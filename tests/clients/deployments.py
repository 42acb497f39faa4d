"""Deployments, and waits for their pods."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import aiohttp

from tests.api.calls import get

PODS, NODES = "/api/v1/namespaces/default/pods", "/api/v1/nodes"
SETS, DEPLOYMENTS = "/apis/apps/v1/namespaces/default/replicasets", "/apis/apps/v1/namespaces/default/deployments"
Object = dict[str, Any]


async def events(api: aiohttp.ClientSession, path: str, since: str) -> AsyncGenerator[Object]:
    """Yield the events of the objects of a path after a version, without an end."""
    async with api.get(f"{path}?watch=1&resourceVersion={since}", timeout=aiohttp.ClientTimeout(None)) as stream:
        async for line in stream.content:
            yield json.loads(line)


async def until(api: aiohttp.ClientSession, path: str, holds: Callable[[dict[str, Object]], bool]) -> dict[str, Object]:
    """Return the objects of a path by name, once a condition holds for them."""
    listed = await get(api, path)
    objects = {item["metadata"]["name"]: item for item in listed["items"]}
    async with aclosing(events(api, path, listed["metadata"]["resourceVersion"])) as stream:
        while not holds(objects):
            event = await anext(stream)
            name = event["object"]["metadata"]["name"]
            if event["type"] == "DELETED":
                del objects[name]
            else:
                objects[name] = event["object"]
    return objects


def deployment(replicas: int) -> Object:
    """Return a Deployment of pods that do nothing."""
    labels = {"app": "d"}
    containers = [{"name": "c", "image": "i:1"}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
    }
