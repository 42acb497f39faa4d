"""AdmissionReviews: requests, and checks of their responses (apiserver `pkg/admission/plugin/webhook/request`)."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import orjson
from msgspec import Struct, field

from hydrofoil.errors import ApiError

GROUP = "admission.k8s.io"
KIND = "AdmissionReview"
Object = dict[str, Any]


class NotDecoded(ValueError):
    """An answer that is no AdmissionReview of the version that was asked for."""


class NotValid(ValueError):
    """An AdmissionReview that breaks the protocol."""


class Reply(Struct):
    """A checked answer."""

    allowed: bool
    status: Object | None = None
    """The Status of a refusal."""
    patch: bytes = b""
    patch_type: str = ""
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)


def body(version: str, uid: str, request: Object, new: bytes | None, old: bytes | None) -> bytes:
    """Return a review as it is sent; the objects are JSON already."""
    whole = {
        "uid": uid,
        **request,
        "object": None if new is None else orjson.Fragment(new),
        "oldObject": None if old is None else orjson.Fragment(old),
    }
    return orjson.dumps({"kind": KIND, "apiVersion": f"{GROUP}/{version}", "request": whole})


def reply(answer: Any, version: str, uid: str, *, mutating: bool) -> Reply:
    """Return a decoded answer, checked (`VerifyAdmissionResponse`). Raise NotDecoded and NotValid."""
    if not isinstance(answer, dict):
        raise NotDecoded(
            "couldn't get version/kind; json parse error: json: cannot unmarshal into Go value of a struct"
        )
    api_version, kind = _text(answer, "apiVersion"), _text(answer, "kind")
    typed = bool(api_version or kind)
    if typed and (api_version, kind) != (f"{GROUP}/{version}", KIND):
        raise NotDecoded(f"the answer is {kind} of {api_version}, not {KIND} of {GROUP}/{version}")
    response = answer.get("response")
    if response is None:
        raise NotValid("webhook response was absent")
    if not isinstance(response, dict):
        raise NotDecoded(f"json: cannot unmarshal response into Go value of type {version}.AdmissionResponse")
    found = _decode_reply(response)
    given = _text(response, "patchType")
    if version == "v1":
        if (got := _text(response, "uid")) != uid:
            raise NotValid(f'expected response.uid="{uid}", got "{got}"')
        if not typed:
            raise NotValid(f"expected webhook response of {GROUP}/v1, Kind={KIND}, got /, Kind=")
        _check_patch(found, given, "patchType" in response and response["patchType"] is not None, mutating=mutating)
        found.patch_type = given
    else:
        # In v1beta1 there is no other type.
        found.patch_type = "JSONPatch" if found.patch else ""
    return found


def _check_patch(found: Reply, given: str, typed: bool, *, mutating: bool) -> None:
    if not mutating:
        if found.patch:
            raise NotValid("validating webhook may not return response.patch")
        if typed:
            raise NotValid("validating webhook may not return response.patchType")
        return
    if found.patch and not typed:
        raise NotValid("webhook returned response.patch but not response.patchType")
    if not found.patch and typed:
        raise NotValid("webhook returned response.patchType but not response.patch")
    if typed and not given:
        raise NotValid(f'webhook returned invalid response.patchType of "{given}"')


def _decode_reply(response: Object) -> Reply:
    allowed = response.get("allowed")
    if allowed is not None and not isinstance(allowed, bool):
        raise NotDecoded("json: cannot unmarshal response.allowed into Go value of type bool")
    status = response.get("status")
    if status is not None and not isinstance(status, dict):
        raise NotDecoded("json: cannot unmarshal response.status into Go value of type v1.Status")
    if status is not None:
        _check_status(status)
    warnings = response.get("warnings") or []
    if not isinstance(warnings, list) or not all(isinstance(each, str) for each in warnings):
        raise NotDecoded("json: cannot unmarshal response.warnings into Go value of type []string")
    annotations = response.get("auditAnnotations") or {}
    if not isinstance(annotations, dict) or not all(isinstance(each, str) for each in annotations.values()):
        raise NotDecoded("json: cannot unmarshal response.auditAnnotations into Go value of type map[string]string")
    try:
        patch = base64.b64decode(_text(response, "patch").replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        raise NotDecoded("illegal base64 data in response.patch") from None
    return Reply(bool(allowed), status, patch, "", warnings, annotations)


def _check_status(status: Object) -> None:
    code = status.get("code")
    if code is not None and (not isinstance(code, int) or isinstance(code, bool) or not -(2**31) <= code < 2**31):
        raise NotDecoded("json: cannot unmarshal response.status.code into Go value of type int32")
    for member in ("status", "message", "reason"):
        _text(status, member)
    for member in ("details", "metadata"):
        if not isinstance(status.get(member) or {}, dict):
            raise NotDecoded(f"json: cannot unmarshal response.status.{member} into Go value of a struct")


def _text(within: Object, member: str) -> str:
    value = within.get(member)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise NotDecoded(f"json: cannot unmarshal {member} into Go value of type string")
    return value


class Denied(ApiError):
    """The refusal of a webhook, as it has put it (`webhook/errors.ToStatusErr`)."""

    def __init__(self, name: str, status: Object | None) -> None:
        given = status or {}
        code = given.get("code") or 0
        reason, message = given.get("reason") or "", given.get("message") or ""
        head = f'admission webhook "{name}" denied the request'
        text = f"{head}: {message or reason}" if message or reason else f"{head} without explanation"
        details = _details(given.get("details"))
        later = details.pop("retryAfterSeconds", 0) if details else 0
        super().__init__(max(code, 400), reason, text, details or None, retry_after=later)
        self._metadata: Object = {
            key: value
            for key in ("selfLink", "resourceVersion", "continue", "remainingItemCount")
            if (value := (given.get("metadata") or {}).get(key))
        }

    def status(self) -> Object:
        """Return the Status as in a body."""
        return super().status() | {"metadata": self._metadata}


def _details(given: Object | None) -> Object:
    """Return the known members of the details of a Status."""
    if not given:
        return {}
    texts = {key: given[key] for key in ("name", "group", "kind", "uid") if isinstance(given.get(key), str)}
    found: Object = {key: value for key, value in texts.items() if value}
    causes = given.get("causes")
    if isinstance(causes, list):
        found["causes"] = [
            {key: each[key] for key in ("reason", "message", "field") if isinstance(each.get(key), str)}
            for each in causes
            if isinstance(each, dict)
        ]
    later = given.get("retryAfterSeconds")
    if isinstance(later, int) and not isinstance(later, bool) and later > 0:
        found["retryAfterSeconds"] = later
    return found
