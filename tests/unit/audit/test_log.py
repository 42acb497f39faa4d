"""The audit log."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hydrofoil.audit import log
from hydrofoil.audit.log import LogBackend
from hydrofoil.audit.metrics import Counts
from hydrofoil.audit.options import AuditOptions, Delivery
from hydrofoil.audit.rotation import LogFile
from hydrofoil.clock import Clock

BLOCKING = Delivery.of(AuditOptions(), "log")


def backend(path: Path | str, delivery: Delivery = BLOCKING) -> tuple[LogBackend, Counts]:
    counts, clock = Counts(), Clock()
    file = LogFile(str(path), clock.now, megabytes=0, days=0, kept=0, compresses=False)
    return LogBackend(delivery, file, clock, counts), counts


async def test_records_are_written_in_their_order_by_the_end(tmp_path: Path) -> None:
    for mode in ("batch", "blocking", "blocking-strict"):
        path = tmp_path / mode
        made, counts = await asyncio.to_thread(backend, path, replace(BLOCKING, mode=mode))
        for number in range(1000):
            made.take(b"%d" % number)
        await made.close()
        assert (await asyncio.to_thread(path.read_bytes)).split() == [b"%d" % n for n in range(1000)]
        assert counts.lost == {}


async def test_batches_are_written_as_asked(tmp_path: Path) -> None:
    made, _ = await asyncio.to_thread(backend, tmp_path / "a", replace(BLOCKING, mode="batch", size=10, wait=60.0))
    for number in range(25):
        made.take(b"%d" % number)
    await made.close()
    assert len((await asyncio.to_thread((tmp_path / "a").read_bytes)).split()) == 25


async def test_a_strict_record_reports_its_write(tmp_path: Path) -> None:
    made, _ = await asyncio.to_thread(backend, tmp_path / "a", replace(BLOCKING, mode="blocking-strict"))
    results = [made.take(b"x", waits=True) for _ in range(3)]
    assert [await r for r in results if r is not None] == [True] * 3
    await made.close()


async def test_a_full_disk_loses_records_and_counts_them(caplog: pytest.LogCaptureFixture) -> None:
    made, counts = await asyncio.to_thread(backend, "/dev/full", replace(BLOCKING, mode="blocking-strict"))
    made.take(b"secret")
    written = made.take(b"secret", waits=True)
    assert written is not None and not await written
    await made.close()
    assert counts.lost == {"log": 2}
    assert "No space left" in caplog.text and "secret" not in caplog.text


async def test_a_disk_that_hangs_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe without a reader: the loop continues, what waits is bounded, and the end does not wait for long."""
    monkeypatch.setattr(log, "MOST", 5)
    monkeypatch.setattr(log, "LEAVE_SECONDS", 0.05)
    read, write = os.pipe()
    made, counts = await asyncio.to_thread(backend, f"/proc/self/fd/{write}")
    made.take(b"x" * (1 << 20))
    made._flush()
    for _ in range(20):
        made.take(b"x")
    refused = made.take(b"x", waits=True)
    assert refused is not None and not await refused
    assert counts.lost == {"log": 16}
    await made.close()
    os.close(read)
    os.close(write)


async def test_a_fault_of_the_writer_is_one_loss(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made, counts = await asyncio.to_thread(backend, tmp_path / "a")

    def fail(_: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(made._file, "append", fail)
    written = made.take(b"x", waits=True)
    assert written is not None and not await written
    monkeypatch.undo()
    written = made.take(b"x", waits=True)
    assert written is not None and await written
    await made.close()
    assert counts.lost == {"log": 1}


async def test_a_log_without_records_starts_no_thread(tmp_path: Path) -> None:
    made, _ = await asyncio.to_thread(backend, tmp_path / "a")
    await made.close()
    assert made._thread is None and not made.blocks
