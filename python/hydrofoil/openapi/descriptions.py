"""Descriptions of built-in types and their fields, from the installed package lightkube-models (extra `docs`).

The package has them in the docstrings of its classes. Its files are read as text when a document needs them: nothing of
it is imported, and where it is absent the documents have no descriptions.
"""

from __future__ import annotations

import ast
import logging
import re
from collections.abc import Iterator
from functools import lru_cache
from inspect import cleandoc
from pathlib import Path
from typing import Any, NamedTuple

LOG = logging.getLogger("hydrofoil")
PACKAGE = "lightkube-models"
RELEASE = "1.36."
"""The start of the versions of the package that describe what is served."""
LARGEST = 4 << 20
"""The greatest size of a file in bytes."""
FILES = {
    "io.k8s.apimachinery.pkg.apis.meta": "meta",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions": "apiextensions",
    "io.k8s.kube-aggregator.pkg.apis.apiregistration": "apiregistration",
}
"""The files of types outside of `io.k8s.api`, by the part of the name before version and type."""
FIELD = re.compile(r"^\* \*\*(\w+)\*\* ``[^`]*`` -(.*?)(?=^\* \*\*\w+\*\* ``|\Z)", re.MULTILINE | re.DOTALL)
PARAMETERS = "**parameters**"


class Described(NamedTuple):
    """The texts of a type."""

    text: str
    fields: dict[str, str]


@lru_cache(maxsize=1)
def folder() -> Path | None:
    """Return the folder of the package's files; None if it is not installed."""
    # A start does without: it is wanted with the first document.
    from importlib import metadata

    try:
        found = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return None
    if not found.version.startswith(RELEASE):
        LOG.warning("%s %s does not describe Kubernetes %sx", PACKAGE, found.version, RELEASE)
    return Path(str(found.locate_file("lightkube/models")))


def place(name: str) -> tuple[str, str]:
    """Return the file and the class of a type such as `io.k8s.api.core.v1.Pod`; empty for one that has no file."""
    module, _, kind = name.rpartition(".")
    if module == "io.k8s.apimachinery.pkg.version":
        return "version", kind
    group, _, version = module.rpartition(".")
    if group in FILES:
        return f"{FILES[group]}_{version}", kind
    if group.startswith("io.k8s.api."):
        return f"{group.removeprefix('io.k8s.api.')}_{version}", kind
    return "", ""


@lru_cache(maxsize=128)
def of_file(name: str) -> dict[str, Described]:
    """Return the texts of the types in a file; of one that cannot be read, none, with a line in the log."""
    where = folder()
    if where is None:
        return {}
    path = where / f"{name}.py"
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"more than {LARGEST} bytes")
        return dict(classes(ast.parse(path.read_text("utf-8"))))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError) as e:
        LOG.warning("no descriptions from %s: %s", path, e)
        return {}


def classes(tree: ast.Module) -> Iterator[tuple[str, Described]]:
    """Yield the types of a file."""
    for found in tree.body:
        if not isinstance(found, ast.ClassDef):
            continue
        head, _, listed = (ast.get_docstring(found, clean=True) or "").partition(PARAMETERS)
        renamed = dict(filter(None, map(json_name, found.body)))
        fields = {
            renamed.get(field, field): unwrap_paragraphs(words) for field, words in FIELD.findall(cleandoc(listed))
        }
        yield found.name, Described(unwrap_paragraphs(head), {field: words for field, words in fields.items() if words})


def json_name(statement: ast.stmt) -> tuple[str, str] | None:
    """Return the name of a field in Python and in JSON, where these differ: `field(metadata={"json": "from"})`."""
    match statement:
        case ast.AnnAssign(
            target=ast.Name(id=own),
            value=ast.Call(keywords=[ast.keyword(value=ast.Dict(values=[ast.Constant(value=str(named))])), *_]),
        ):
            return own, named
    return None


def unwrap_paragraphs(text: str) -> str:
    """Return a text with each paragraph in one line."""
    paragraphs = re.split(r"\n[ \t]*\n", text.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def describe(schemas: dict[str, Any], *, v2: bool) -> bool:
    """Add the texts to the schemas of a document; report whether there are any."""
    found = False
    for name, schema in schemas.items():
        file, kind = place(name)
        described = of_file(file).get(kind) if file else None
        if described is None:
            continue
        found = True
        if described.text:
            schema.setdefault("description", described.text)
        properties = schema.get("properties", {})
        for field, text in described.fields.items():
            if field in properties:
                properties[field] = with_text(properties[field], text, v2=v2)
    return found


def with_text(schema: dict[str, Any], text: str, *, v2: bool) -> dict[str, Any]:
    """Return the schema of a property with its description; in v3 a reference has no siblings."""
    if "description" in schema:
        return schema
    if "$ref" in schema and not v2:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return {"allOf": [{"$ref": schema["$ref"]}], "description": text, **rest}
    return {"description": text, **schema}
