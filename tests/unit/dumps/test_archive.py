"""Archives that anybody may have made are checked as a whole."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydrofoil.dumps.archive import unpack
from hydrofoil.dumps.manifest import DumpError

NODE = b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}\n'


def member(name: str, kind: bytes = tarfile.REGTYPE, to: str = "", size: int = 0) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.size = kind, to, size
    return found


def pack(place: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(place, "w:gz") as archive:
        for info, data in members:
            info.size = len(data) or info.size
            archive.addfile(info, io.BytesIO(data))
    return place


def test_objects_are_unpacked_under_names_of_our_own(tmp_path: Path) -> None:
    place = pack(
        tmp_path / "a.tar.gz",
        (member("dump", tarfile.DIRTYPE), b""),
        (member("./dump/nodes.jsonl"), NODE),
        (member("dump/pod.log"), b"words"),
    )
    folder = tmp_path / "to"
    folder.mkdir()
    ((name, path),) = unpack(place, folder)
    assert (name, path.read_bytes(), path.parent) == ("dump/nodes.jsonl", NODE, folder)


@pytest.mark.parametrize(
    ("info", "why"),
    [
        (member("../x.json"), "leaves the archive"),
        (member("/etc/x.json"), "leaves the archive"),
        (member("a/../../x.json"), "leaves the archive"),
        (member("x.json", tarfile.SYMTYPE, "/etc/passwd"), "is a link"),
        (member("x.json", tarfile.LNKTYPE, "a.json"), "is a link"),
        (member("x.json", tarfile.FIFOTYPE), "is no file"),
        (member("x.json", tarfile.CHRTYPE), "is no file"),
    ],
)
def test_strange_members_refuse_the_archive(tmp_path: Path, info: tarfile.TarInfo, why: str) -> None:
    place = pack(tmp_path / "a.tar.gz", (member("a.json"), NODE), (info, b""))
    folder = tmp_path / "to"
    folder.mkdir()
    with pytest.raises(DumpError, match=why) as error:
        unpack(place, folder)
    assert str(error.value).startswith(f"{place}: ") and "\n" not in str(error.value)
    assert not (tmp_path / "x.json").exists()


def zeros(place: Path) -> None:
    with tarfile.open(place, "w:gz") as archive:
        size = 80 << 20
        archive.addfile(member("x.yaml", size=size), io.BytesIO(bytes(size)))


def header(place: Path) -> None:
    """A name of 80 MiB, which the reader would take at once."""
    size = 80 << 20
    info = member("././@LongLink", tarfile.GNUTYPE_LONGNAME, size=size)
    with gzip.open(place, "wb", 1) as file:
        file.write(info.tobuf(tarfile.GNU_FORMAT))
        file.write(bytes(size))


def promise(place: Path) -> None:
    """A member that says it has a terabyte."""
    with gzip.open(place, "wb") as file:
        file.write(member("x.yaml", size=1 << 40).tobuf(tarfile.GNU_FORMAT))


@pytest.mark.parametrize("make", [zeros, header, promise])
def test_bombs_are_refused_before_they_are_unpacked(tmp_path: Path, make: Callable[[Path], None]) -> None:
    place, folder = tmp_path / "a.tar.gz", tmp_path / "to"
    folder.mkdir()
    make(place)
    with pytest.raises(DumpError, match=r"too large|unpacks to more"):
        unpack(place, folder)
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 65 << 20


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 400), st.binary(min_size=1, max_size=4), st.booleans())
def test_damage_is_one_line(tmp_path: Path, at: int, bytes_: bytes, cut: bool) -> None:
    place, folder = tmp_path / "a.tar.gz", tmp_path / "to"
    folder.mkdir(exist_ok=True)
    data = bytearray(pack(place, (member("a.json"), NODE), (member("b.json"), NODE)).read_bytes())
    if cut:
        del data[at % len(data) :]
    else:
        data[at % len(data) : at % len(data) + len(bytes_)] = bytes_
    place.write_bytes(data)
    for path in folder.iterdir():
        path.unlink()
    try:
        for _, path in unpack(place, folder):
            assert path.parent == folder
    except DumpError as e:
        assert str(e).startswith(f"{place}: ")
