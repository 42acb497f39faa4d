"""Responses of webhooks and services, read within bounds and without blocking the loop.

Upstream has no bound on them. Here it follows from the largest write of a client: an object of 3 MiB. The head of a
response is bounded by aiohttp's client (128 lines of 8 KiB).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import orjson

from hydrofoil.pace.sizes import LARGE

if TYPE_CHECKING:
    import aiohttp

OBJECT = 3 << 20
"""The greatest size of one object, in bytes."""
DOCUMENT = 8 * OBJECT
"""The greatest size of a service's discovery or OpenAPI document: those of a whole cluster take half of it."""
GROWTH = 8
"""The greatest ratio of a response to its request, beside one object."""


class TooLarge(ValueError):
    """A response that exceeds its bound; the message has the size."""


def review_bound(objects: int, request: int) -> int:
    """Return the bound of a response, in bytes, for a request with this many objects and bytes."""
    return min(OBJECT * (objects + 1), OBJECT + GROWTH * request)


async def read(answer: aiohttp.ClientResponse, bound: int) -> bytes:
    """Return the body of a response, decompressed in pieces if necessary. Raise TooLarge, and end the connection."""
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
    # Do not wait for the rest.
    answer.close()
    raise TooLarge(f"the answer is larger than {bound} bytes")


async def decode_json(data: bytes) -> Any:
    """Decode JSON; a large text off the loop. Raise orjson.JSONDecodeError."""
    return orjson.loads(data) if len(data) < LARGE else await asyncio.to_thread(orjson.loads, data)
