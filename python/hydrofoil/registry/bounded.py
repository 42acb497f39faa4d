"""Answers of webhooks and services, read within bounds and without keeping the loop.

Upstream has no bound on them. Here one follows from what a client may write at most: an object of 3 MiB. The head of an
answer is bounded by aiohttp's client (128 lines of 8 KiB).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import orjson

from hydrofoil.registry.pool import LARGE

if TYPE_CHECKING:
    import aiohttp

OBJECT = 3 << 20
"""The most that one object takes, in bytes."""
DOCUMENT = 8 * OBJECT
"""The most that discovery or an OpenAPI document of a service takes: those of a whole cluster take half of it."""
GROWTH = 8
"""How many times as large as what it was asked about an answer may be, beside one object."""


class TooLarge(ValueError):
    """An answer of more bytes than it may have; the text tells how many those are."""


def review_bound(objects: int, request: int) -> int:
    """How many bytes the answer may have to a request of so many bytes with so many objects."""
    return min(OBJECT * (objects + 1), OBJECT + GROWTH * request)


async def read(answer: aiohttp.ClientResponse, bound: int) -> bytes:
    """The body of an answer, unpacked piece by piece if it comes packed. Raises TooLarge, and ends the connection."""
    length = answer.content_length
    pieces: list[bytes] = []
    left = bound
    if length is None or length <= bound:
        async for piece in answer.content.iter_any():
            left -= len(piece)
            if left < 0:
                break
            pieces.append(piece)
        else:
            return b"".join(pieces)
    # What has yet to come is not waited for.
    answer.close()
    raise TooLarge(f"the answer is larger than {bound} bytes")


async def decoded(data: bytes) -> Any:
    """What JSON says; a large text is read beside the loop. Raises orjson.JSONDecodeError."""
    return orjson.loads(data) if len(data) < LARGE else await asyncio.to_thread(orjson.loads, data)
