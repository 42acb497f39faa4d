"""Services with addresses."""

from __future__ import annotations

from typing import Any

import aiohttp

SERVICES = "/api/v1/namespaces/default/services"
APPLY = {"Content-Type": "application/merge-patch+json"}
Object = dict[str, Any]


def service(name: str, **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


async def created(api: aiohttp.ClientSession, name: str, **spec: Any) -> tuple[int, Object]:
    async with api.post(SERVICES, json=service(name, **spec)) as r:
        return r.status, await r.json()


async def patched(api: aiohttp.ClientSession, name: str, spec: Object) -> tuple[int, Object]:
    async with api.patch(f"{SERVICES}/{name}", json={"spec": spec}, headers=APPLY) as r:
        return r.status, await r.json()
