"""The manifest of a dump, and the names of its resources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydrofoil.dumps.compare import is_own_object, same_content, same_state
from hydrofoil.dumps.manifest import DumpedResource, DumpError, Manifest, file_name, parse_manifest
from hydrofoil.dumps.names import Selection, name_resources
from hydrofoil.dumps.object import Broken
from hydrofoil.dumps.source import open_source

PODS = DumpedResource("", "v1", "pods", "Pod", namespaced=True, count=1, file="pods.jsonl")


def test_it_is_read_as_it_was_written() -> None:
    manifest = Manifest("2026-11-28T00:00:00Z", "v1.36.1", "7", (PODS,))
    assert parse_manifest(manifest.json(), "x") == manifest
    assert json.loads(manifest.json())["server"] == {"gitVersion": "v1.36.1"}
    assert (file_name("", "pods"), file_name("apps", "deployments")) == ("pods.jsonl", "apps_deployments.jsonl")


@pytest.mark.parametrize("file", ["../x", "/etc/passwd", "a/b", "", "..", "a\\b"])
def test_a_file_elsewhere_is_refused(file: str) -> None:
    content = json.loads(Manifest("", "", "", (PODS,)).json())
    content["resources"][0]["file"] = file
    with pytest.raises(DumpError):
        parse_manifest(json.dumps(content).encode(), "x")


def test_other_formats_are_refused_and_other_files_are_none() -> None:
    with pytest.raises(DumpError, match="x: format 2 is unknown: this program reads format 1"):
        parse_manifest(b'{"format": 2, "resources": []}', "x")
    for data in (b"[]", b"{", b'{"name": "my extension"}'):
        assert parse_manifest(data, "x") is None


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(Manifest("", "", "", (PODS,)).json())
    with open_source(str(tmp_path)) as source:
        (broken,) = source.pieces()
    assert isinstance(broken, Broken) and broken.source == "pods.jsonl"


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    node = '{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}'
    (tmp_path / "secret.json").write_text(node)
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "x.json").symlink_to(tmp_path / "secret.json")
    (folder / "real.json").write_text(node)
    (folder / "y.json").symlink_to("real.json")
    with open_source(str(folder)) as source:
        assert [piece.source for piece in source.pieces()] == ["real.json", "y.json"]


def test_what_is_no_dump_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"")
    for place, why in (
        (tmp_path / "no", "no such file or directory"),
        (tmp_path / "x.zip", "is no folder, and ends in"),
    ):
        with pytest.raises(DumpError, match=why), open_source(str(place)):
            pass


def test_resources_have_many_names() -> None:
    aliases = name_resources([("", "pods", ["po", "Pod"]), ("apps", "deployments", ["deploy"]), ("x.io", "pods", [])])
    chosen = Selection(["po", "deploy", "pods.x.io"], ["deployments.apps"]).resolve(aliases)
    assert chosen.takes("", "pods") and chosen.takes("x.io", "pods")
    assert not chosen.takes("apps", "deployments") and not chosen.takes("", "secrets")
    with pytest.raises(ValueError, match=r"no resource 'podz' \(pods?\?\)"):
        Selection(["podz"], []).resolve(aliases)


def test_what_a_server_assigns_is_no_content() -> None:
    one: dict[str, Any] = {"metadata": {"name": "a", "uid": "1", "resourceVersion": "1"}, "data": {"a": "b"}}
    other = {"kind": "ConfigMap", "metadata": {"name": "a", "uid": "2", "labels": {}}, "data": {"a": "b"}, "status": {}}
    assert same_content(one, other) and not same_state(one, other)
    assert not same_content(one, {**other, "data": {"a": "c"}})
    assert same_state(one, {**one, "metadata": {**one["metadata"], "resourceVersion": "9"}})
    assert is_own_object("", "Service", "default", "kubernetes", one)
    assert not is_own_object("", "Service", "default", "web", one)
