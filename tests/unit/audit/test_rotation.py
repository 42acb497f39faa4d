"""The file of the audit log."""

from __future__ import annotations

import errno
import gzip
import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hydrofoil.audit import rotation
from hydrofoil.audit.log import join_records
from hydrofoil.audit.rotation import LogFile

START = datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)


class Days:
    """A time that is a day later at each look."""

    def __init__(self) -> None:
        self.days = 0

    def __call__(self) -> datetime:
        self.days += 1
        return START + timedelta(days=self.days - 1)


def append(file: LogFile, records: list[bytes]) -> tuple[int, OSError | None]:
    return file.append(*join_records(records))


def opened(path: Path | str, **given: Any) -> LogFile:
    limits: dict[str, Any] = {"megabytes": 0, "days": 0, "kept": 0, "compresses": False}
    return LogFile(str(path), Days(), **limits | given)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a megabyte ten bytes."""
    monkeypatch.setattr(rotation, "MEGABYTE", 10)


def test_records_are_appended_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "audit.log"
    for record in (b"one", b"two"):
        file = opened(path)
        assert append(file, [record]) == (1, None)
        file.close()
    assert path.read_bytes() == b"one\ntwo\n"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("small")
def test_a_full_file_becomes_an_old_one(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    file = opened(path, megabytes=1)
    assert append(file, [b"1234567"]) == (1, None)
    assert append(file, [b"abc", b"d"]) == (2, None)
    file.close()
    assert path.read_bytes() == b"abc\nd\n"
    assert (tmp_path / "audit-2026-01-02T03-04-05.678.log").read_bytes() == b"1234567\n"


@pytest.mark.usefixtures("small")
def test_old_files_are_compressed_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "a[1]*.log"
    other = tmp_path / "a[1]*-notes.log"
    other.write_text("kept")
    file = opened(path, megabytes=1, kept=2, compresses=True)
    for number in range(5):
        assert append(file, [b"1234567%d" % number]) == (1, None)
    file.close()
    old = sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".gz")
    assert old == ["a[1]*-2026-01-04T03-04-05.678.log.gz", "a[1]*-2026-01-05T03-04-05.678.log.gz"]
    assert gzip.decompress((tmp_path / old[-1]).read_bytes()) == b"12345673\n"
    assert other.exists() and path.read_bytes() == b"12345674\n"


@pytest.mark.usefixtures("small")
def test_files_of_other_days_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    file = opened(path, megabytes=1, days=2)
    for _ in range(6):
        append(file, [b"12345678"])
    file.close()
    assert len(list(tmp_path.iterdir())) == 4


def test_a_full_disk_loses_records_and_says_so() -> None:
    file = opened("/dev/full", megabytes=1)
    written, error = append(file, [b"a", b"b"])
    assert written == 0 and error is not None and error.errno == errno.ENOSPC
    file.close()


def test_a_record_that_breaks_off_is_ended_before_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "audit.log"
    file = opened(path)
    real = os.write
    room = 6

    def limited(to: int, data: Any) -> int:
        nonlocal room
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = real(to, bytes(data)[:room])
        room -= done
        return done

    monkeypatch.setattr(os, "write", limited)
    assert append(file, [b"one", b"two"])[0] == 1
    room = 100
    assert append(file, [b"three"]) == (1, None)
    file.close()
    assert path.read_bytes().splitlines() == [b"one", b"tw", b"three"]


def test_a_pipe_that_does_not_block_is_waited_for() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    file = opened(f"/proc/self/fd/{write}")
    os.set_blocking(file._file, False)
    data = b"x" * 200_000
    got = bytearray()

    def drain() -> None:
        while len(got) <= len(data):
            got.extend(os.read(read, 65536))

    reader = threading.Thread(target=drain)
    reader.start()
    assert append(file, [data]) == (1, None)
    reader.join()
    assert got == data + b"\n"
    file.close()
    os.close(read)
    os.close(write)


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        opened(tmp_path)
