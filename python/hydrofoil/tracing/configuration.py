"""The configuration of tracing in a file (apiserver `pkg/server/options/tracing.go`, component-base `tracing/api`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson

from hydrofoil import engine
from hydrofoil.go_text import quote

GROUP = "apiserver.config.k8s.io"
VERSIONS = tuple(f"{GROUP}/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
KIND = "TracingConfiguration"
WHOLE = 1_000_000
SCHEMES = ("dns", "unix", "unix-abstract")
LARGEST = 1 << 20
"""The greatest size in bytes of a file."""
DECODING = "failed to read tracing config: unable to decode tracing configuration data: "


class Settings(NamedTuple):
    """The collector, and how much it gets."""

    endpoint: str = "localhost:4317"
    """In gRPC's syntax of names."""
    rate: int = 0
    """Of a million requests without a decision of their client, how many are sampled."""


def read(path: str) -> Settings:
    """Return the settings in a file. Raise ValueError with one line.

    It blocks: read it at start.
    """
    file = Path(path)
    if not file.exists():
        raise ValueError(f"tracing-config-file {path} does not exist")
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as e:
        why = f"open {path}: {(e.strerror or 'cannot be read').lower()}"
        text = f"unable to read tracing configuration from {quote(path)}: {why}"
        raise ValueError(f"failed to read tracing config: {text}") from None
    if len(data) > LARGEST:
        raise ValueError(f"{path} is larger than {LARGEST} bytes")
    return decode(data)


def decode(data: bytes) -> Settings:
    """Return the settings in a text of YAML or JSON. Raise ValueError."""
    try:
        whole = orjson.loads(engine.yaml_to_json(data)) if data.strip() else {}
    except (engine.DecodeError, ValueError) as e:
        raise ValueError(DECODING + " ".join(str(e).split())) from None
    if not isinstance(whole, dict):
        raise ValueError(f"{DECODING}couldn't get version/kind; json parse error: json: cannot unmarshal into a struct")
    kind, version = whole.pop("kind", "") or "", whole.pop("apiVersion", "") or ""
    if not kind:
        raise ValueError(f"{DECODING}Object 'Kind' is missing in '{data.decode(errors='replace').strip()}'")
    if not version:
        raise ValueError(f"{DECODING}Object 'apiVersion' is missing in '{data.decode(errors='replace').strip()}'")
    if kind != KIND or version not in VERSIONS:
        raise ValueError(f"{DECODING}no kind {quote(str(kind))} is registered for version {quote(str(version))}")
    unknown = [f"unknown field {quote(name)}" for name in whole if name not in ("endpoint", "samplingRatePerMillion")]
    if unknown:
        raise ValueError(f"{DECODING}strict decoding error: {', '.join(unknown)}")
    endpoint, rate = whole.get("endpoint"), whole.get("samplingRatePerMillion")
    where = f"json: cannot unmarshal {{}} into Go struct field {KIND}.{{}} of type {{}}"
    if endpoint is not None and not isinstance(endpoint, str):
        raise ValueError(DECODING + where.format(kind_of(endpoint), "endpoint", "string"))
    if rate is not None and (not isinstance(rate, int) or isinstance(rate, bool)):
        raise ValueError(DECODING + where.format(kind_of(rate), "samplingRatePerMillion", "int32"))
    found = Settings(endpoint or Settings.endpoint, rate or 0) if endpoint else Settings(rate=rate or 0)
    if problems := [*_rate(rate), *_endpoint(endpoint)]:
        listed = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        raise ValueError(f"failed to validate tracing configuration: {listed}")
    return found


def kind_of(value: Any) -> str:
    """Return what Go's decoder calls a value."""
    named = ((bool, "bool"), (str, "string"), (dict, "object"), (list, "array"))
    return next((name for kind, name in named if isinstance(value, kind)), "number")


def _rate(rate: int | None) -> list[str]:
    if rate is not None and rate < 0:
        return [f"samplingRatePerMillion: Invalid value: {rate}: sampling rate must be positive"]
    if rate is not None and rate > WHOLE:
        why = "sampling rate per million must be less than or equal to one million"
        return [f"samplingRatePerMillion: Invalid value: {rate}: {why}"]
    return []


def _endpoint(endpoint: str | None) -> list[str]:
    if endpoint is None:
        return []
    whole = endpoint if "//" in endpoint else f"dns://{endpoint}"
    try:
        scheme = urlsplit(whole).scheme
    except ValueError as e:
        return [f"endpoint: Invalid value: {quote(whole)}: {e}"]
    if scheme in SCHEMES:
        return []
    page = "See https://github.com/grpc/grpc/blob/master/doc/naming.md"
    why = f"unsupported scheme: {scheme}.  Options are none, dns, unix, or unix-abstract.  {page}"
    return [f"endpoint: Invalid value: {quote(whole)}: {why}"]
