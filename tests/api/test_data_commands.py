"""`hydrofoil data`: work on folders without a server."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydrofoil.cli.main import main
from tests.api.data_dirs import BOATS, DEFINITION, MAPS, called, everything, served, settled


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str], Path]]:
    """Yield a folder with objects, their versions, and a backup that was made while a server used it."""
    folder = tmp_path_factory.mktemp("data")
    backup = folder.parent / f"{folder.name}.backup"
    with served(folder / "data") as url:
        called(f"{url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        called(url + BOATS, {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": "b"}, "color": "red"})
        called(url + MAPS, {"metadata": {"name": "x", "labels": {"a": "b"}}, "data": {"k": "v"}})
        settled(url)
        assert main(["data", "backup", str(folder / "data"), str(backup)]) == 0
        versions = everything(url)
    yield folder / "data", versions, backup


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


Written = tuple[Path, dict[str, str], Path]


def test_a_check_changes_nothing_and_finds_damage(
    written: Written, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder, versions, _ = written
    before = files(folder)
    capsys.readouterr()
    assert main(["data", "check", str(folder)]) == 0
    count, word, revision, number = capsys.readouterr().out.replace(",", "").split()
    assert (int(count) > 100, word, revision) == (True, "objects", "revision")
    assert int(number) >= max(int(version) for version in versions.values() if version)
    assert files(folder) == before
    copy = tmp_path / "copy"
    copy.mkdir()
    for name, content in before.items():
        damaged = bytearray(content)
        if (at := content.find(b'"k":"v"')) >= 0:
            damaged[at] ^= 1
        (copy / name).write_bytes(damaged)
    assert main(["data", "check", str(copy)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"hydrofoil: {copy}/log-") and error.count("\n") == 1


def test_names_may_be_those_of_the_present_folder(
    written: Written, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bare name is in the folder that a command runs in, also where that folder's names are made durable."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(written[0], "data")
    capsys.readouterr()
    for words in (
        ["check", "data"],
        ["backup", "data", "copy"],
        ["compact", "data"],
        ["restore", "copy", "restored"],
        ["export", "data", "lines"],
        ["import", "lines", "imported"],
        ["check", "restored"],
        ["check", "imported"],
    ):
        assert main(["data", *words]) == 0, (words, capsys.readouterr().err)
    counts = [line.split()[0] for line in capsys.readouterr().out.splitlines() if "revision" in line]
    assert len(counts) >= 3 and set(counts) == {counts[0]}
    with served(Path("data")) as url:
        assert main(["data", "backup", "data", "another"]) == 0, capsys.readouterr().err
        assert called(url + MAPS)["items"]


def test_a_backup_is_restored(written: Written, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, versions, backup = written
    assert main(["data", "restore", str(backup), str(tmp_path / "new")]) == 0
    with served(tmp_path / "new") as url:
        assert everything(url) == versions
        watched = max(int(version) for version in versions.values() if version)
        assert called(f"{url}{MAPS}?watch=1&resourceVersion={watched}&timeoutSeconds=1")["object"]["code"] == 410
        made = called(url + MAPS, {"metadata": {"name": "y"}})["metadata"]["resourceVersion"]
        assert int(made) > watched
        assert called(url + BOATS)["items"][0]["color"] == "red"
    capsys.readouterr()
    assert main(["data", "restore", str(backup), str(tmp_path / "new")]) == 1
    assert "it has files" in capsys.readouterr().err


def test_objects_are_exported_and_imported(
    written: Written, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder, _, _ = written
    out, new = tmp_path / "objects.jsonl", tmp_path / "new"
    assert main(["data", "export", str(folder), str(out)]) == 0
    bodies = [json.loads(line) for line in out.read_text().splitlines()]
    shown = {(body["kind"], body["metadata"]["name"]) for body in bodies}
    assert {("ConfigMap", "x"), ("Boat", "b"), ("Namespace", "default")} <= shown
    assert main(["data", "import", str(out), str(new)]) == 0
    with served(new) as url:
        found = called(f"{url}{MAPS}?labelSelector=a%3Db")["items"][0]
        kept = next(body for body in bodies if body["metadata"]["name"] == "x")
        assert (found["metadata"]["uid"], found["data"]) == (kept["metadata"]["uid"], {"k": "v"})
        assert called(f"{url}{BOATS}?fieldSelector=color%3Dred")["items"][0]["metadata"]["name"] == "b"
    capsys.readouterr()
    assert main(["data", "import", str(out), str(new)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("[]\n", "line 1 is no object with apiVersion, kind and a name"),
        ('{"apiVersion":"v9","kind":"Pod","metadata":{"name":"x"}}\n', "line 1 has the unknown kind Pod of v9"),
        ('\n{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":7}\n', "line 2: "),
        ('{"apiVersion":"v1","kind":"Node","metadata":{"name":"x"}}\n' * 2, "line 2 has the name of an object before"),
    ],
)
def test_other_lines_are_refused(lines: str, why: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "objects.jsonl"
    file.write_text(lines)
    assert main(["data", "import", str(file), str(tmp_path / "new")]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"hydrofoil: {file}: {why}") and error.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_a_compaction_keeps_the_objects(written: Written, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, versions, backup = written
    assert main(["data", "restore", str(backup), str(tmp_path / "new")]) == 0
    assert main(["data", "compact", str(tmp_path / "new")]) == 0
    with served(tmp_path / "new") as url:
        assert everything(url) == versions
    for words in (["data", "check"], ["data", "check", "a", "b"]):
        assert main(words) == 2
    assert main(["data", "check", str(tmp_path / "absent")]) == 1
    assert "absent: no such file or directory" in capsys.readouterr().err
