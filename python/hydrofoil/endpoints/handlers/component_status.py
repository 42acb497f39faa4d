"""Component statuses: probed on each read, never stored (`pkg/registry/core/componentstatus`)."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import aiohttp
import orjson

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers.list import check_transform, read_options, selector
from hydrofoil.engine import Stored
from hydrofoil.outbound import bounds
from hydrofoil.outbound.connections import Connections
from hydrofoil.outbound.trust import Trust

PORTS = {"scheduler": 10259, "controller-manager": 10257}
"""The health ports of the other control plane components."""
STORAGE = "etcd-0"
SECONDS = 20.0


async def components(context: Context) -> Answer:
    """Return one status, or all selected ones."""
    if context.info.name:
        if context.info.name not in (*PORTS, STORAGE):
            raise errors.not_found("", "componentstatus", context.info.name)
        return await respond.answer_object(context, await _status(context, context.info.name))
    options = read_options(context, watch=False)
    chosen = selector(context, options.labels, options.fields)
    check_transform(context)
    found = await asyncio.gather(*(_status(context, name) for name in (*PORTS, STORAGE)))
    return respond.json(
        context, _list_components(context, [status for status in found if chosen.matches(status)], found[0])
    )


def _list_components(context: Context, statuses: list[Stored], any_status: Stored) -> bytes:
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
    """Report whether a component is healthy, with its message or the connection error."""
    url = f"https://127.0.0.1:{port}/healthz"
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
    except OSError as e:
        return False, f'Get "{url}": dial tcp 127.0.0.1:{port}: connect: {os.strerror(e.errno or 0).lower()}'
    connections = Connections(Trust(insecure=True), unpack=True)
    try:
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        async with connections.call() as session, session.get(url, timeout=timeout) as r:
            if r.status >= 400:
                return False, f"HTTP probe failed with statuscode: {r.status}"
            return True, (await bounds.read(r, bounds.OBJECT)).decode(errors="replace")
    except (aiohttp.ClientError, OSError, bounds.TooLarge) as e:
        return False, f'Get "{url}": {e}'
    finally:
        await connections.close()
