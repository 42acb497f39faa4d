"""The objects of files: what can be read is read, and what cannot is named with its line."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydrofoil.dumps.documents import SUFFIXES, Piece, parse_file
from hydrofoil.dumps.object import Broken, DumpedObject

MAP = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: team}\n"


def parse(name: str, data: bytes, *, strict: bool = False) -> list[Piece]:
    return list(parse_file(name, io.BytesIO(data), strict=strict))


def names(pieces: list[Piece]) -> list[str]:
    return [piece.name if isinstance(piece, DumpedObject) else f"!{piece.line}" for piece in pieces]


def test_only_the_broken_document_of_a_stream_is_lost() -> None:
    data = (
        MAP % b"a" + b"---\n# a comment\n" + MAP % b"b" + b"---\nkind: [\n---\n" + MAP % b"c" + b"--- \n" + MAP % b"d"
    )
    found = parse("x.yaml", data)
    assert names(found) == ["a", "b", "!10", "c", "d"]
    assert [piece.line for piece in found] == [1, 6, 10, 12, 16]
    broken = found[2]
    assert isinstance(broken, Broken) and broken.source == "x.yaml"
    assert broken.reason == "cannot read YAML: did not find expected node content"


def test_the_content_of_a_line_of_dashes_counts() -> None:
    assert names(parse("x.yaml", b'--- {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}\n')) == ["a"]


def test_items_of_lists_are_objects() -> None:
    data = b"""{"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}, 3]}"""
    pod, broken = parse("x.json", data)
    assert isinstance(pod, DumpedObject) and (pod.api_version, pod.kind) == ("v1", "Pod")
    assert pod.content() == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    assert isinstance(broken, Broken) and broken.reason == "an item of a PodList is no object"
    nested = b"""{"kind": "List", "apiVersion": "v1", "items": [%s]}""" % data.replace(b", 3", b"")
    assert names(parse("x.json", nested)) == ["a"]
    assert parse("x.json", b'{"kind": "PodList", "apiVersion": "v1", "items": null}') == []


def test_several_documents_of_json() -> None:
    one = b'{\n "apiVersion": "v1",\n "kind": "Node",\n "metadata": {"name": "%s"}\n}\n'
    data = one % b"a" + b'{\n "kind": \n}\n' + one % b"b"
    assert names(parse("x.json", data)) == ["a", "!8", "b"]


def test_lines_of_json() -> None:
    line = b'{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"%s","namespace":"n","uid":"u"}}\n'
    found = parse("x.jsonl", line % b"a" + b"\n{nope\n[1]\n" + line % b"b", strict=True)
    assert names(found) == ["a", "!3", "!4", "b"]
    assert isinstance(found[0], DumpedObject) and found[0].key == ("apps", "Deployment", "n", "a")
    assert found[0].json == (line % b"a").strip()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"just words",
        b"a: b",
        b"- 1\n- 2\n",
        b"kind: Config\napiVersion: v1\nclusters: []\n",
        b"2026-11-28 14:00:00 line of a log",
        b"kind: Status\napiVersion: v1\nmetadata: {}\n",
        b"apiVersion: v1\nkind: Status\nmetadata: {name: x}\n",
    ],
)
def test_files_that_are_no_objects_are_passed_over(data: bytes) -> None:
    assert parse("x.yaml", data) == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"kind: Pod\nmetadata: {name: x}\n", "the object has no apiVersion"),
        (b"apiVersion: v1\nmetadata: {name: x}\n", "the object has no kind"),
        (b"kind: Pod\napiVersion: v1\nmetadata: {labels: {a: b}}\n", "metadata.name is missing"),
        (b"kind: Pod\napiVersion: v1\nmetadata: [1]\n", "metadata is no map"),
        (b"kind: Pod\napiVersion: v1\nmetadata: {name: x, namespace: 3}\n", "metadata.namespace is no text"),
    ],
)
def test_objects_that_are_none_are_named(data: bytes, reason: str) -> None:
    (broken,) = parse("x.yaml", data)
    assert isinstance(broken, Broken) and broken.reason == reason


def test_aliases_are_bounded() -> None:
    """A billion laughs: each name stands for nine of the one before."""
    lines = [b"a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, after in zip("abcdefghijk", "bcdefghijkl", strict=True):
        refs = b", ".join([b"*" + before.encode()] * 9)
        lines.append(b"%s: &%s [%s]" % (after.encode(), after.encode(), refs))
    (broken,) = parse("x.yaml", b"\n".join(lines))
    assert isinstance(broken, Broken) and "excessive aliasing" in broken.reason


TEXT = st.sampled_from(
    [
        b"---\n",
        b"{",
        b"}",
        b"[",
        b"]",
        b"a: &a x\n",
        b"*a",
        MAP % b"a",
        b'{"kind":"List","items":[',
        b"\xff",
        b"\t",
        b'"',
    ]
)


@settings(deadline=None)
@given(st.sampled_from(SUFFIXES), st.lists(TEXT | st.binary(max_size=6), max_size=8).map(b"".join))
def test_any_bytes_are_read_or_named(suffix: str, data: bytes) -> None:
    for piece in parse(f"x{suffix}", data):
        assert piece.source == f"x{suffix}"
        assert 1 <= piece.line <= data.count(b"\n") + 1
        assert piece.json if isinstance(piece, DumpedObject) else piece.reason


@settings(deadline=None)
@given(st.lists(st.sampled_from(["good", "bad", "other"]), max_size=12))
def test_each_good_document_survives(kinds: list[str]) -> None:
    texts = {"good": MAP.replace(b"%s", b"x"), "bad": b"a: [\n", "other": b"a: b\n"}
    found = parse("x.yaml", b"---\n".join(texts[kind] for kind in kinds))
    assert [isinstance(piece, DumpedObject) for piece in found] == [kind == "good" for kind in kinds if kind != "other"]
