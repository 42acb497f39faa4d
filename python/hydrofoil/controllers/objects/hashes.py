"""Short hashes for names and labels. None is an identity: whoever finds an object by one compares the whole."""

from __future__ import annotations

import zlib
from typing import Any

import orjson

from hydrofoil.clock import LETTERS


def safe_hash(value: Any, collision: int | None = None) -> str:
    """Return ten letters for a JSON value (`controller.ComputeHash`, `rand.SafeEncodeString`).

    `collision` is the count by which another object's value with the same hash was told apart.
    """
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    if collision is not None:
        text += collision.to_bytes(4, "little")
    return "".join(LETTERS[ord(digit) % len(LETTERS)] for digit in f"{zlib.crc32(text):010d}")
