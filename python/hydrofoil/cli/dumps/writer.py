"""The files of a dump, written beside their final place, which gets them when they are complete."""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from hydrofoil.cli.failure import USAGE, WRONG, Failure
from hydrofoil.dumps.manifest import NAME, Manifest

ARCHIVES = (".tar.gz", ".tgz")
LEVEL = 6


class DumpWriter:
    """A new dump: a folder, or an archive of one.

    Until `finish`, everything is in a hidden folder beside it: a process that is killed leaves nothing under the name
    of the dump. All files are of their owner alone, as they may have secrets.
    """

    def __init__(self, place: str) -> None:
        """Raise Failure if there is something already, or no folder to put it in."""
        self._place = Path(place)
        self._is_archive = place.endswith(ARCHIVES)
        if os.path.lexists(self._place):
            raise Failure(f"{place} exists", "an export makes a new folder or archive", USAGE)
        parent = self._place.absolute().parent
        try:
            # Of its owner alone, too.
            self._folder = Path(tempfile.mkdtemp(".unfinished", f".{self._place.name}.", parent))
        except OSError as e:
            raise Failure(f"{parent}: {(e.strerror or str(e)).lower()}", "it must be a folder", USAGE) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what is not finished."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._packed.unlink(missing_ok=True)

    @property
    def _packed(self) -> Path:
        return self._folder.with_suffix(".unfinished.tar.gz")

    def write(self, name: str, lines: Iterable[bytes], *, more: bool = False) -> int:
        """Write lines to a new file, or add `more` to it; return their number. Raise OSError."""
        count = 0
        mode = os.O_APPEND if more else os.O_EXCL | os.O_CREAT
        with os.fdopen(os.open(self._folder / name, mode | os.O_WRONLY | os.O_CLOEXEC, 0o600), "wb") as file:
            for line in lines:
                file.write(line)
                file.write(b"\n")
                count += 1
        return count

    def restart(self, name: str) -> None:
        """Remove a file that is written anew."""
        (self._folder / name).unlink(missing_ok=True)

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest, and put the dump in its place. Raise Failure, OSError."""
        path = self._folder / NAME
        with os.fdopen(os.open(path, os.O_EXCL | os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(manifest.json())
        names = [NAME, *(resource.file for resource in manifest.resources)]
        if self._is_archive:
            self._pack(names)
        for name in names:
            _sync(self._folder / name)
        # Neither a link nor a rename of a folder replaces what another process has made meanwhile, except an empty
        # folder.
        try:
            if self._is_archive:
                self._place.hardlink_to(self._packed)
            else:
                self._folder.rename(self._place)
        except OSError as e:
            raise Failure(f"{self._place}: {(e.strerror or str(e)).lower()}", code=WRONG) from None
        _sync(self._place.absolute().parent)

    def _pack(self, names: Iterable[str]) -> None:
        """Write the archive: files of nobody in particular, in the order of the manifest."""
        descriptor = os.open(self._packed, os.O_EXCL | os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=LEVEL) as archive:
                for name in names:
                    archive.add(self._folder / name, name, filter=_anonymous)
            file.flush()
            os.fsync(file.fileno())


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
