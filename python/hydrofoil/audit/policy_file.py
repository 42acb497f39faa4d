"""The file of an audit policy, and its refusals (apiserver `pkg/audit/policy/reader.go`, `validation`)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from hydrofoil import engine, errors
from hydrofoil.apis.names import NO_SUBDOMAIN, subdomain
from hydrofoil.audit.level import LEVELS, STAGES, Chosen
from hydrofoil.audit.policy import GroupResources, Policy, Rule
from hydrofoil.go_text import quote

LOG = logging.getLogger("hydrofoil")
LARGEST = 1 << 20
"""The greatest size of a policy, in bytes."""
VERSION, KIND = "audit.k8s.io/v1", "Policy"
Object = dict[str, Any]
Members = dict[str, type | list[type]]
"""The types of members, by name; a list with one type for lists."""
POLICY: Members = {
    "apiVersion": str,
    "kind": str,
    "metadata": dict,
    "rules": [dict],
    "omitStages": [str],
    "omitManagedFields": bool,
}
RULE: Members = {
    "level": str,
    "users": [str],
    "userGroups": [str],
    "verbs": [str],
    "resources": [dict],
    "namespaces": [str],
    "nonResourceURLs": [str],
    "omitStages": [str],
    "omitManagedFields": bool,
}
RESOURCES: Members = {"group": str, "resources": [str], "resourceNames": [str]}


def load(path: str) -> Policy:
    """Return the policy in a file. Raise ValueError with one line. It blocks: call it at the start."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as e:
        why = (e.strerror or "cannot be read").lower()
        text = f"loading audit policy file: failed to read file path {quote(path)}"
        raise ValueError(f"{text}: open {path}: {why}") from None
    try:
        return read(data)
    except ValueError as e:
        raise ValueError(f"loading audit policy file: {e}: from file {path}") from None


def read(data: bytes) -> Policy:
    """Return the policy in YAML or JSON. Raise ValueError with one line."""
    if len(data) > LARGEST:
        raise ValueError(f"the policy is larger than {LARGEST} bytes")
    try:
        # As upstream's recognizer: a brace in front makes it JSON.
        document = orjson.loads(data if data.lstrip().startswith(b"{") else engine.yaml_to_json(data))
    except (engine.DecodeError, ValueError) as e:
        line = " ".join(str(e).split())
        raise ValueError(f"failed decoding: {line}") from None
    if not isinstance(document, dict) or not document.get("kind"):
        raise ValueError("failed decoding: Object 'Kind' is missing")
    named = (document.get("apiVersion") or "", document["kind"])
    if named != (VERSION, KIND):
        version, kind = (quote(str(name)) for name in named)
        raise ValueError(f"failed decoding: no kind {kind} is registered for version {version}")
    unknown: list[str] = []
    check_members(document, POLICY, "", unknown)
    rules: list[Object] = document.get("rules") or []
    for at, rule in enumerate(rules):
        check_members(rule, RULE, f"rules[{at}].", unknown)
        for place, found in enumerate(rule.get("resources") or ()):
            check_members(found, RESOURCES, f"rules[{at}].resources[{place}].", unknown)
    if unknown:
        shown = ", ".join(f"unknown field {quote(name)}" for name in unknown[:10])
        LOG.warning("Audit policy contains errors, falling back to lenient decoding: %s", shown)
    omitted: list[str] = document.get("omitStages") or []
    problems = [*stage_problems(omitted, "omitStages")]
    for at, rule in enumerate(rules):
        problems += rule_problems(rule, f"rules[{at}]")
    if problems:
        raise ValueError(errors.aggregate(problems))
    if not rules:
        raise ValueError("loaded illegal policy with 0 rules")
    managed = bool(document.get("omitManagedFields"))
    return Policy([make_rule(rule, omitted, omits_managed=managed) for rule in rules])


def check_members(found: Any, members: Members, where: str, unknown: list[str]) -> None:
    """Check the types of known members and collect the names of others. Raise ValueError."""
    if not isinstance(found, dict):
        raise ValueError(f"failed decoding: {where.rstrip('.')} must be an object")
    for name, value in found.items():
        kind = members.get(name)
        if kind is None:
            unknown.append(where + name)
        elif value is None:
            continue
        elif isinstance(kind, list):
            if not isinstance(value, list) or not all(isinstance(item, kind[0]) for item in value):
                raise ValueError(f"failed decoding: {where}{name} must be a list of {type_name(kind[0])}")
        elif not isinstance(value, kind):
            raise ValueError(f"failed decoding: {where}{name} must be {type_name(kind)}")


def type_name(kind: type) -> str:
    """Return the name of a type in messages."""
    return {str: "text", bool: "true or false"}.get(kind, "objects")


def rule_problems(rule: Object, where: str) -> Iterator[str]:
    """Yield the refusals of a rule (`validatePolicyRule`)."""
    level = rule.get("level") or ""
    if not level:
        yield f"{where}.level: Required value"
    elif level not in LEVELS:
        shown = ", ".join(map(quote, LEVELS))
        yield f"{where}.level: Unsupported value: {quote(level)}: supported values: {shown}"
    urls: list[str] = rule.get("nonResourceURLs") or []
    for at, url in enumerate(urls):
        invalid = f"{where}.nonResourceURLs[{at}]: Invalid value: {quote(url)}: non-resource URL"
        if url == "*":
            continue
        if not url.startswith("/"):
            yield f"{invalid} rules must begin with a '/' character"
        if "*" in url[:-1]:
            yield f"{invalid} wildcards '*' must be the final character of the rule"
    for found in rule.get("resources") or ():
        group, names = found.get("group") or "", found.get("resourceNames") or []
        if group not in ("", "*"):
            invalid = f"{where}.resources.group: Invalid value: {quote(group)}"
            if len(group) > 253:
                yield f"{invalid}: must be no more than 253 characters"
            elif not subdomain(group):
                yield f"{invalid}: {NO_SUBDOMAIN}"
        if names and not found.get("resources"):
            shown = orjson.dumps(names).decode()
            why = "using resourceNames requires at least one resource"
            yield f"{where}.resources.resourceNames: Invalid value: {shown}: {why}"
    yield from stage_problems(rule.get("omitStages") or [], f"{where}.omitStages")
    if urls and (rule.get("resources") or rule.get("namespaces")):
        shown = orjson.dumps(urls).decode()
        why = "rules cannot apply to both regular resources and non-resource URLs"
        yield f"{where}.nonResourceURLs: Invalid value: {shown}: {why}"


def stage_problems(stages: list[str], where: str) -> Iterator[str]:
    """Yield the refusals of stages (`validateOmitStages`)."""
    for at, stage in enumerate(stages):
        if stage not in STAGES:
            yield f"{where}[{at}]: Invalid value: {quote(stage)}: allowed stages are {','.join(STAGES)}"


def make_rule(rule: Object, omitted: list[str], *, omits_managed: bool) -> Rule:
    """Return a checked rule; stages and managed fields that the whole policy omits are omitted by each rule."""

    def texts(name: str, of: Object = rule) -> frozenset[str]:
        return frozenset(of.get(name) or ())

    own = rule.get("omitManagedFields")
    level = LEVELS.index(rule["level"])
    return Rule(
        Chosen(level, texts("omitStages") | frozenset(omitted), omits_managed if own is None else own),
        texts("users"),
        texts("userGroups"),
        texts("verbs"),
        texts("namespaces"),
        tuple(
            GroupResources(found.get("group") or "", texts("resources", found), texts("resourceNames", found))
            for found in rule.get("resources") or ()
        ),
        tuple(rule.get("nonResourceURLs") or ()),
    )
