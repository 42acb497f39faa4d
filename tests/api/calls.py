"""Requests that tests make again and again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import aiohttp


def spent(pid: int) -> float:
    """Return the processor time of a running process so far, in seconds."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


async def post(api: aiohttp.ClientSession, path: str, body: dict[str, Any], code: int = 201) -> dict[str, Any]:
    """Return the object created by a POST, which must have the given status."""
    async with api.post(path, json=body) as r:
        assert r.status == code, await r.text()
        made: dict[str, Any] = await r.json()
        return made


async def get(api: aiohttp.ClientSession, path: str) -> dict[str, Any]:
    """Return the object of a GET."""
    async with api.get(path) as r:
        found: dict[str, Any] = await r.json()
        return found
