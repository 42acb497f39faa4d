"""ConversionReview requests, and checks of their responses (`pkg/apiserver/conversion`)."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import orjson

from hydrofoil.errors import ApiError
from hydrofoil.outbound.review import body_text, server_error

GROUP = "apiextensions.k8s.io"
SUPPORTED = ("v1", "v1beta1")
Object = dict[str, Any]


class ConversionFailed(ApiError):
    """500: a webhook is unreachable, or its response is invalid."""

    def __init__(self, text: str) -> None:
        super().__init__(500, "", text)


def supported_version(versions: list[str]) -> str:
    """Return the first version of ConversionReview that both sides support; empty if absent."""
    return next((v for v in versions if v in SUPPORTED), "")


def request(version: str, uid: str, objects: list[Object], api_version: str) -> bytes:
    """Return the review that requests objects in a version. Raise ConversionFailed."""
    if not version:
        raise ConversionFailed("no supported conversion review versions")
    asked = {"uid": uid, "desiredAPIVersion": api_version, "objects": objects}
    return orjson.dumps({"kind": "ConversionReview", "apiVersion": f"{GROUP}/{version}", "request": asked})


def objects_of_response(version: str, uid: str, answer: Object) -> list[Object]:
    """Return the objects of a response. Raise ConversionFailed."""
    found = f"{answer.get('apiVersion', '')}, Kind={answer.get('kind', '')}"
    wanted = f"{GROUP}/v1, Kind=ConversionReview"
    if version == "v1" and found != wanted:
        raise ConversionFailed(f"expected webhook response of {wanted}, got {found}")
    response = answer.get("response")
    if not isinstance(response, dict):
        raise ConversionFailed("no response provided")
    if version == "v1" and response.get("uid") != uid:
        raise ConversionFailed(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    result = response.get("result")
    result = result if isinstance(result, dict) else {}
    if result.get("status") != "Success":
        text = result.get("message") or f"response.result.status was '{result.get('status', '')}', not 'Success'"
        raise ConversionFailed(str(text))
    objects = response.get("convertedObjects")
    return [o for o in objects if isinstance(o, dict)] if isinstance(objects, list) else []


class Beyond(str):
    """The text of a number beyond the range of floats."""

    __slots__ = ()


def reread(data: bytes) -> Any:
    """Return JSON that has numbers beyond the range of floats, as `Beyond`; None for other texts.

    Upstream reads the objects of a response one by one, and names the one that it cannot read.
    """

    def number(text: str) -> float | Beyond:
        value = float(text)
        return value if math.isfinite(value) else Beyond(text)

    def constant(text: str) -> NoReturn:
        raise ValueError(text)

    try:
        return json.loads(data, parse_float=number, parse_int=number, parse_constant=constant)
    except (ValueError, RecursionError):
        return None


def unreadable(answer: Any) -> str:
    """Return Go's error of the first number in a value that no float holds; empty for none."""
    if isinstance(answer, Beyond):
        return f"json: cannot unmarshal number {answer} into Go value of type float64"
    parts = answer.values() if isinstance(answer, dict) else answer if isinstance(answer, list) else ()
    return next(filter(None, map(unreadable, parts)), "")


def refusal(body: Object | None, data: bytes) -> str:
    """Return client-go's text for a response that is not a success."""
    message = body.get("message") if body is not None and body.get("kind") == "Status" else None
    return str(message or server_error(body_text(data)))


def mismatch(original: Object, answer: Object, api_version: str) -> str:
    """Return a description of a forbidden change by a webhook (`validateConvertedObject`); empty for none."""
    if answer.get("apiVersion") != api_version:
        versions = f"(expected {api_version}, received {answer.get('apiVersion', '')})"
        return f"invalid object at index <i>: invalid groupVersion {versions}"
    if answer.get("kind") != original["kind"]:
        kinds = f"(expected {original['kind']}, received {answer.get('kind', '')})"
        return f"invalid object at index <i>: invalid kind {kinds}"
    metadata = answer.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    for key, word in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        was, now = original["metadata"].get(key, ""), given.get(key, "")
        if was != now:
            return f"invalid object: must have the same {word}: {was} != {now}"
    return ""


def restore_metadata(original: Object, answer: Object, kind: str) -> Object:
    """Return the response with the metadata of the original, labels and annotations aside (`restoreObjectMeta`)."""
    given = answer.get("metadata")
    if not isinstance(given, dict):
        found = "missing metadata" if given is None else f"invalid metadata of type {type(given).__name__}"
        raise ConversionFailed(f"conversion webhook for {kind} returned invalid metadata: {found} in converted object")
    metadata = dict(original["metadata"])
    for key in ("labels", "annotations"):
        values = given.get(key)
        if values is None:
            metadata.pop(key, None)
            continue
        wrong = not isinstance(values, dict) or next((k for k, v in values.items() if not isinstance(v, str)), None)
        if wrong:
            why = f"invalid metadata.{key} in converted object"
            raise ConversionFailed(f"conversion webhook for {kind} returned invalid metadata: {why}")
        metadata[key] = values
    return {**answer, "metadata": metadata}
