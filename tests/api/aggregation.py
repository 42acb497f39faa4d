"""Aggregated servers of tests, and their API services."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import aiohttp

from tests.api.custom import Object
from tests.api.services import Certificate

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
WARDLE = "/apis/wardle.example.com/v1"


def service(certificate: Certificate, name: str = "hook", **more: Any) -> Object:
    """Return the API service of `wardle.example.com/v1`."""
    spec = {"group": "wardle.example.com", "version": "v1", "groupPriorityMinimum": 2000, "versionPriority": 10}
    spec |= {"service": {"namespace": "system", "name": name}, "caBundle": certificate[2]} | more
    metadata = {"name": "v1.wardle.example.com"}
    return {"kind": "APIService", "apiVersion": "apiregistration.k8s.io/v1", "metadata": metadata, "spec": spec}


async def reached(
    api: aiohttp.ClientSession, name: str, wanted: Callable[[Object], bool], path: str = SERVICES
) -> Object:
    """Watches an object until it is as wanted."""
    params = {"fieldSelector": f"metadata.name={name}", "watch": "true"}
    async with asyncio.timeout(20), api.get(path, params=params) as stream:
        async for line in stream.content:
            event: Object = json.loads(line)
            if wanted(event["object"]) and event["type"] != "DELETED":
                found: Object = event["object"]
                return found
    raise AssertionError("the watch ended")


def condition(body: Object) -> tuple[str, str, str]:
    """Status, reason and message of Available."""
    found: Object = next(iter(body.get("status", {}).get("conditions", [])), {})
    return found.get("status", ""), found.get("reason", ""), found.get("message", "")
