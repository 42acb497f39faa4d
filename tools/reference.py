"""The pages of reference, made from the code: `python -m tools.reference` writes `docs/reference` (`make docs`)."""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path

import hydrofoil
from hydrofoil import testing
from hydrofoil.controls.description import CALLS
from hydrofoil.options import flags
from hydrofoil.server.config import ROOMS

ROOT = Path(__file__).parent.parent
PLACE = ROOT / "docs" / "reference"
EXPECTED = ROOT / "tests" / "conformance" / "expected.txt"
HELP = re.compile(r"^# HELP (\S+) (?:\[(\w+)\] )?(.*)$", re.MULTILINE)
MEANINGS = """## Meanings

Some numbers are of something else than in kube-apiserver:

- `apiserver_storage_list_*`: each collection is read from its log once, at the start from etcd or a disk, in memory
  when it is first used and empty. These counters have that read, with the objects that the view had after it. All
  lists of clients are answered by the view (`apiserver_cache_list_*`): none goes to etcd, so that `fallback` of
  `apiserver_watch_cache_consistent_read_total` is always false.
- `apiserver_cache_list_fetched_objects_total`: the objects from the start of the page to the end of the namespace, as
  a cache without indexes reads them. A selector makes the server pass most of them by.
- `apiserver_watch_cache_read_wait_seconds`: with etcd also the waits of GETs and of the server itself; in memory and
  on a disk the view never lags, and lists count with 0 seconds.
- `apiserver_cel_*_duration_seconds`: the rules of definitions, of one schema or for one object together, in all
  servers of the process.
- `apiserver_admission_step_admission_duration_seconds_summary`: quantiles since the start, estimated from buckets of
  which each is half as wide again as the one before; kube-apiserver has those of the last hours.
- `apiserver_flowcontrol_watch_count_samples`: without requests of exempt levels, whose work is not estimated.
- `authentication_token_cache_active_fetch_count`: requests with the same token share only the call of a webhook, so
  that otherwise each one that is blocked has a fetch in flight.
"""
INTERNAL = frozenset(("begin", "core", "facts", "identify", "index", "number_for", "resolve"))
"""Members that are public to other modules of the package alone."""
TYPE = re.compile(r"^# TYPE (\S+) (\S+)$", re.MULTILINE)


