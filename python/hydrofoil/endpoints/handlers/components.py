"""Component statuses: asked for when they are read, never kept (`pkg/registry/core/componentstatus`)."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import aiohttp
import orjson

from hydrofoil import client, errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers.list import check_transform, read_options, selector
from hydrofoil.engine import Stored

PORTS = {"scheduler": 10259, "controller-manager": 10257}
"""Where the other components of a control plane tell how they are."""
STORAGE = "etcd-0"
SECONDS = 20.0


async def components(context: Context) -> Answer:
    """One status, or all that are selected."""
    if context.info.name:
        if context.info.name not in (*PORTS, STORAGE):
            raise errors.not_found("", "componentstatus", context.info.name)
        return await respond.shown(context, await _status(context, context.info.name))
    options = read_options(context, watch=False)
    chosen = selector(context, options.labels, options.fields)
    check_transform(context)
    found = await asyncio.gather(*(_status(context, name) for name in (*PORTS, STORAGE)))
    return respond.json(context, _listed(context, [status for status in found if chosen.matches(status)], found[0]))


def _listed(context: Context, statuses: list[Stored], any_status: Stored) -> bytes:
    form, clock = respond.form(context), context.parts.clock.native
    if context.accepted.transform == "Table":
        table: dict[str, Any] = orjson.loads(any_status.body(form, clock))
        table["metadata"] = {}
        table["rows"] = [row for status in statuses for row in orjson.loads(status.body(form, clock))["rows"]]
        return orjson.dumps(table) + b"\n"
    kind, version = context.resource.list_kind, "v1"
    items = [{k: v for k, v in orjson.loads(s.json).items() if k not in ("kind", "apiVersion")} for s in statuses]
    if context.accepted.transform:
        kind, version = "PartialObjectMetadataList", f"meta.k8s.io/{context.accepted.version}"
        head = {"kind": "PartialObjectMetadata", "apiVersion": version}
        items = [{**head, "metadata": item["metadata"]} for item in items]
    return orjson.dumps({"kind": kind, "apiVersion": version, "metadata": {}, "items": items}) + b"\n"


async def _status(context: Context, name: str) -> Stored:
    healthy, message = (True, "ok") if name == STORAGE else await _probe(PORTS[name])
    condition = {"type": "Healthy", "status": "True" if healthy else "False", "message": message}
    body = {"metadata": {"name": name}, "conditions": [condition]}
    draft, _ = context.resource.native.decode(orjson.dumps(body), "json")
    draft.set_type()
    return draft.preview(0)


async def _probe(port: int) -> tuple[bool, str]:
    """Whether a component is healthy, and what it or its absence says."""
    url = f"https://127.0.0.1:{port}/healthz"
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
    except OSError as e:
        return False, f'Get "{url}": dial tcp 127.0.0.1:{port}: connect: {os.strerror(e.errno or 0).lower()}'
    await client.ready()
    try:
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url, ssl=False) as r:
            if r.status >= 400:
                return False, f"HTTP probe failed with statuscode: {r.status}"
            return True, await r.text()
    except (aiohttp.ClientError, TimeoutError) as e:
        return False, f'Get "{url}": {e}'
