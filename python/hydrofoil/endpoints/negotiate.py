"""Content negotiation (apiserver `pkg/endpoints/handlers/negotiation`)."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from hydrofoil.errors import ApiError, not_acceptable

ACCEPTED = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
JSON, YAML, PROTOBUF = ACCEPTED
CBOR = "application/cbor"
"""Supported with the feature gate `CBORServingAndStorage` (MT-17)."""
TRANSFORMS = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})
PATCHES = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}


def media_types(cbor: bool) -> tuple[str, ...]:
    """Return the supported media types in upstream's order."""
    return (*ACCEPTED, CBOR) if cbor else ACCEPTED


class Accepted(Struct, frozen=True):
    """A negotiated form: the media type, and the transform with its version of meta.k8s.io, if any."""

    media: str
    transform: str = ""
    version: str = ""
    pretty: bool = False

    @property
    def protobuf(self) -> bool:
        """Report whether the body is protobuf."""
        return self.media == PROTOBUF

    @property
    def cbor(self) -> bool:
        """Report whether the body is CBOR."""
        return self.media == CBOR

    @property
    def binary(self) -> bool:
        """Report whether the body is binary."""
        return self.protobuf or self.cbor

    @property
    def yaml(self) -> bool:
        """Report whether the body is YAML."""
        return self.media == "application/yaml"


PLAIN = Accepted("application/json")


def _clauses(accept: str) -> list[tuple[str, dict[str, str]]]:
    """Return clauses by falling quality, concrete types first among equals; skip those with invalid syntax."""
    out: list[tuple[float, int, int, str, dict[str, str]]] = []
    for order, clause in enumerate(accept.split(",")):
        parts = clause.strip().split(";")
        media = parts[0].strip()
        if "/" not in media and media != "*":
            continue
        params: dict[str, str] = {}
        quality = 1.0
        for part in parts[1:]:
            key, _, value = part.strip().partition("=")
            if key == "q":
                try:
                    quality = float(value)
                except ValueError:
                    quality = 1.0
            elif key:
                params[key] = value
        wild = 2 if media == "*" else media.count("*")
        out.append((-quality, wild, order, media, params))
    out.sort(key=lambda c: c[:3])
    return [(media, params) for *_, media, params in out]


def _fits(media: str, served: str) -> bool:
    """Report whether a clause matches a media type that a route produces."""
    return media in (served, "*/*")


def _met(media: str, served: str) -> bool:
    """Report whether a clause matches a serializer."""
    return media in (served, "*", "*/*", "application/*")


STREAMS = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")


@lru_cache(maxsize=512)
def negotiate(
    accept: str,
    *,
    watchable: bool = False,
    custom: bool = False,
    cbor: bool = False,
    untransformed: bool = False,
    tabled: bool = True,
    routed: bool = True,
) -> Accepted:
    """Negotiate the form of an answer.

    Custom resources have no protobuf, errors and documents no transform. Objects that are never stored are not
    `tabled`: they have no printer. A `routed` request has a route that produces certain types, which are matched first.

    Raise ApiError 406 if no clause matches (MT-02, MT-08, MT-10).
    """
    if not accept.strip():
        return PLAIN
    clauses = _clauses(accept)
    types = media_types(cbor)
    # Routes of custom resources accept any type; those of built-in ones produce streams too.
    produced = (*types, "application/cbor-seq") if watchable and cbor else types
    if routed and not custom and not any(_fits(media, served) for media, _ in clauses for served in produced):
        available = types + (STREAMS if watchable else ())
        text = f"406: Not Acceptable\n\nAvailable representations: {', '.join(available)}"
        raise ApiError(406, "NotAcceptable", text, {})
    for media, params in clauses:
        for served in types:
            if not _met(media, served):
                continue
            if params.get("stream", "") not in (("",) if served == YAML else ("", "watch")):
                continue
            transform = params.get("as", "")
            if transform == "Table" and (served in (PROTOBUF, CBOR) or not tabled):
                continue
            if served == PROTOBUF and custom and not transform:
                continue
            if not params.keys().isdisjoint(("as", "g", "v")) and (
                untransformed
                or transform not in TRANSFORMS
                or params.get("g") != "meta.k8s.io"
                or params.get("v") not in ("v1", "v1beta1")
            ):
                continue
            pretty = params.get("pretty") == "1"
            return Accepted(served, transform, params.get("v", "") if transform else "", pretty)
    raise not_acceptable(types)


@lru_cache(maxsize=128)
def negotiate_aggregated(accept: str, group: str, version: str, kind: str) -> tuple[str, bool]:
    """Return the media type of aggregated discovery, of that type, and whether it is indented; empty for the documents
    of old (`endpoints/discovery/aggregated/negotiation.go`)."""
    for media, params in _clauses(accept):
        for served in ACCEPTED:
            if not _met(media, served) or "sv" in params or params.get("stream", "") not in ("", "watch"):
                continue
            asked = [params.get(name) for name in ("g", "v", "as")]
            if asked == [None] * 3:
                return "", False
            if asked == [group, version, kind]:
                return served, params.get("pretty") == "1"
    return "", False


def negotiate_json(accept: str) -> None:
    """Raise ApiError 406 for a JSON-only document if the client does not accept JSON."""
    if accept.strip() and not any(_fits(media, JSON) for media, _ in _clauses(accept)):
        raise ApiError(406, "NotAcceptable", f"406: Not Acceptable\n\nAvailable representations: {JSON}", {})


TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
MEDIA = re.compile(rf"\s*({TOKEN}(?:/{TOKEN})?)\s*((?:;\s*{TOKEN}=(?:{TOKEN}|\"(?:[^\"\\]|\\.)*\")\s*)*);?\s*")


@lru_cache(maxsize=128)
def parsed_media(content_type: str) -> str:
    """Return the media type of a Content-Type, empty if its parameters are malformed (Go's `mime.ParseMediaType`)."""
    found = MEDIA.fullmatch(content_type)
    return found[1].lower() if found else ""


def body_media(content_type: str, *, custom: bool = False, cbor: bool = False) -> str:
    """Return `json`, `yaml`, `protobuf` or `cbor` for a request body. Raise ApiError 415 (MT-04, MT-07, MT-17)."""
    media = "application/json" if not content_type else parsed_media(content_type)
    if media == JSON:
        return "json"
    if media == YAML:
        return "yaml"
    if media == PROTOBUF and not custom:
        return "protobuf"
    if media == CBOR and cbor:
        return "cbor"
    known = ", ".join(media_types(cbor))
    text = f"the body of the request was in an unknown format - accepted media types include: {known}"
    raise ApiError(415, "UnsupportedMediaType", text)


def patch_kind(content_type: str, *, custom: bool = False, cbor: bool = False) -> str:
    """Return the kind of a patch. Raise ApiError 415 (UP-04); only the text before `;` counts, spaces included."""
    media = content_type.partition(";")[0]
    if media == "application/apply-patch+cbor" and cbor:
        return "apply-cbor"
    kind = PATCHES.get(media)
    if custom and kind in (None, "strategic"):
        # There is no Go type whose tags define the merge.
        known = (media for media, name in PATCHES.items() if name != "strategic")
        text = "the body of the request was in an unknown format - accepted media types include: " + ", ".join(known)
        raise ApiError(415, "UnsupportedMediaType", text)
    if kind is None:
        raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    return kind