def cell(text: str) -> str:
    """Return a text as a cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def of_flags() -> str:
    """Return a table of flags for each package."""
    source = "Made from the declarations in each room's `options.py` (`make docs`)."
    lines = ["# Flags of `hydrofoil serve`", "", source]
    for room in ROOMS:
        title = (room.__doc__ or "").rstrip(".")
        lines += ["", f"## {title}", "", "| flag | value | what it does |", "| --- | --- | --- |"]
        for flag in flags(room):
            names = ", ".join(f"`{name}`" for name in flag.names)
            value, text = flag.value.replace("|", "\\|"), flag.help.format(flag.default)
            lines.append(f"| {names} | `{value}` | {text} |")
    return "\n".join(lines) + "\n"


async def exposition() -> str:
    """Return the metrics of a server that has answered a list, a write and a watch."""
    async with hydrofoil.Server() as server, server.session() as session:
        path = "/api/v1/namespaces/default/configmaps"
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        await (await session.post(path, json=body)).read()
        await (await session.get(path)).read()
        async with session.get(path, params={"watch": "1"}) as stream:
            await stream.content.readline()
        async with session.get("/metrics") as answer:
            return await answer.text()


def of_metrics() -> str:
    """Return a table of the families of `/metrics`."""
    text = asyncio.run(exposition())
    types = dict(TYPE.findall(text))
    lines = [
        "# Metrics",
        "",
        "The families of `/metrics`, with upstream's names (`make docs`); others appear with their first use.",
    ]
    lines += ["", "| name | type | stability | meaning |", "| --- | --- | --- | --- |"]
    for name, stability, words in sorted(HELP.findall(text)):
        lines.append(f"| `{name}` | {types.get(name, '')} | {stability} | {cell(words)} |")
    return "\n".join((*lines, "", MEANINGS))


def of_controls() -> str:
    """Return a table of the controls over HTTP."""
    lines = [
        "# Controls over HTTP",
        "",
        "Below `/hydrofoil/v1`, with `--test-controls`; `/hydrofoil/v1/openapi.json` describes them.",
    ]
    lines += ["", "| call | status | what it does |", "| --- | --- | --- |"]
    lines += [f"| `{method.upper()} {path}` | {code} | {cell(text)} |" for method, path, code, text, _, _ in CALLS]
    return "\n".join(lines) + "\n"


def of_python() -> str:
    """Return the public names of the package with their signatures and docstrings."""
    lines = [
        "# Python",
        "",
        "`from hydrofoil import Server, StartError, ApiError, WaitTimeout` loads neither aiohttp nor the extension.",
        "`hydrofoil.testing` has the types of what a test gets: the fixture `hydrofoil` is a `TestServer`, whose calls",
        "about objects are plain, and to be awaited as `hydrofoil.aio`.",
    ]
    for name in ("Server", "StartError", "ApiError", "WaitTimeout"):
        found = getattr(hydrofoil, name)
        lines += ["", f"## {name}", "", inspect.cleandoc(found.__doc__ or "")]
        lines += members(found) if name == "Server" else []
    for name in testing.__all__:
        found = getattr(testing, name)
        lines += ["", f"## {name}", "", inspect.cleandoc(found.__doc__ or ""), *attributes(found)]
        lines += members(found)
    return "\n".join(lines) + "\n"


def members(found: type) -> list[str]:
    """Return the methods and properties of a class, those of the language excepted."""
    lines = []
    for member, value in inspect.getmembers(found):
        own = isinstance(value, property) or inspect.isfunction(value)
        if member.startswith("_") or member in INTERNAL or not own or not (doc := inspect.getdoc(value)):
            continue
        shown = member if isinstance(value, property) else f"{member}{signature(value)}"
        lines += ["", f"### `{shown}`", "", doc]
    return lines


def attributes(found: type) -> list[str]:
    """Return the attributes of a class that holds values, with their types."""
    if not (dataclasses.is_dataclass(found) or hasattr(found, "_fields")):
        return []
    lines = ["", "| attribute | type |", "| --- | --- |"]
    for name, kind in inspect.get_annotations(found).items():
        if name not in ("number", "stamp"):
            lines.append(f"| `{name}` | `{cell(str(kind))}` |")
    return lines


def signature(function: Callable[..., object]) -> str:
    """Return the parameters of a function, without `self`."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return "(...)"
    parameters = [parameter for name, parameter in found.parameters.items() if name not in ("self", "cls")]
    shown = str(found.replace(parameters=parameters)).replace("builtins.", "")
    # Annotations are texts; defaults that are keep their quotes.
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", shown)


def of_compatibility() -> str:
    """Return how many recorded answers of kube-apiserver each area gives."""
    source = "Steps of recordings of kube-apiserver 1.36 that give the same answer here (`make test` holds them)."
    lines = ["# Compatibility", "", source, "", "| area | same | of |", "| --- | ---: | ---: |"]
    total = [0, 0]
    for line in EXPECTED.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        name, same, whole = line.split()
        total = [total[0] + int(same), total[1] + int(whole)]
        lines.append(f"| {name} | {same} | {whole} |")
    lines.append(f"| **all** | **{total[0]}** | **{total[1]}** |")
    return "\n".join(lines) + "\n"


def of_rooms() -> str:
    """Return a list of the packages and crates, with the first sentence of the docstring of each."""
    package = Path(hydrofoil.__file__).parent
    lines = [
        "# Rooms",
        "",
        "Made from the docstrings of the packages and crates, which describe their files (`make docs`).",
        "",
        "## In Python",
        "",
    ]
    for path in sorted(package.glob("*/__init__.py")):
        summary = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]
        lines.append(f"- **{path.parent.name}**: {summary}")
    lines += ["", "## In Rust", ""]
    for path in sorted((package.parents[1] / "rust").glob("*/src/lib.rs")):
        text = path.read_text().partition("//!\n")[0]
        sentence = " ".join(line.removeprefix("//! ") for line in text.splitlines() if line.startswith("//!"))
        lines.append(f"- **{path.parents[1].name}**: {sentence}")
    return "\n".join(lines) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "flags": of_flags,
    "metrics": of_metrics,
    "controls": of_controls,
    "python": of_python,
    "compatibility": of_compatibility,
    "rooms": of_rooms,
}


def main() -> int:
    """Write all pages."""
    PLACE.mkdir(parents=True, exist_ok=True)
    for name, made in PAGES.items():
        (PLACE / f"{name}.md").write_text(made())
    return 0


if __name__ == "__main__":
    sys.exit(main())
