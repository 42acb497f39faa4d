"""The file of `--authorization-config` (apiserver `pkg/apis/apiserver`, AuthorizationConfiguration)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil import engine
from hydrofoil.authorization.conditions import Condition
from hydrofoil.errors import aggregate
from hydrofoil.go_text import format_duration, quote

GROUP = "apiserver.config.k8s.io"
KIND = "AuthorizationConfiguration"
VERSIONS = ("v1", "v1beta1", "v1alpha1")
TYPES = ("AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook")
MOST_CONDITIONS = 64
LONGEST_TIMEOUT = 30.0
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
Object = dict[str, Any]


class WebhookConfig(Struct, frozen=True):
    """The settings of one webhook; times in seconds."""

    kubeconfig: str
    version: str
    timeout: float
    allowed_ttl: float
    refused_ttl: float
    deny: bool = False
    conditions: tuple[str, ...] = ()


class Configured(Struct, frozen=True):
    """One authorizer of the configuration."""

    type: str
    name: str
    webhook: WebhookConfig | None = None


def load(data: bytes, required: Collection[str] = ()) -> tuple[Configured, ...]:
    """Return the authorizers in a configuration; `required` types must be among them (`LoadAndValidateData`).

    It looks at the files that the configuration names. Raise ValueError with one line.
    """
    try:
        whole = _decode_document(data)
    except ValueError as e:
        raise ValueError(f"failed to load AuthorizationConfiguration from file: {e}") from None
    given = whole.get("authorizers") or []
    problems = _Problems()
    if not given:
        problems.add("authorizers", "Required value: at least one authorization mode must be defined")
    found = _check_authorizers(given, problems)
    if problems.found:
        # Errors of expressions show the place in lines of their own.
        raise ValueError(" ".join(aggregate(problems.found).split()))
    wrong = [
        f"expected name {each.type.lower()} for authorizer {each.type} instead of {each.name}"
        for each in found
        if each.type != "Webhook" and each.name != each.type.lower()
    ]
    if missing := sorted({*required} - {each.type for each in found}):
        wrong.append(f"missing required types: [{' '.join(missing)}]")
    if wrong:
        raise ValueError(aggregate(wrong))
    return tuple(found)


class _Problems:
    """The errors of a validation."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, path: str, text: str) -> None:
        """Add the error of a field."""
        self.found.append(f"{path}: {text}")

    def unsupported(self, path: str, value: str, supported: Collection[str]) -> None:
        """Add the error of an unsupported value."""
        known = ", ".join(map(quote, supported))
        self.add(path, f"Unsupported value: {quote(value)}: supported values: {known}")


def _check_authorizers(given: list[Object], problems: _Problems) -> list[Configured]:
    """Check the authorizers (`ValidateAuthorizationConfiguration`)."""
    found: list[Configured] = []
    types: set[str] = set()
    names: set[str] = set()
    for at, each in enumerate(given):
        path = f"authorizers[{at}]"
        kind, name, webhook = each.get("type") or "", each.get("name") or "", each.get("webhook")
        if not kind:
            problems.add(f"{path}.type", "Required value")
            continue
        if kind not in TYPES:
            problems.unsupported(f"{path}.type", kind, TYPES)
            continue
        if kind in types and kind != "Webhook":
            problems.add(f"{path}.type", f"Duplicate value: {quote(kind)}")
            continue
        types.add(kind)
        if not name:
            problems.add(f"{path}.name", "Required value")
        elif name in names:
            problems.add(f"{path}.name", f"Duplicate value: {quote(name)}")
        elif why := _name_problem(name):
            problems.add(f"{path}.name", f"Invalid value: {quote(name)}: authorizer name is invalid: {why}")
        names.add(name)
        if kind != "Webhook":
            if webhook is not None:
                text = 'Invalid value: "non-null": may only be specified when type=Webhook'
                problems.add(f"{path}.webhook", text)
            found.append(Configured(kind, name))
        elif webhook is None:
            problems.add(f"{path}.webhook", "Required value: required when type=Webhook")
        else:
            found.append(Configured(kind, name, _webhook(path, webhook, problems)))
    return found


