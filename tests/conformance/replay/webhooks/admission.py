"""Answers to AdmissionReviews (v1, v1beta1).

/allow, /sideeffects, /echo-count   allows
/deny, /deny-bare, /deny-code       denies: message, code 403 and reason; with nothing more; message, code 422, details
/warn, /audit           allows, with two warnings; with audit annotations
/mutate-label           adds the label TAG (the last part of the path) with the value 1, or counts it up
/mutate-data            data.TAG, likewise
/mutate-invalid         a patch that makes a ConfigMap invalid
/mutate-bad-patch, /mutate-no-type, /mutate-garbage     a patch that cannot be applied; without patchType; not JSON
/review-uid, /review-version, /review-500, /review-garbage, /review-empty       answers that are wrong
/review-slow            allows, after three seconds
"""

from __future__ import annotations

import base64
import json
import time

from tests.conformance.replay.paths import Object
from tests.conformance.replay.webhooks.conversion import OTHER_UID


def count_up(values: Object | None, where: str, tag: str) -> list[Object]:
    """Return the patch that counts a member up."""
    if not values:
        return [{"op": "add", "path": where, "value": {tag: "1"}}]
    return [{"op": "add", "path": f"{where}/{tag}", "value": str(int(values.get(tag, "0")) + 1)}]


def patch(mode: str, item: Object, tag: str) -> list[Object]:
    """Return the patch of a mode."""
    if mode == "label":
        return count_up(item.get("metadata", {}).get("labels"), "/metadata/labels", tag)
    if mode == "data":
        return count_up(item.get("data"), "/data", tag)
    if mode == "invalid":
        return [{"op": "add", "path": "/data", "value": {"not a key!": "x"}}]
    if mode == "bad-patch":
        return [{"op": "test", "path": "/metadata/name", "value": "no such name"}]
    return [{"op": "add", "path": "/data", "value": {"patched": "1"}}]


def answer(mode: str, tag: str, review: Object) -> Object:
    """Return the review that answers one."""
    request = review["request"]
    response: Object = {"uid": request["uid"], "allowed": True}
    whole = {"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}
    if mode == "deny":
        response |= {"allowed": False, "status": {"message": "this is not wanted", "code": 403, "reason": "Forbidden"}}
    elif mode == "deny-bare":
        response["allowed"] = False
    elif mode == "deny-code":
        details = {"name": "n", "causes": [{"reason": "FieldValueInvalid", "message": "too long", "field": "data.a"}]}
        status = {"message": "data.a is too long", "code": 422, "reason": "Invalid", "details": details}
        response |= {"allowed": False, "status": status}
    elif mode == "warn":
        response["warnings"] = ["first warning", 'second "quoted" warning']
    elif mode == "audit":
        response["auditAnnotations"] = {"seen": "yes"}
    elif mode == "review-uid":
        response["uid"] = OTHER_UID
    elif mode == "review-version":
        whole["apiVersion"] = "admission.k8s.io/v3"
    elif mode == "review-empty":
        del whole["response"]
    elif mode == "review-slow":
        time.sleep(3)
    elif mode.startswith("mutate-"):
        raw = json.dumps(patch(mode[7:], request.get("object") or {}, tag)).encode()
        if mode == "mutate-garbage":
            raw = b"not JSON"
        response |= {"patch": base64.b64encode(raw).decode(), "patchType": "JSONPatch"}
        if mode == "mutate-no-type":
            del response["patchType"]
    return whole
