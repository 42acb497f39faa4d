"""Requests that tests make again and again."""

from __future__ import annotations

from typing import Any

import aiohttp


async def post(api: aiohttp.ClientSession, path: str, body: dict[str, Any], code: int = 201) -> dict[str, Any]:
    """What a POST made, with the status that it is to have."""
    async with api.post(path, json=body) as r:
        assert r.status == code, await r.text()
        made: dict[str, Any] = await r.json()
        return made


async def get(api: aiohttp.ClientSession, path: str) -> dict[str, Any]:
    """What a GET found."""
    async with api.get(path) as r:
        found: dict[str, Any] = await r.json()
        return found
