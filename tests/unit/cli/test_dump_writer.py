"""A dump that is not finished has no name."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydrofoil.cli.dumps.writer import DumpWriter
from hydrofoil.cli.failure import Failure
from hydrofoil.dumps.manifest import Manifest

EMPTY = Manifest("", "", "", ())


@pytest.mark.parametrize("name", ["dump", "dump.tar.gz"])
def test_nothing_is_left_of_an_unfinished_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(KeyboardInterrupt), DumpWriter(str(tmp_path / name)) as writer:
        writer.write("pods.jsonl", [b"{}"])
        assert not (tmp_path / name).exists()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["dump", "dump.tar.gz"])
def test_what_another_process_made_meanwhile_stays(tmp_path: Path, name: str) -> None:
    with DumpWriter(str(tmp_path / name)) as writer:
        (tmp_path / name).write_bytes(b"mine")
        with pytest.raises(Failure, match=name):
            writer.finish(EMPTY)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"mine"]


def test_lines_are_added_or_written_anew(tmp_path: Path) -> None:
    with DumpWriter(str(tmp_path / "dump")) as writer:
        assert writer.write("a.jsonl", [b"1"]) == 1
        assert writer.write("a.jsonl", [b"2", b"3"], more=True) == 2
        writer.restart("b.jsonl")
        writer.finish(EMPTY)
    assert (tmp_path / "dump" / "a.jsonl").read_bytes() == b"1\n2\n3\n"
    assert (tmp_path / "dump" / "a.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_folder_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="no such file") as error:
        DumpWriter(str(tmp_path / "no" / "dump"))
    assert error.value.code == 2
