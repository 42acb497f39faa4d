"""A kubeconfig of a user is added to; nothing in it is lost."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import orjson
import pytest

from hydrofoil import engine
from hydrofoil.server import kubeconfig_file
from hydrofoil.server.kubeconfig_file import kubeconfig, load, lock, merge, write

OWN = kubeconfig({"server": "http://127.0.0.1:8080"}, {"token": "admin"})
OTHERS: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "preferences": {"colors": True},
    "clusters": [{"name": "prod", "cluster": {"server": "https://prod"}}],
    "users": [{"name": "admin", "user": {"token": "the-only-copy"}}],
    "contexts": [{"name": "prod", "context": {"cluster": "prod", "user": "admin", "namespace": "shop"}}],
    "current-context": "prod",
}


def text(config: dict[str, Any]) -> bytes:
    return engine.json_to_yaml(orjson.dumps(config))


def names(config: dict[str, Any], section: str) -> list[str]:
    return [entry["name"] for entry in config[section]]


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config"
    assert write(path, OWN) == "hydrofoil"
    assert load(path) == OWN
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in path.parent.iterdir()] == ["config"]


def test_entries_of_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_bytes(text(OTHERS))
    path.chmod(0o640)
    assert write(path, OWN) == "prod"
    found = load(path)
    assert found["preferences"] == OTHERS["preferences"] and found["current-context"] == "prod"
    for section in ("clusters", "users", "contexts"):
        assert found[section] == OTHERS[section] + OWN[section]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert write(path, OWN, set_context=True) == "hydrofoil"
    assert load(path) == found | {"current-context": "hydrofoil"}


def test_a_second_start_changes_nothing_but_its_own(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_bytes(text(OTHERS))
    write(path, OWN)
    before = path.stat().st_ino
    write(path, OWN)
    assert path.stat().st_ino == before
    write(path, kubeconfig({"server": "http://127.0.0.1:9"}, {"token": "t"}))
    found = load(path)
    assert names(found, "clusters") == ["prod", "hydrofoil"]
    assert found["clusters"][1]["cluster"] == {"server": "http://127.0.0.1:9"}


def test_an_empty_current_context_is_set(tmp_path: Path) -> None:
    assert merge({**OTHERS, "current-context": ""}, OWN)["current-context"] == "hydrofoil"
    path = tmp_path / "empty"
    path.write_bytes(b"")
    assert write(path, OWN) == "hydrofoil"


def test_the_user_that_earlier_versions_named_goes() -> None:
    former = kubeconfig({"server": "x"}, {"token": "y"})
    former["users"][0]["name"] = former["contexts"][0]["context"]["user"] = "admin"
    assert names(merge(former, OWN), "users") == ["hydrofoil"]
    both = merge(OTHERS, former)
    assert names(merge(both, OWN), "users")[0] == "admin", "a context of others has it"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"clusters: [", "did not find expected node content"),
        (b"- a\n", "another kind"),
        (b"kind: Pod\napiVersion: v1\n", "another kind"),
        (b"clusters: {a: b}\n", "clusters is no list"),
        (b"users: [{user: {}}]\n", "users is no list of entries with names"),
        (b"\xff\xfe\x00", "UTF-16"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "config"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=why):
        write(path, OWN)
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["config"]


def test_a_device_is_no_file() -> None:
    with pytest.raises(ValueError, match="no regular file"):
        load(Path(os.devnull))


def test_a_link_stays_one(tmp_path: Path) -> None:
    target, path = tmp_path / "real", tmp_path / "link"
    target.write_bytes(text(OTHERS))
    path.symlink_to(target)
    write(path, OWN)
    assert path.is_symlink() and names(load(target), "clusters") == ["prod", "hydrofoil"]


def test_a_writer_waits_for_the_lock_of_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubeconfig_file, "LOCK_TRIES", 2)
    path = tmp_path / "config"
    with lock(path), pytest.raises(OSError, match=r"another program writes it.*config\.lock"):
        write(path, OWN)
    assert not path.exists()
    assert write(path, OWN) == "hydrofoil"
