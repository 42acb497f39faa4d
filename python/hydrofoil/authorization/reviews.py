"""SubjectAccessReviews that ask a webhook (apiserver `plugin/pkg/authorizer/webhook/webhook.go`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.authorization.selectors import encode_requirements, selection
from hydrofoil.request import RequestInfo, User, Verdict

GROUP = "authorization.k8s.io"
KIND = "SubjectAccessReview"
LONGEST = 10000
"""An answer to a request whose attributes have as many characters is not kept (`maxControlledAttrCacheSize`)."""
BOTH = "webhook subject access review returned both allow and deny response"
Object = dict[str, Any]


def attributes(info: RequestInfo) -> Object:
    """Return the attributes of a resource request as a review has them: those that are empty left out."""
    found: Object = {
        "namespace": info.scope,
        "verb": info.verb,
        "group": info.group,
        "version": info.version,
        "resource": info.resource,
        "subresource": info.subresource,
        "name": info.subject,
    }
    found = {key: value for key, value in found.items() if value}
    selected = selection(info)
    if selected.fields:
        found["fieldSelector"] = {"requirements": encode_requirements(selected.fields)}
    if selected.labels:
        found["labelSelector"] = {"requirements": encode_requirements(selected.labels)}
    return found


def spec(user: User, info: RequestInfo) -> Object:
    """Return the spec of a review in v1."""
    found: Object = {}
    if info.resourceful:
        found["resourceAttributes"] = attributes(info)
    else:
        found["nonResourceAttributes"] = {k: v for k, v in (("path", info.path), ("verb", info.verb)) if v}
    if user.name:
        found["user"] = user.name
    if user.groups:
        found["groups"] = list(user.groups)
    if user.extra:
        found["extra"] = {key: list(user.extra[key]) for key in sorted(user.extra)}
    if user.uid:
        found["uid"] = user.uid
    return found


def encode_json(value: Any) -> bytes:
    """Return JSON; bytes of a client that are not UTF-8 become U+FFFD, as Go writes them."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(_readable(value))


def _readable(value: Any) -> Any:
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)
    if isinstance(value, dict):
        return {_readable(key): _readable(each) for key, each in value.items()}
    return [_readable(each) for each in value] if isinstance(value, list) else value


def key_of(review: Object) -> bytes:
    """Return the key of a kept answer: the whole spec, as upstream has it.

    The user chooses most of it: its length is bounded by `may_be_kept` and by that of headers.
    """
    return encode_json(review)


def may_be_kept(info: RequestInfo) -> bool:
    """Report whether an answer is kept: a client may not fill the memory with attributes (`shouldCache`)."""
    texts = (info.scope, info.verb, info.group, info.version, info.resource, info.subresource, info.subject, info.path)
    return sum(map(len, texts)) < LONGEST


def body(review: Object, version: str) -> bytes:
    """Return a review as it is sent; v1beta1 calls groups `group`."""
    if version == "v1beta1" and "groups" in review:
        review = {("group" if key == "groups" else key): value for key, value in review.items()}
    whole = {
        "kind": KIND,
        "apiVersion": f"{GROUP}/{version}",
        "metadata": {},
        "spec": review,
        "status": {"allowed": False},
    }
    return encode_json(whole) + b"\n"


def verdict(answer: Any, version: str) -> Verdict:
    """Return the decision in a decoded answer. Raise ValueError where it is no review of this version."""
    if not isinstance(answer, dict):
        raise ValueError("couldn't get version/kind; json parse error: json: cannot unmarshal into a struct")
    kind, api_version = _text(answer, "kind") or KIND, _text(answer, "apiVersion") or f"{GROUP}/{version}"
    if (kind, api_version) != (KIND, f"{GROUP}/{version}"):
        raise ValueError(f"the webhook answered with {kind} of {api_version}, not with {KIND} of {GROUP}/{version}")
    status = answer.get("status")
    if status is None:
        status = {}
    if not isinstance(status, dict):
        raise ValueError("json: cannot unmarshal status into Go value of type v1.SubjectAccessReviewStatus")
    allowed, denied, reason = _flag(status, "allowed"), _flag(status, "denied"), _text(status, "reason")
    _text(status, "evaluationError")
    if allowed and denied:
        return Verdict(denied=True, reason=reason, error=BOTH)
    return Verdict(allowed, denied, reason)


def _text(within: Object, member: str) -> str:
    value = within.get(member)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"json: cannot unmarshal {member} into Go value of type string")
    return value or ""


def _flag(within: Object, member: str) -> bool:
    value = within.get(member)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"json: cannot unmarshal {member} into Go value of type bool")
    return bool(value)
