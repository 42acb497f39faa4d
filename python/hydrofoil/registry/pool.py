"""Work on large objects, which must not keep the loop from other requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

Given = TypeVarTuple("Given")
Made = TypeVar("Made")

LARGE = 64 << 10
"""From how many bytes on, of a patch and its object together, work leaves the loop: about 3 ms of it."""

POOLED_TRIES = 4
"""How many tries leave the loop. In the meantime others may write the object again and again; on the loop none can."""


async def run(work: Callable[[*Given], Made], *given: *Given, pooled: bool) -> Made:
    """What native work makes, which off the loop runs without Python's lock."""
    if not pooled:
        return work(*given)
    return await asyncio.get_running_loop().run_in_executor(None, work, *given)
