"""Archives that anybody may have made: checked as a whole before a file of them is used.

A link, a device, a path that leaves the archive, a file with holes, and more bytes than a dump has refuse the archive:
none of them is in one that an export or a known tool makes. Files get names of our own where they are unpacked.
"""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from hydrofoil.dumps.documents import SUFFIXES
from hydrofoil.dumps.manifest import DumpError

ENDINGS = (".tar.gz", ".tgz", ".tar")
FILES = 200_000
"""The greatest number of members."""
BYTES = 16 << 30
"""The greatest size of all of them."""
FILE_BYTES = 2 << 30
"""The greatest size of one."""
RATIO = 400
"""How much larger than the archive its content may be: objects are packed to a tenth, a bomb to a thousandth."""
SMALL = 64 << 20
"""Content of this size is taken whatever the ratio."""
PIECE = 1 << 20
"""The most bytes that are read at once: a header asks for all of itself."""


class BoundedReader(io.RawIOBase):
    """The content of an archive, up to the bounds."""

    def __init__(self, file: BinaryIO, most: int, origin: str) -> None:
        self._file = file
        self._most = most
        self._origin = origin

    def seekable(self) -> bool:
        """Report that it moves, though only onwards without cost."""
        return True

    def readable(self) -> bool:
        """Report that it is read."""
        return True

    def tell(self) -> int:
        """Return the place."""
        return self._file.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move. Raise DumpError beyond the bounds, before anything is unpacked there."""
        if whence != io.SEEK_SET or offset > self._most:
            raise self._excess()
        return self._file.seek(offset)

    def read(self, size: int = -1) -> bytes:
        """Return bytes. Raise DumpError for more than a piece, or beyond the bounds."""
        if not 0 <= size <= PIECE:
            raise DumpError(f"{self._origin}: a header of the archive is too large")
        data = self._file.read(size)
        if self._file.tell() > self._most:
            raise self._excess()
        return data

    def _excess(self) -> DumpError:
        return DumpError(f"{self._origin}: the archive unpacks to more than {self._most >> 20} MiB")


def unpack(place: Path, folder: Path) -> list[tuple[str, Path]]:
    """Unpack the files of an archive that may have objects; return their names in it, and their paths.

    Raise DumpError for an archive that is refused or damaged, OSError.
    """
    origin = str(place)
    most = min(BYTES, max(SMALL, place.stat().st_size * RATIO))
    try:
        with place.open("rb") as packed:
            is_packed = packed.read(2) == b"\x1f\x8b"
            packed.seek(0)
            content = cast(BinaryIO, gzip.GzipFile(fileobj=packed)) if is_packed else packed
            reader = BoundedReader(content, most if is_packed else BYTES, origin)
            with tarfile.open(fileobj=cast(BinaryIO, reader), mode="r:") as archive:
                return list(_unpack_members(archive, folder, origin))
    except (tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile, UnicodeError, ValueError, OverflowError) as e:
        raise DumpError(f"{origin}: the archive is damaged: {e}") from None


def _unpack_members(archive: tarfile.TarFile, folder: Path, origin: str) -> Iterator[tuple[str, Path]]:
    total = 0
    for number, member in enumerate(archive):
        name = check_member(member, origin)
        total += member.size
        if number >= FILES:
            raise DumpError(f"{origin}: the archive has more than {FILES} files")
        if member.size > FILE_BYTES or total > BYTES:
            raise DumpError(f"{origin}: {name!r} of the archive is too large")
        if not member.isreg() or not name.endswith(SUFFIXES):
            continue
        file = archive.extractfile(member)
        if file is None:
            continue
        path = folder / str(number)
        with file, path.open("xb") as copy:
            shutil.copyfileobj(file, copy, PIECE >> 2)
        yield name, path


def check_member(member: tarfile.TarInfo, origin: str) -> str:
    """Return the name of a member. Raise DumpError for one that no dump has."""
    name = member.name.removeprefix("./")
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "\0" in name or "\\" in name:
        raise DumpError(f"{origin}: {member.name!r} leaves the archive")
    if member.issym() or member.islnk():
        raise DumpError(f"{origin}: {member.name!r} of the archive is a link")
    if not (member.isreg() or member.isdir()):
        raise DumpError(f"{origin}: {member.name!r} of the archive is no file")
    if member.issparse():
        raise DumpError(f"{origin}: {member.name!r} of the archive has holes")
    return name
