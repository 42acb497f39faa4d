"""The one exception above storage: a metav1.Status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydrofoil import engine
from hydrofoil.go_text import quote

FAULTS: tuple[type[BaseException], ...] = (Exception, engine.PanicException)
"""Exceptions that end only one request, stream or key: a panic of the extension is no `Exception`."""
Cause = tuple[str, str, str]
"""Reason, message, field."""


class ApiError(Exception):
    """An error answered as a failure Status.

    `details` follows metav1.StatusDetails; `retry_after` is in seconds and becomes a header too.
    """

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: dict[str, Any] | None = None,
        *,
        retry_after: int = 0,
        continue_token: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.retry_after = retry_after
        self.continue_token = continue_token
        self.headers = b""
        """Header lines of the answer: warnings added before the failure."""
        self.unauthorized = False
        """Whether the user lacks the right to the request itself."""
        self.foundation = details == {}
        """Whether upstream's request routing answers, below the layer that supports gated media types."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Allow it to be sent to another process."""
        return type(self), (self.code, self.reason, self.message, self.details)

    def status(self) -> dict[str, Any]:
        """Return the Status as in a body (apimachinery `api/errors`)."""
        metadata = {"continue": self.continue_token} if self.continue_token else {}
        out: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Failure"}
        out["message"] = self.message
        if self.reason:
            out["reason"] = self.reason
        details = self.details
        if self.retry_after:
            details = {**(details or {}), "retryAfterSeconds": self.retry_after}
        if details is not None:
            out["details"] = details
        out["code"] = self.code
        return out


def qualified_resource(group: str, resource: str) -> str:
    """Return `deployments.apps`; `pods` in the core group."""
    return f"{resource}.{group}" if group else resource


def _details(group: str, kind: str, name: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if name:
        out["name"] = name
    if group:
        out["group"] = group
    out["kind"] = kind
    return out


def internal(fault: BaseException) -> ApiError:
    """Return the 500 for a fault of the server itself; the log has more."""
    name = type(fault).__name__
    return ApiError(500, "InternalError", f"Internal error occurred: {name}", {"causes": [{"message": name}]})


def log_failure(why: str) -> ApiError:
    """Return the 500 for a write that the log cannot take; `why` is one line."""
    return ApiError(500, "InternalError", f"Internal error occurred: {why}", {"causes": [{"message": why}]})


def bad_request(message: str) -> ApiError:
    """Return a 400 with a free text."""
    return ApiError(400, "BadRequest", message)


def unparsable_version(version: str, why: str) -> ApiError:
    """Return a 400 for an invalid resource version of an object; upstream answers 500 with its parser's message."""
    return bad_request(f"invalid resource version: strconv.ParseUint: parsing {quote(version)}: {why}")


def not_found(group: str, resource: str, name: str) -> ApiError:
    """Return the 404 for an object."""
    return ApiError(
        404,
        "NotFound",
        f"{qualified_resource(group, resource)} {quote(name)} not found",
        _details(group, resource, name),
    )


def strict_text(found: list[str]) -> str:
    """Return strict findings in one line, except those of the YAML decoder, which have a line each."""
    lines = [text for text in found if text.startswith("line ")]
    rest = [text for text in found if not text.startswith("line ")]
    yaml = ["yaml: unmarshal errors:\n  " + "\n  ".join(lines)] if lines else []
    return ", ".join(yaml + rest)


def no_such_resource() -> ApiError:
    """Return the 404 for a path under a known group."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def method_not_allowed() -> ApiError:
    """Return the 405 for a built-in resource."""
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def method_not_supported(group: str, resource: str, verb: str) -> ApiError:
    """Return the 405 for a custom resource, or for a list that cannot be watched."""
    text = f'{verb} is not supported on resources of kind "{qualified_resource(group, resource)}"'
    return ApiError(405, "MethodNotAllowed", text, _details(group, resource, ""))


def forbidden(group: str, resource: str, name: str, why: str, causes: Sequence[dict[str, str]] = ()) -> ApiError:
    """Return a 403 for another reason than authorization."""
    details = _details(group, resource, name)
    if causes:
        details["causes"] = list(causes)
    subject = f"{qualified_resource(group, resource)} {quote(name)}" if name else qualified_resource(group, resource)
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {why}", details)


def already_exists(group: str, resource: str, name: str, prefix: str = "") -> ApiError:
    """Return the 409 for a name that is taken."""
    text = f"{prefix}{qualified_resource(group, resource)} {quote(name)} already exists"
    return ApiError(409, "AlreadyExists", text, _details(group, resource, name))


def conflict(group: str, resource: str, name: str, why: str) -> ApiError:
    """Return the 409 for a failed precondition."""
    text = f"Operation cannot be fulfilled on {qualified_resource(group, resource)} {quote(name)}: {why}"
    return ApiError(409, "Conflict", text, _details(group, resource, name))


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def aggregate(texts: Sequence[str]) -> str:
    """Join messages, each once."""
    each = list(dict.fromkeys(texts))
    return each[0] if len(each) == 1 else f"[{', '.join(each)}]"


def invalid(group: str, kind: str, name: str, causes: Sequence[Cause]) -> ApiError:
    """Return a 422 with its causes; a message that several share is in it once."""
    joined = aggregate([f"{field}: {message}" for _, message, field in causes])
    details: dict[str, Any] = {}
    if name:
        details["name"] = name
    if group:
        details["group"] = group
    if kind:
        details["kind"] = kind
    details["causes"] = [{"reason": r, "message": m, "field": f} for r, m, f in causes]
    return ApiError(422, "Invalid", f"{qualified_resource(group, kind)} {quote(name)} is invalid: {joined}", details)


def not_acceptable(accepted: Sequence[str]) -> ApiError:
    """Return the 406 for an Accept header that no transform or type matches."""
    return ApiError(406, "NotAcceptable", f"only the following media types are accepted: {', '.join(accepted)}")


def gone(message: str, continue_token: str = "") -> ApiError:
    """Return the 410 for an expired resource version."""
    return ApiError(410, "Expired", message, continue_token=continue_token)


def too_large_version(asked: int, current: int) -> ApiError:
    """Return the 504 for a resource version that is not reached."""
    text = f"Timeout: Too large resource version: {asked}, current: {current}"
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    return ApiError(504, "Timeout", text, {"causes": causes}, retry_after=1)


def timed_out() -> ApiError:
    """Return the 504 for a request that exceeds its deadline."""
    return ApiError(504, "Timeout", "Timeout: request did not complete within the allotted timeout", {})
