"""Custom resource definitions of tests, and requests for their resources."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import orjson

Object = dict[str, Any]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/e.com/v1/namespaces/default/things"
OPEN: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def version(name: str, *, storage: bool = False, served: bool = True, **more: Any) -> Object:
    """Return a version of a definition."""
    schema = more.pop("schema", OPEN)
    return {"name": name, "served": served, "storage": storage, "schema": {"openAPIV3Schema": schema}, **more}


def definition(*versions: Object, plural: str = "things", kind: str = "Thing", **spec: Any) -> Object:
    """Return a definition of the group e.com."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.e.com"},
        "spec": {
            "group": "e.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": list(versions),
            **spec,
        },
    }


def thing(name: str, api_version: str = "e.com/v1", **more: Any) -> Object:
    """Return an object of it."""
    return {"apiVersion": api_version, "kind": "Thing", "metadata": {"name": name}, **more}


async def call(api: aiohttp.ClientSession, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Status and decoded body."""
    data = None if body is None else orjson.dumps(body)
    async with api.request(method, path, data=data, headers=headers) as r:
        raw = await r.read()
        return r.status, orjson.loads(raw) if raw.startswith(b"{") else raw.decode()


async def until(look: Callable[[], Awaitable[bool]]) -> None:
    """Wait for a state."""
    async with asyncio.timeout(30):
        while not await look():
            await asyncio.sleep(0)
