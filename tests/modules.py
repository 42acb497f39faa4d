"""Which Rust modules of a crate name which."""

from __future__ import annotations

import re
from pathlib import Path

from tests.imports import Graph

COMMENT = re.compile(r"//[^\n]*")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*\Z", re.DOTALL)
USE = re.compile(r"\b(?:pub(?:\([a-z]+\))? )?use ([^;]+);")
PATH = re.compile(r"\b((?:crate|super|self)(?:::\w+)+)")


def graph(source: Path) -> Graph:
    """Return the modules of a crate, by path such as `view::ring`, and those that each names outside its tests."""
    files = {_name(source, path): path for path in sorted(source.rglob("*.rs")) if path.name != "tests.rs"}
    return {name: _named(path, name, set(files)) - {name} for name, path in files.items()}


def _name(source: Path, path: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    return "::".join(part for part in parts if part not in ("mod", "lib"))


def _named(path: Path, own: str, known: set[str]) -> set[str]:
    text = TESTS.sub("", COMMENT.sub("", path.read_text()))
    paths = [leaf for tree in USE.findall(text) for leaf in _leaves(tree.strip())]
    paths += PATH.findall(USE.sub("", text))
    found = {_resolved(path, own, known) for path in paths}
    return {name for name in found if name is not None}


def _leaves(tree: str) -> list[str]:
    """Return the paths of a tree of imports: `a::{b, c::d}` is `a::b` and `a::c::d`."""
    start = tree.find("{")
    if start < 0:
        return [tree.partition(" as ")[0].strip()]
    out, depth, begin = [], 0, start + 1
    for at in range(start, len(tree)):
        depth += {"{": 1, "}": -1}.get(tree[at], 0)
        if (tree[at] == "," and depth == 1) or depth == 0:
            if part := tree[begin:at].strip():
                out += [tree[:start] + leaf for leaf in _leaves(part)]
            begin = at + 1
        if depth == 0:
            break
    return out


def _resolved(path: str, own: str, known: set[str]) -> str | None:
    """Return the module that a path leads into; None for a path out of this crate."""
    first, *rest = path.split("::")
    here = own.split("::") if own else []
    match first:
        case "crate":
            here = []
        case "super":
            here = here[:-1]
            while rest and rest[0] == "super":
                here, rest = here[:-1], rest[1:]
        case "self":
            pass
        case _:
            rest = [first, *rest]
            if "::".join([*here, first]) not in known:
                return None
    name = list(here)
    for part in rest:
        if "::".join([*name, part]) not in known:
            break
        name.append(part)
    return "::".join(name)


def without_families(graph: Graph) -> Graph:
    """Return the graph without what a parent and its own child name of each other: these belong together."""
    return {name: {other for other in named if not _family(name, other)} for name, named in graph.items()}


def _family(one: str, other: str) -> bool:
    child, parent = max(one, other, key=len), min(one, other, key=len)
    return parent == child.rpartition("::")[0]
