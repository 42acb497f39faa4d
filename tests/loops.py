"""The event loop of a test: that of the standard library, whose turns are measured, or uvloop, as in production.

Transports of the two differ where the server is bold: how they take many pieces, pause a writer, give views of memory,
abort. Tests of a server are therefore divided between them by a hash of their names, which costs nothing and stays the
same from run to run; `--loop both` runs each on both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from zlib import crc32

import uvloop

Factory = Callable[[], asyncio.AbstractEventLoop]
OPTIONS = ("split", "both", "asyncio", "uvloop")
SERVER = "server"
"""The fixture of a server in the loop of the test."""


def production() -> asyncio.AbstractEventLoop:
    """Return a loop as the server's process has it: uvloop, with two threads for work off the loop."""
    loop = uvloop.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(2, thread_name_prefix="encode"))
    return loop


FACTORIES: dict[str, Factory] = {"asyncio": asyncio.new_event_loop, "uvloop": production}


def loops(option: str, name: str, fixtures: Collection[str]) -> dict[str, Factory]:
    """Return the loops of a test, by its name and its fixtures.

    Tests without a server in their loop keep that of the standard library: they have no transports of it.
    """
    if SERVER not in fixtures or option == "asyncio":
        return {"asyncio": FACTORIES["asyncio"]}
    if option == "both":
        return FACTORIES
    chosen = "uvloop" if option == "uvloop" or crc32(name.encode()) % 2 else "asyncio"
    return {chosen: FACTORIES[chosen]}
