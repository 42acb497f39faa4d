"""The objects of a file in YAML, JSON, or lines of JSON, each with its line; what cannot be read is lost alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import orjson

from hydrofoil import engine
from hydrofoil.dumps.head import read_head
from hydrofoil.dumps.object import Broken, DumpedObject, from_head, read_object

LINES = (".jsonl", ".ndjson")
SUFFIXES = (".yaml", ".yml", ".json", *LINES)
LARGEST_FILE = 512 << 20
"""The greatest file of documents in bytes: it is read as a whole."""
LARGEST_LINE = 32 << 20
"""The greatest line of a file of lines in bytes; kube-apiserver takes 3 MiB."""
BETWEEN = re.compile(rb"^---(?=[ \t\r\n]|$)", re.MULTILINE)
JSON_START = re.compile(rb"^(?=\{)", re.MULTILINE)
LINE = re.compile(r"line (\d+): ")
PREFIX = "error converting YAML to JSON: "
Piece = DumpedObject | Broken


def parse_file(name: str, file: BinaryIO, *, strict: bool = False) -> Iterator[Piece]:
    """Yield what a file has. Its suffix tells its form; `strict`: each of its lines is an object. Raise OSError."""
    if name.endswith(LINES):
        yield from parse_lines(name, file, strict=strict)
        return
    data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        yield Broken(name, 1, f"the file is larger than {LARGEST_FILE >> 20} MiB")
        return
    data = data.removeprefix(b"\xef\xbb\xbf")
    yield from parse_json(name, data) if name.endswith(".json") else parse_yaml(name, data)


def parse_lines(name: str, file: BinaryIO, *, strict: bool = False) -> Iterator[Piece]:
    """Yield the objects of lines of JSON."""
    number = 0
    while line := file.readline(LARGEST_LINE + 1):
        number += 1
        if len(line) > LARGEST_LINE:
            yield Broken(name, number, f"the line is longer than {LARGEST_LINE >> 20} MiB")
            while line and not line.endswith(b"\n"):
                line = file.readline(LARGEST_LINE)
            continue
        text = line.strip()
        if not text:
            continue
        head = read_head(text)
        if head is not None:
            yield from_head(name, number, head, text)
            continue
        try:
            content = orjson.loads(text)
        except ValueError as e:
            yield Broken(name, number, _json_reason(e))
            continue
        count = 0
        for piece in flatten(name, number, content, text):
            count += 1
            yield piece
        if strict and not count:
            yield Broken(name, number, "it is no object with apiVersion, kind and metadata")


def parse_json(name: str, data: bytes) -> Iterator[Piece]:
    """Yield the objects of a document, or of several behind each other."""
    try:
        whole = orjson.loads(data) if data.strip() else None
    except ValueError as e:
        pieces = [piece for piece in _split(data, JSON_START) if piece[1].strip()]
        if len(pieces) < 2:
            yield Broken(name, getattr(e, "lineno", 1), _json_reason(e))
            return
    else:
        yield from flatten(name, 1, whole)
        return
    for line, text in pieces:
        try:
            content = orjson.loads(text)
        except ValueError as e:
            yield Broken(name, line + getattr(e, "lineno", 1) - 1, _json_reason(e))
        else:
            yield from flatten(name, line, content)


def parse_yaml(name: str, data: bytes) -> Iterator[Piece]:
    """Yield the objects of a stream of documents."""
    for line, text in _split(data, BETWEEN):
        if not text.strip():
            continue
        try:
            content = orjson.loads(engine.yaml_to_json(text))
        except (ValueError, engine.DecodeError) as e:
            why = str(e).removeprefix(PREFIX).removeprefix("yaml: ")
            where = LINE.match(why)
            # The words of upstream have lines of their own counting.
            number = engine.yaml_fault_line(text) or (int(where[1]) if where else 1)
            # The fault of a text that ends too early is behind it.
            number = min(number, text.rstrip().count(b"\n") + 1)
            yield Broken(name, line + number - 1, f"cannot read YAML: {why[where.end() :] if where else why}")
            continue
        yield from flatten(name, line + _leading_lines(text), content)


def flatten(name: str, line: int, content: Any, json: bytes | None = None) -> Iterator[Piece]:
    """Yield the objects of a document; items of a list are objects of their own. `json` is its text, if that is known.

    Items of an answer name no type (unstructured.go `decodeToList`).
    """
    if isinstance(content, list):
        for item in content:
            yield from flatten(name, line, item)
        return
    if not isinstance(content, dict):
        return
    kind, items = content.get("kind"), content.get("items", ())
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list | None) and "items" in content:
        own = {"apiVersion": content.get("apiVersion"), "kind": kind.removesuffix("List")} if kind != "List" else {}
        for item in items or ():
            if isinstance(item, dict):
                yield from flatten(name, line, {**own, **item})
            else:
                yield Broken(name, line, f"an item of a {kind} is no object")
        return
    found = read_object(name, line, content, b"")
    if isinstance(found, DumpedObject):
        found.json = orjson.dumps(content) if json is None else json
    if found is not None:
        yield found


def _split(data: bytes, between: re.Pattern[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the documents of a stream, each with the line where it begins."""
    line, start = 1, 0
    ends: Iterable[tuple[int, int]] = [*(match.span() for match in between.finditer(data)), (len(data), len(data))]
    for end, after in ends:
        yield line, data[start:end]
        line += data.count(b"\n", start, end)
        start = after


def _leading_lines(text: bytes) -> int:
    """Return the number of empty lines and comments before the content of a document."""
    count = 0
    for line in text.split(b"\n", 32)[:32]:
        if line.strip() and not line.lstrip().startswith(b"#"):
            break
        count += 1
    return count


def _json_reason(error: ValueError) -> str:
    # Without the place, which orjson counts in the text that it got.
    return f"cannot read JSON: {str(error).partition(': line ')[0]}"
