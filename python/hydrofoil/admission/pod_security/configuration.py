"""The configuration of the PodSecurity plug-in (pod-security-admission `admission/api`): defaults and exemptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from hydrofoil.admission.pod_security.policy import LATEST, LEVELS, MODES, VERSION, Policy, Standard
from hydrofoil.go_text import quote

GROUP = "pod-security.admission.config.k8s.io"
VERSIONS = tuple(f"{GROUP}/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
KIND = "PodSecurityConfiguration"
EXEMPT = ("usernames", "namespaces", "runtimeClasses")


class Configuration(Struct, frozen=True):
    """The policy of namespaces without labels, and the exemptions from all policies."""

    default: Policy = field(default_factory=Policy)
    usernames: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()


def parse_configuration(given: Mapping[str, Any]) -> Configuration:
    """Return the configuration of a document; an empty one is the default. Raise ValueError with one line."""
    if not given:
        return Configuration()
    kind, version = str(given.get("kind", "")), str(given.get("apiVersion", ""))
    if kind != KIND or version not in VERSIONS:
        raise ValueError(f"no kind {quote(kind)} is registered for version {quote(version)}")
    _check_members(given, ("kind", "apiVersion", "defaults", "exemptions"), "")
    defaults, exemptions = given.get("defaults") or {}, given.get("exemptions") or {}
    _check_members(defaults, [f"{mode}{end}" for mode in MODES for end in ("", "-version")], "defaults.")
    _check_members(exemptions, EXEMPT, "exemptions.")
    problems: list[str] = []
    enforce, audit, warn = (_standard(defaults, mode, problems) for mode in MODES)
    names = [_names(exemptions, name, problems) for name in EXEMPT]
    if problems:
        raise ValueError(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
    return Configuration(Policy(enforce, audit, warn), *names)


def _check_members(given: Any, members: Any, at: str) -> None:
    if not isinstance(given, dict):
        raise ValueError(f"{at.rstrip('.')} must be an object")
    if unknown := [name for name in given if name not in members]:
        raise ValueError(f"strict decoding error: unknown field {quote(at + unknown[0])}")


def _standard(defaults: Mapping[str, Any], mode: str, problems: list[str]) -> Standard:
    level, version = defaults.get(mode) or LEVELS[0], defaults.get(f"{mode}-version") or "latest"
    if level not in LEVELS:
        problems.append(f"defaults.{mode}: Invalid value: {quote(str(level))}: must be one of {', '.join(LEVELS)}")
    minor = LATEST
    if version != "latest":
        match = VERSION.fullmatch(str(version))
        if match is None:
            why = 'must be "latest" or "v1.x"'
            problems.append(f"defaults.{mode}-version: Invalid value: {quote(str(version))}: {why}")
        else:
            minor = int(match[1])
    return Standard(level, minor)


def _names(exemptions: Mapping[str, Any], name: str, problems: list[str]) -> frozenset[str]:
    listed = exemptions.get(name) or []
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise ValueError(f"exemptions.{name} must be a list of strings")
    for at, each in enumerate(listed):
        if not each:
            problems.append(f"exemptions.{name}[{at}]: Invalid value: {quote(each)}: must not be empty")
        elif each in listed[:at]:
            problems.append(f"exemptions.{name}[{at}]: Duplicate value: {quote(each)}")
    return frozenset(listed)
