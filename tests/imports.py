"""Which files import which, imports for types included."""

from __future__ import annotations

import ast
from pathlib import Path

Graph = dict[str, set[str]]


def graph(package: Path) -> Graph:
    """Return the modules of a package and those of its own that each imports, wherever in the file."""
    files = {_name(package, path): path for path in sorted(package.rglob("*.py"))}
    return {name: _imported(path, set(files)) - {name} for name, path in files.items()}


def _name(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(path: Path, known: set[str]) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names} & known
            # A package of which only modules are taken is not itself meant.
            found |= below if len(below) == len(node.names) else below | {node.module}
    return found & known


def circles(graph: Graph) -> list[list[str]]:
    """Return the groups of modules that reach each other."""
    reached = {name: _reached(graph, name) for name in graph}
    groups = {frozenset(other for other in reached[name] if name in reached[other]) for name in graph}
    return sorted(sorted(group) for group in groups if group)


def _reached(graph: Graph, start: str) -> set[str]:
    found: set[str] = set()
    left = list(graph[start])
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += graph[name]
    return found
