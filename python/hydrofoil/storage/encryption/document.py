"""The text of `--encryption-provider-config` (apiserver `pkg/apis/apiserver/v1/types_encryption.go`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from hydrofoil import engine
from hydrofoil.go_text import quote

KINDS = {("apiserver.config.k8s.io/v1", "EncryptionConfiguration"), ("v1", "EncryptionConfig")}
GROUP = "apiserver.config.k8s.io"
OTHERS = {"AdmissionConfiguration", "AuthenticationConfiguration", "AuthorizationConfiguration", "TracingConfiguration"}
LARGEST = 1 << 20
"""The greatest size of the file, in bytes."""
Object = dict[str, Any]
Read = Callable[[Any, str, list[str]], Any]
"""Check a value at a path; add unknown members to the list. Raise ValueError."""


def read(path: str) -> bytes:
    """Return the content of the file. Raise ValueError with one line. It blocks."""
    failed = f"error while loading file: error reading encryption provider configuration file {quote(path)}"
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as e:
        raise ValueError(f"{failed}: open {path}: {(e.strerror or 'cannot be read').lower()}") from None
    if len(data) > LARGEST:
        raise ValueError(f"{failed}: it is larger than {LARGEST} bytes")
    if not data:
        text = f"error while loading file: encryption provider configuration file {quote(path)}"
        raise ValueError(f"{text} is empty")
    return data


def decode_document(data: bytes, path: str) -> Object:
    """Return the configuration in a text of YAML or JSON. Raise ValueError with one line."""
    failed = f"error decoding encryption provider configuration file {quote(path)}: "
    try:
        # As upstream's recognizer: a brace in front makes it JSON.
        whole = orjson.loads(data if data.lstrip().startswith(b"{") else engine.yaml_to_json(data))
    except engine.DecodeError as e:
        raise ValueError(failed + " ".join(e.message.split())) from None
    except ValueError:
        # The library's error quotes the text, which has keys.
        raise ValueError(f"{failed}it is no JSON") from None
    if not isinstance(whole, dict):
        text = f"couldn't get version/kind; json parse error: json: cannot unmarshal {_kind(whole)} into a struct"
        raise ValueError(failed + text)
    kind, version = whole.pop("kind", "") or "", whole.pop("apiVersion", "") or ""
    for name, found in (("Kind", kind), ("apiVersion", version)):
        if not found or not isinstance(found, str):
            # Upstream shows the whole file here.
            raise ValueError(f"{failed}Object '{name}' is missing")
    if (version, kind) not in KINDS:
        if version.startswith(f"{GROUP}/") and kind in OTHERS:
            raise ValueError(f"got unexpected config type: {version}, Kind={kind}")
        raise ValueError(f"{failed}no kind {quote(kind)} is registered for version {quote(version)}")
    unknown: list[str] = []
    try:
        found = _WHOLE(whole, "", unknown)
    except ValueError as e:
        raise ValueError(f"{failed}{e}") from None
    if unknown:
        raise ValueError(f"{failed}strict decoding error: {', '.join(unknown)}")
    return found if isinstance(found, dict) else {}


def _kind(value: Any) -> str:
    named = ((bool, "bool"), (str, "string"), (dict, "object"), (list, "array"))
    return next((name for kind, name in named if isinstance(value, kind)), "number")


def _plain(wanted: type, shown: str) -> Read:
    def read(value: Any, path: str, _: list[str]) -> Any:
        if value is not None and (not isinstance(value, wanted) or isinstance(value, bool)):
            raise ValueError(f"json: cannot unmarshal {_kind(value)} into Go struct field {path} of type {shown}")
        return value

    return read


def _list(read: Read, shown: str) -> Read:
    whole = _plain(list, shown)

    def each(value: Any, path: str, unknown: list[str]) -> Any:
        found = whole(value, path, unknown) or []
        return [read(item, f"{path}[{at}]", unknown) for at, item in enumerate(found)]

    return each


def _object(members: dict[str, Read]) -> Read:
    whole = _plain(dict, "struct")

    def each(value: Any, path: str, unknown: list[str]) -> Any:
        if whole(value, path, unknown) is None:
            return None
        prefix = f"{path}." if path else ""
        unknown += [f"unknown field {quote(prefix + name)}" for name in value if name not in members]
        return {name: read(value[name], prefix + name, unknown) for name, read in members.items() if name in value}

    return each


def _duration(value: Any, path: str, unknown: list[str]) -> float | None:
    text = _TEXT(value, path, unknown)
    if text is None:
        return None
    found = engine.duration(text)
    if found is None:
        raise ValueError(f"time: invalid duration {quote(text)}")
    return found


_TEXT = _plain(str, "string")
_KEYS = _object({"keys": _list(_object({"name": _TEXT, "secret": _TEXT}), "[]v1.Key")})
_KMS = _object(
    {
        "apiVersion": _TEXT,
        "name": _TEXT,
        "cachesize": _plain(int, "int32"),
        "endpoint": _TEXT,
        "timeout": _duration,
    }
)
_PROVIDER = _object(
    {"aesgcm": _KEYS, "aescbc": _KEYS, "secretbox": _KEYS, "identity": _object({}), "kms": _KMS},
)
_ENTRY = _object({"resources": _list(_TEXT, "[]string"), "providers": _list(_PROVIDER, "[]v1.ProviderConfiguration")})
_WHOLE = _object({"resources": _list(_ENTRY, "[]v1.ResourceConfiguration")})
