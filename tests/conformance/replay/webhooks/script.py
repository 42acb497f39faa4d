"""Answers that a scenario sets itself, for the paths below /scripted.

PUT /scripted/TAG {...}     how every POST to /scripted/TAG is answered, until the next PUT:
    response    members of the review's response, over {uid, allowed: true}; null removes a member
    review      members of the AdmissionReview itself, over apiVersion and kind of the one received; null likewise
    patch       a JSON patch (list), or a string taken as the raw bytes; patchType is JSONPatch by default
    code        the HTTP status (200), headers  more HTTP headers, raw  the HTTP body, delay  seconds to wait first
    drop        true: the connection is closed without an answer
POST /scripted/TAG          is answered so (allowed, for a TAG that was never set)
"""

from __future__ import annotations

import base64
import json

from tests.conformance.replay.paths import Object


def merge(base: Object, more: Object) -> Object:
    """Return an object with the members of another one; null removes a member."""
    return {k: v for k, v in {**base, **more}.items() if v is not None}


def answer(script: Object, review: Object) -> tuple[int, dict[str, str], bytes]:
    """Return HTTP status, headers and body for one AdmissionReview."""
    headers = {"Content-Type": "application/json", **script.get("headers", {})}
    if "raw" in script:
        return script.get("code", 200), headers, script["raw"].encode()
    response: Object = {"uid": review["request"]["uid"], "allowed": True}
    if "patch" in script:
        patch = script["patch"]
        raw = patch if isinstance(patch, str) else json.dumps(patch)
        response |= {"patch": base64.b64encode(raw.encode()).decode(), "patchType": "JSONPatch"}
    response = merge(response, script.get("response", {}))
    whole = {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}
    return script.get("code", 200), headers, json.dumps(merge(whole, script.get("review", {}))).encode()


def reviews(calls: list[Object]) -> Object:
    """Return what GET /reviews shows: every call in order, and how many different uids the requests had."""
    uids = {((call["body"] or {}).get("request") or {}).get("uid") for call in calls}
    kept = [{"path": c["path"], "query": c["query"], "contentType": c["contentType"], "body": c["body"]} for c in calls]
    return {"count": len(calls), "uids": len(uids), "reviews": kept}
