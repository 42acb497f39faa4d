"""Lists that are made by threads, while others look at them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from hydrofoil.clock import Clock
from hydrofoil.engine import Change, ListCursor, View
from tests.contract.logs import EVERYTHING, MAPS, draft

ROOT = Path(__file__).parents[2]
SECONDS = 40


def counted_while_made() -> None:
    """Look at cursors all the time while another thread, which releases the GIL, makes their pieces."""
    view = View(300.0, 4, 1 << 30, None, Clock().native)
    shard = view.shard("x")
    view.load("x", [], 1)
    for i in range(200):
        view.apply(Change.create(shard, draft(f"n{i}", v="x" * 20_000)), i + 2)
    cursors: list[ListCursor] = []

    def make() -> None:
        for form in ("protobuf", "json:table:v1:Metadata", "cbor", "json:metadata:v1"):
            cursors.append(shard.list(MAPS, EVERYTHING, form).packed())
            while cursors[-1].chunk(1 << 20):
                pass

    thread = threading.Thread(target=make)
    thread.start()
    while thread.is_alive():
        for cursor in cursors:
            assert 0 <= cursor.returned <= 200
            assert cursor.revision == 201
            cursor.cheap()
    assert [cursor.returned for cursor in cursors] == [200] * 4


def test_a_list_is_counted_while_a_thread_makes_it() -> None:
    # A thread that waits for a lock with the GIL would stop this process, and with it the time limit of the test.
    code = f"from {__name__} import counted_while_made as run; run()"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=SECONDS, check=True, env=os.environ)
