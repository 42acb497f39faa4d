"""The files of a dump: a folder, an archive, or one file."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hydrofoil.dumps.archive import ENDINGS, unpack
from hydrofoil.dumps.documents import SUFFIXES, Piece, parse_file
from hydrofoil.dumps.manifest import NAME, DumpError, Manifest, parse_manifest
from hydrofoil.dumps.object import Broken

LARGEST_MANIFEST = 16 << 20


class Source:
    """A dump that is open."""

    def __init__(self, files: list[tuple[str, Path]], origin: str) -> None:
        """Take the files with their names, in any order. Raise DumpError."""
        self._files = sorted(files)
        self.manifest: Manifest | None = None
        """What an export says of itself; None for other dumps."""
        self._folder = ""
        for name, path in self._files:
            # An archive may have the folder of the dump.
            if name.rpartition("/")[2] == NAME and name.count("/") <= 1 and path.stat().st_size <= LARGEST_MANIFEST:
                self.manifest = parse_manifest(path.read_bytes(), f"{origin}: {name}")
                if self.manifest is not None:
                    self._folder = name.removesuffix(NAME)
                    break

    def pieces(self) -> Iterator[Piece]:
        """Yield the objects of all files, and what cannot be read."""
        if self.manifest is None:
            for name, path in self._files:
                yield from _parse(name, path)
            return
        paths = dict(self._files)
        for resource in self.manifest.resources:
            name = f"{self._folder}{resource.file}"
            found = paths.get(name)
            if found is not None:
                yield from _parse(name, found, strict=True)
            else:
                yield Broken(name, 0, "the manifest names this file, which is not there", resource.kind)


def _parse(name: str, path: Path, *, strict: bool = False) -> Iterator[Piece]:
    try:
        with _open_file(path) as file:
            yield from parse_file(name, file, strict=strict)
    except OSError as e:
        yield Broken(name, 0, (e.strerror or str(e)).lower())


def _open_file(path: Path) -> BinaryIO:
    """Open a regular file: a pipe in a folder would never end. Raise OSError."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is no file")
    return file


@contextmanager
def open_source(place: str) -> Iterator[Source]:
    """Open a dump. Raise DumpError with one line if it cannot be read, or is refused."""
    path = Path(place)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            yield Source(list(find_files(path)), place)
        elif place.endswith(ENDINGS):
            with tempfile.TemporaryDirectory(prefix="hydrofoil-dump-") as folder:
                yield Source(unpack(path, Path(folder)), place)
        elif place.endswith(SUFFIXES):
            yield Source([(place, path)], place)
        else:
            kinds = ", ".join((*SUFFIXES, *ENDINGS))
            raise DumpError(f"{place} is no folder, and ends in none of {kinds}")
    except OSError as e:
        raise DumpError(f"{e.filename or place}: {(e.strerror or str(e)).lower()}") from None


def find_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a folder that may have objects, with their names in it. A link is followed within it alone."""
    root = folder.resolve()
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent) / name
            if name.endswith(SUFFIXES) and (not path.is_symlink() or path.resolve().is_relative_to(root)):
                yield path.relative_to(folder).as_posix(), path
