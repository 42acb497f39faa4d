"""The configuration of plug-ins in a file (apiserver `pkg/admission/config.go`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from hydrofoil import engine
from hydrofoil.admission.options import ORDER
from hydrofoil.go_text import quote

GROUP = "apiserver.config.k8s.io"
VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1alpha1", "apiserver.k8s.io/v1alpha1")
LARGEST = 1 << 20
"""The greatest size in bytes of a file."""
WEBHOOKS = "WebhookAdmissionConfiguration"
MEMBERS = frozenset(("kind", "apiVersion", "plugins"))
Object = dict[str, Any]


def read(path: str) -> Object:
    """Return the configuration of each plug-in that a file names. Raise ValueError with one line.

    It blocks: read it at start.
    """
    whole = _document(Path(path), path)
    kind, version = whole.get("kind", ""), whole.get("apiVersion", "")
    if kind != "AdmissionConfiguration" or version not in VERSIONS:
        raise ValueError(f"no kind {quote(str(kind))} is registered for version {quote(str(version))} in {path}")
    _check_members(whole, MEMBERS, "", path)
    listed = whole.get("plugins") or []
    if not isinstance(listed, list):
        raise ValueError(f"{path}: plugins must be a list")
    found: Object = {}
    for at, each in enumerate(listed):
        if not isinstance(each, dict):
            raise ValueError(f"{path}: plugins[{at}] must be an object")
        _check_members(each, frozenset(("name", "path", "configuration")), f"plugins[{at}].", path)
        name = each.get("name", "")
        if name not in ORDER:
            raise ValueError(f"admission plugin {quote(str(name))} is unknown")
        found[name] = _of_plugin(each, Path(path).parent)
    return found


def _of_plugin(raw: Object, folder: Path) -> Object:
    """Return the configuration of one plug-in, with the paths in it resolved."""
    given = raw.get("configuration")
    if given is None and raw.get("path"):
        file = folder / raw["path"]
        given, folder = _document(file, str(file)), file.parent
    found: Object = given if isinstance(given, dict) else {}
    if found.get("kind") == WEBHOOKS and found.get("kubeConfigFile"):
        found = {**found, "kubeConfigFile": str(folder / found["kubeConfigFile"])}
    return found


def _check_members(raw: Object, members: frozenset[str], at: str, path: str) -> None:
    if unknown := sorted(set(raw) - members):
        raise ValueError(f"strict decoding error: unknown field {quote(at + unknown[0])} in {path}")


def _document(file: Path, shown: str) -> Object:
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as e:
        why = (e.strerror or "cannot be read").lower()
        raise ValueError(f"unable to read admission control configuration from {quote(shown)} [{why}]") from None
    if len(data) > LARGEST:
        raise ValueError(f"{shown} is larger than {LARGEST} bytes")
    try:
        found = orjson.loads(engine.yaml_to_json(data))
    except (engine.DecodeError, ValueError) as e:
        line = " ".join(str(e).split())
        raise ValueError(f"unable to read admission control configuration from {quote(shown)} [{line}]") from None
    if not isinstance(found, dict):
        raise ValueError(f"{shown} is not an object")
    return found
