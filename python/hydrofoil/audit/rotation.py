"""The file of the audit log, and old files of it (the rules of lumberjack, which kube-apiserver uses)."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import select
import shutil
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

STAMP = "%Y-%m-%dT%H-%M-%S"
STAMPED = re.compile(r"-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)\.\d{3}")
MEGABYTE = 1 << 20
MODE = 0o600
END = ord("\n")


class LogFile:
    """A file that records are appended to; it is used by one thread.

    A record whose write fails half-way is ended before the next one, so that no two share a line.
    """

    def __init__(
        self, path: str, now: Callable[[], datetime], *, megabytes: int, days: int, kept: int, compresses: bool
    ) -> None:
        """Open the file; `-` is the standard output. Raise OSError.

        Above `megabytes` a new file is begun; old ones are removed after `days`, and the oldest ones above `kept`. 0
        means no limit.
        """
        self._now = now
        self._most = megabytes * MEGABYTE
        self._days = days
        self._kept = kept
        self._compresses = compresses
        self._torn = False
        self._size = 0
        self._path = None if path == "-" else Path(path)
        self._file = 1
        if self._path is not None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._open(self._path)

    def _open(self, path: Path) -> None:
        flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC
        self._file = os.open(path, flags, MODE)
        self._size = os.fstat(self._file).st_size

    def append(self, data: bytes, ends: Sequence[int]) -> tuple[int, OSError | None]:
        """Write lines, which end at these places; return how many were written, and the error that ended it."""
        view, at, start = memoryview(data), 0, 0
        while at < len(ends):
            at = self._room(ends, at, start)
            piece = view[start : ends[at - 1]]
            done, error = 0, None
            try:
                if self._most and self._size and self._size + len(piece) > self._most:
                    self._rotate()
                done, error = self._write(piece)
            except OSError as e:
                error = e
            if error is not None:
                return bisect_right(ends, start + done), error
            start += done
        return len(ends), None

    def _room(self, ends: Sequence[int], at: int, start: int) -> int:
        """Return the end of the lines from a place on that are written together."""
        if not self._most:
            return len(ends)
        # A file ends with the line that reaches its size.
        return min(len(ends), bisect_left(ends, start + self._most - self._size, at) + 1)

    def _write(self, data: memoryview) -> tuple[int, OSError | None]:
        """Write all bytes; return the number of those that were written, and the error that ended it."""
        done = 0
        if self._torn:
            os.write(self._file, b"\n")
            self._torn = False
        while done < len(data):
            try:
                done += os.write(self._file, data[done:])
            except BlockingIOError:
                # A pipe that another process has made non-blocking.
                select.select([], [self._file], [], 1.0)
            except OSError as e:
                self._size += done
                self._torn = done > 0 and data[done - 1] != END
                return done, e
        self._size += done
        return done, None

    def _rotate(self) -> None:
        path = self._path
        if path is None or not path.is_file():
            # A device or a pipe has no old files.
            return
        now = self._now()
        stamp = f"{now.strftime(STAMP)}.{now.microsecond // 1000:03}"
        old = path.with_name(f"{path.stem}-{stamp}{path.suffix}")
        os.close(self._file)
        try:
            path.rename(old)
        finally:
            self._open(path)
        with contextlib.suppress(OSError):
            # Neither a full disk nor a missing right to remove ends the log.
            if self._compresses:
                compress(old)
            self._remove(path, now)

    def _remove(self, path: Path, now: datetime) -> None:
        """Remove files that are too old or too many; one that is packed as well counts once."""
        found: dict[str, list[Path]] = {}
        for old in path.parent.glob(f"{glob_escaped(path.stem)}-*"):
            stamp = STAMPED.fullmatch(old.name.removesuffix(".gz").removesuffix(path.suffix).removeprefix(path.stem))
            if stamp is not None:
                found.setdefault(stamp[0], []).append(old)
        newest = sorted(found, reverse=True)
        removed = set(newest[self._kept :]) if self._kept else set()
        if self._days:
            limit = (now - timedelta(days=self._days)).strftime(STAMP)
            removed |= {name for name in newest if name[1:-4] < limit}
        for name in removed:
            for old in found[name]:
                old.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        if self._path is not None and self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1


def glob_escaped(name: str) -> str:
    """Escape the characters of a name that have a meaning in patterns."""
    return re.sub(r"([*?[])", r"[\1]", name)


def compress(path: Path) -> None:
    """Replace a file by its compressed form. Raise OSError; the file stays then."""
    import gzip

    packed = path.with_name(path.name + ".gz")
    try:
        file = os.open(packed, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, MODE)
        with path.open("rb") as source, os.fdopen(file, "wb") as target, gzip.GzipFile("", "wb", 6, target, 0) as out:
            shutil.copyfileobj(source, out)
    except OSError:
        packed.unlink(missing_ok=True)
        raise
    path.unlink()


def full(error: OSError) -> bool:
    """Report whether a disk is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