def _name_problem(name: str) -> str:
    """Return why a name is no subdomain (`IsDNS1123Subdomain`); empty if it is one."""
    why = []
    if len(name) > 253:
        why.append("must be no more than 253 bytes")
    if not _SUBDOMAIN.fullmatch(name):
        why.append(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must"
            " start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is"
            r" '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        )
    return ", ".join(why)


def _webhook(path: str, given: Object, problems: _Problems) -> WebhookConfig:
    """Check the settings of a webhook (`ValidateWebhookConfiguration`)."""
    timeout = given.get("timeout") or 0.0
    if not timeout:
        problems.add(f"{path}.timeout", "Required value")
    elif not 0 < timeout <= LONGEST_TIMEOUT:
        problems.add(f"{path}.timeout", f"Invalid value: {quote(format_duration(timeout))}: must be > 0s and <= 30s")
    times = []
    for member, usual in (("authorizedTTL", 300.0), ("unauthorizedTTL", 30.0)):
        seconds = given.get(member) or usual
        if seconds < 0:
            problems.add(f"{path}.{member}", f"Invalid value: {quote(format_duration(seconds))}: must be > 0s")
        times.append(seconds)
    version = given.get("subjectAccessReviewVersion") or ""
    _one_of(f"{path}.subjectAccessReviewVersion", version, ("v1", "v1beta1"), problems)
    conditions = [each.get("expression") or "" for each in given.get("matchConditions") or ()]
    about = given.get("matchConditionSubjectAccessReviewVersion") or ""
    if about not in ("", "v1"):
        problems.unsupported(f"{path}.matchConditionSubjectAccessReviewVersion", about, ("v1",))
    elif not about and conditions:
        text = "Required value: required if match conditions are specified"
        problems.add(f"{path}.matchConditionSubjectAccessReviewVersion", text)
    policy = given.get("failurePolicy") or ""
    _one_of(f"{path}.failurePolicy", policy, ("NoOpinion", "Deny"), problems)
    kubeconfig = _connection(f"{path}.connectionInfo", given.get("connectionInfo") or {}, problems)
    _check_conditions(f"{path}.matchConditions", conditions, problems)
    keeps = [given.get(member) is not False for member in ("cacheAuthorizedRequests", "cacheUnauthorizedRequests")]
    return WebhookConfig(
        kubeconfig,
        version,
        timeout,
        times[0] if keeps[0] else 0.0,
        times[1] if keeps[1] else 0.0,
        policy == "Deny",
        tuple(conditions),
    )


def _one_of(path: str, value: str, supported: tuple[str, ...], problems: _Problems) -> None:
    if not value:
        problems.add(path, "Required value")
    elif value not in supported:
        problems.unsupported(path, value, supported)


def _connection(path: str, given: Object, problems: _Problems) -> str:
    """Check how a webhook is reached, and return its kubeconfig."""
    kind, file = given.get("type") or "", given.get("kubeConfigFile")
    where = f"{path}.kubeConfigFile"
    if not kind:
        problems.add(f"{path}.type", "Required value")
    elif kind == "InClusterConfig":
        if file is not None:
            problems.add(where, f"Invalid value: {quote(file)}: can only be set when type=KubeConfigFile")
        else:
            # Upstream's server ends later, for want of a file.
            problems.add(f"{path}.type", f"Invalid value: {quote(kind)}: is not allowed for kube-apiserver")
    elif kind != "KubeConfigFile":
        problems.unsupported(f"{path}.type", kind, ("InClusterConfig", "KubeConfigFile"))
    elif not file:
        problems.add(where, "Required value")
    elif not file.startswith("/"):
        problems.add(where, f"Invalid value: {quote(file)}: must be an absolute path")
    else:
        try:
            regular = Path(file).stat() and Path(file).is_file()
        except OSError as e:
            why = f"error loading file: stat {file}: {(e.strerror or str(e)).lower()}"
            problems.add(where, f"Invalid value: {quote(file)}: {why}")
        else:
            if not regular:
                problems.add(where, f"Invalid value: {quote(file)}: must be a regular file")
    return file or ""


def _check_conditions(path: str, texts: list[str], problems: _Problems) -> None:
    """Compile the conditions (`compileMatchConditions`)."""
    if len(texts) > MOST_CONDITIONS:
        problems.add(path, f"Too many: {len(texts)}: must have at most {MOST_CONDITIONS} items")
        return
    seen: set[str] = set()
    for at, text in enumerate(texts):
        where = f"{path}[{at}].expression"
        if not text.strip():
            problems.add(where, "Required value")
        elif text in seen:
            problems.add(where, f"Duplicate value: {quote(text)}")
        else:
            seen.add(text)
            try:
                Condition(text)
            except ValueError as e:
                problems.add(where, f"Invalid value: {quote(text)}: {e}")


# ---- decoding


def _decode_document(data: bytes) -> Object:
    """Decode YAML or JSON; unknown members are errors. Raise ValueError."""
    try:
        whole = orjson.loads(engine.yaml_to_json(data)) if data.strip() else {}
    except engine.DecodeError as e:
        raise ValueError(" ".join(e.message.split())) from None
    if not isinstance(whole, dict):
        raise ValueError("couldn't get version/kind; json parse error: json: cannot unmarshal into a struct")
    kind, version = whole.pop("kind", ""), whole.pop("apiVersion", "")
    if not isinstance(kind, str) or not isinstance(version, str):
        raise ValueError("couldn't get version/kind; json parse error: json: cannot unmarshal into a string")
    if not kind:
        raise ValueError("Object 'Kind' is missing")
    if not version:
        raise ValueError("Object 'apiVersion' is missing")
    if kind != KIND or version not in [f"{GROUP}/{v}" for v in VERSIONS]:
        raise ValueError(f"no kind {quote(kind)} is registered for version {quote(version)}")
    unknown: list[str] = []
    out: Object = _object(_WHOLE)(whole, "", unknown)
    if unknown:
        raise ValueError(f"strict decoding error: {', '.join(unknown)}")
    return out


Read = Callable[[Any, str, list[str]], Any]
"""Decode a value at a path; add unknown members to the list. Raise ValueError."""


def _plain(wanted: type, shown: str) -> Read:
    def read(value: Any, path: str, _: list[str]) -> Any:
        if value is not None and not isinstance(value, wanted):
            raise ValueError(f"json: cannot unmarshal {_kind(value)} into Go struct field {path} of type {shown}")
        return value

    return read


def _kind(value: Any) -> str:
    named = ((bool, "bool"), (str, "string"), (dict, "object"), (list, "array"))
    return next((name for kind, name in named if isinstance(value, kind)), "number")


def _duration(value: Any, path: str, unknown: list[str]) -> float | None:
    text = _TEXT(value, path, unknown)
    found = None if text is None else engine.duration(text)
    if text is not None and found is None:
        raise ValueError(f"time: invalid duration {quote(text)}")
    return found


def _list(item: Read) -> Read:
    def read(value: Any, path: str, unknown: list[str]) -> Any:
        if value is None:
            return []
        if not isinstance(value, list):
            raise ValueError(f"json: cannot unmarshal {_kind(value)} into Go struct field {path}")
        return [item(each, f"{path}[{at}]", unknown) for at, each in enumerate(value)]

    return read


def _object(members: dict[str, Read]) -> Read:
    def read(value: Any, path: str, unknown: list[str]) -> Any:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise ValueError(f"json: cannot unmarshal {_kind(value)} into Go struct field {path}")
        out: Object = {}
        for key, each in value.items():
            where = f"{path}.{key}" if path else key
            if key in members:
                out[key] = members[key](each, where, unknown)
            else:
                unknown.append(f"unknown field {quote(where)}")
        return out

    return read


_TEXT = _plain(str, "string")
_FLAG = _plain(bool, "bool")
_WEBHOOK = {
    "authorizedTTL": _duration,
    "cacheAuthorizedRequests": _FLAG,
    "unauthorizedTTL": _duration,
    "cacheUnauthorizedRequests": _FLAG,
    "timeout": _duration,
    "subjectAccessReviewVersion": _TEXT,
    "matchConditionSubjectAccessReviewVersion": _TEXT,
    "failurePolicy": _TEXT,
    "connectionInfo": _object({"type": _TEXT, "kubeConfigFile": _TEXT}),
    "matchConditions": _list(_object({"expression": _TEXT})),
}
_WHOLE = {"authorizers": _list(_object({"type": _TEXT, "name": _TEXT, "webhook": _object(_WEBHOOK)}))}
