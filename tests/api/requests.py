"""Requests in every form."""

from __future__ import annotations

from typing import Any

import aiohttp
import orjson
from yarl import URL

CORE = "/api/v1/namespaces/default"
MAP = f"{CORE}/configmaps/a"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


async def asked(api: aiohttp.ClientSession, method: str, path: str, body: str = "", **headers: str) -> tuple[int, str]:
    """Return the code and message of an answer, the path sent verbatim."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with api.request(
        method, URL(str(api._base_url).rstrip("/") + path, encoded=True), data=body, headers=sent
    ) as r:
        text = await r.read()
        found: dict[str, Any] = orjson.loads(text) if text.startswith(b"{") else {"message": text.decode()}
        return r.status, found.get("message", found.get("kind", ""))
