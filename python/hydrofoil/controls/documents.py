"""Objects to be applied: from files, folders, texts, dicts and lists."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from hydrofoil import engine
from hydrofoil.errors import ApiError

SUFFIXES = (".yaml", ".yml", ".json")
BETWEEN = re.compile(rb"^---(?:[ \t].*)?$", re.MULTILINE)
Source = str | os.PathLike[str] | dict[str, Any] | Sequence[dict[str, Any]]
"""A path, a manifest as a text (`is_manifest`), or objects."""
RULE = "a text is a manifest if it has a line break or ': ', or begins with '{' or '['"


class Document(NamedTuple):
    """An object and where it comes from."""

    origin: str
    content: dict[str, Any]


def invalid(origin: str, why: str) -> ApiError:
    """Return the error of a document that is no object."""
    return ApiError(400, "BadRequest", f"{origin}: {why}")


def is_manifest(text: str) -> bool:
    """Report whether a text is a manifest, by its form alone; otherwise it is a path, whatever there is on the disk.

    >>> is_manifest("kind: ConfigMap"), is_manifest('{"kind":"ConfigMap"}'), is_manifest("crds/boats.yaml")
    (True, True, False)
    """
    return "\n" in text or ": " in text or text.lstrip().startswith(("{", "["))


def resolve_path(source: Source, folder: Path) -> Source:
    """Return a source whose path, if it is one, begins at a folder."""
    if isinstance(source, os.PathLike) or (isinstance(source, str) and not is_manifest(source)):
        # The working folder is asked for where it counts alone: a text or an object has no place.
        return (folder / source).absolute()
    return source


def gather_documents(sources: Iterable[Source]) -> list[Document]:
    """Return the objects of sources, in their order; members of lists are objects of their own.

    Raise ApiError with the file and the number of the document, OSError for files.
    """
    found: list[Document] = []
    for number, source in enumerate(sources, 1):
        if isinstance(source, dict):
            found += _flat(f"object {number}", source)
        elif isinstance(source, str) and is_manifest(source):
            found += parse_documents(source.encode(), f"text {number}")
        elif isinstance(source, str | os.PathLike):
            for path in files_of(Path(source)):
                found += parse_documents(path.read_bytes(), str(path))
        else:
            for at, item in enumerate(source, 1):
                found += _flat(f"object {number}.{at}", item)
    return found


def files_of(path: Path) -> list[Path]:
    """Return the file of a path, or the manifests of a folder and of those in it. Raise FileNotFoundError."""
    if not path.is_dir():
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, f"No such file or directory, and no manifest ({RULE})", str(path))
        return [path]
    return sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())


def parse_documents(data: bytes, origin: str) -> list[Document]:
    """Return the objects of a text in YAML or JSON. Raise ApiError."""
    found: list[Document] = []
    number = 0
    for text in BETWEEN.split(data):
        if not text.strip():
            continue
        number += 1
        where = f"{origin}, document {number}"
        try:
            content = orjson.loads(engine.yaml_to_json(text))
        except (ValueError, engine.DecodeError) as e:
            raise invalid(where, str(e)) from None
        if content is not None:
            found += _flat(where, content)
    return found


def _flat(origin: str, content: Any) -> list[Document]:
    if isinstance(content, list):
        return [document for item in content for document in _flat(origin, item)]
    if not isinstance(content, dict):
        raise invalid(origin, f"it is no object, but {content!r}")
    kind, version = content.get("kind"), content.get("apiVersion")
    if not (isinstance(kind, str) and kind and isinstance(version, str)):
        raise invalid(origin, "an object needs apiVersion and kind")
    if kind == "Kustomization" and version.startswith("kustomize.config.k8s.io/"):
        raise invalid(origin, "kustomizations are not evaluated: apply what `kubectl kustomize` prints")
    items = content.get("items")
    if kind.endswith("List") and isinstance(items, list):
        # Items of an answer name neither (unstructured.go `decodeToList`).
        own = {"apiVersion": version, "kind": kind.removesuffix("List")} if kind != "List" else {}
        return [
            document
            for at, item in enumerate(items, 1)
            for document in _flat(f"{origin}, item {at}", {**own, **item} if isinstance(item, dict) else item)
        ]
    return [Document(origin, content)]


def rank_documents(documents: Iterable[Document]) -> list[Document]:
    """Return definitions, then namespaces, then the rest."""
    ranks = {"CustomResourceDefinition": 0, "Namespace": 1}
    return sorted(documents, key=lambda document: ranks.get(document.content["kind"], 2))
