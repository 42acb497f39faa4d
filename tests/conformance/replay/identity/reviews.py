"""Answers of the webhooks for tokens and for access: the token, or the user, chooses the answer."""

from __future__ import annotations

import time
from typing import Any

from tests.conformance.replay.paths import Object


def authenticate(review: Object) -> tuple[int, Any]:
    """Answer a TokenReview: for hook-NAME[-anything] as NAME states, for another token that it is not authenticated."""
    token, asked = review["spec"].get("token", ""), review["spec"].get("audiences")
    name = token.split("-")[1] if token.startswith("hook-") else ""
    user: Object = {"username": "hook:wanda", "uid": "wanda-uid", "groups": ["hook:team", "hook:all"]}
    status: Object = {"authenticated": True, "user": user}
    if name == "good":
        pass
    elif name == "bare":
        status["user"] = {"username": "hook:bare"}
    elif name == "extra":
        user["extra"] = {"example.com/scope": ["read", "write"], "Mixed.Case": ["x"]}
    elif name == "masters":
        user["groups"] = ["system:masters"]
    elif name == "nouser":
        status["user"] = {}
    elif name == "aud":  # names the audiences that it is good for
        status["audiences"] = [a for a in asked or [] if a == "hooked"] or asked
    elif name == "otheraud":
        status["audiences"] = ["somebody-else"]
    elif name == "error":
        status = {"authenticated": False, "error": "this token was revoked"}
    elif name == "erroryes":
        status["error"] = "authenticated, and an error too"
    elif name == "500":
        return 500, {"kind": "Status", "status": "Failure", "message": "the directory is down"}
    elif name == "garbage":
        return 200, b"not JSON"
    elif name == "wrongversion":
        return 200, {"apiVersion": "authentication.k8s.io/v7", "kind": "TokenReview", "status": status}
    elif name == "slow":
        time.sleep(1)
    else:
        status = {"authenticated": False}
    return 200, {"apiVersion": review["apiVersion"], "kind": "TokenReview", "status": status}


def authorize(review: Object) -> tuple[int, Any]:
    """Answer a SubjectAccessReview: for USER[:anything] as USER states, without an opinion of another user."""
    name = review["spec"].get("user", "").split(":")[0]
    status: Object = {"allowed": False}
    if name in ("walter", "petra", "lou"):
        status = {"allowed": True, "reason": "the list says so"}
    elif name == "denise":
        status = {"allowed": False, "denied": True, "reason": "she is on the other list"}
    elif name == "mute":
        status = {"allowed": False, "denied": True}
    elif name == "noah":
        status = {"allowed": False, "reason": "never heard of him"}
    elif name == "eve":
        status = {"allowed": False, "evaluationError": "half of the list is missing"}
    elif name == "both":
        status = {"allowed": True, "denied": True, "reason": "yes and no"}
    elif name == "broken":
        return 500, {"kind": "Status", "status": "Failure", "message": "the list is lost"}
    elif name == "garbage":
        return 200, b"not JSON"
    elif name == "slow":
        time.sleep(2.5)
        status = {"allowed": True, "reason": "after some thought"}
    elif name == "selector":  # allows only a request that is limited to one node or label
        attributes = review["spec"].get("resourceAttributes") or {}
        limited = attributes.get("fieldSelector") or attributes.get("labelSelector")
        status = {"allowed": bool(limited), "reason": "limited" if limited else "not limited"}
    return 200, {"apiVersion": review["apiVersion"], "kind": "SubjectAccessReview", "status": status}
