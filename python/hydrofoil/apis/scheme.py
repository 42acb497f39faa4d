"""Types registered in Go's schemes, as messages on bodies of another type show them (apimachinery `pkg/runtime`)."""

from __future__ import annotations

from importlib.resources import files

import orjson

NAME = "pkg/runtime/scheme.go:111"
"""The name of upstream's schemes in messages."""
EVERYWHERE = frozenset(
    ("WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions")
)
"""Kinds of every group-version (`metav1.AddToGroupVersion`)."""
UNVERSIONED = frozenset(("Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList"))
"""Kinds of `v1` in every scheme."""
OWN = frozenset(("apiextensions.k8s.io", "apiregistration.k8s.io"))
"""Groups with a scheme of their own."""
MOVED = "extensions"
"""The group whose kinds have moved to other groups."""


def _load() -> tuple[dict[str, dict[str, frozenset[str]]], dict[str, str]]:
    """Return kinds by scheme and group version, and the packages of the internal types by group."""
    raw = orjson.loads((files("hydrofoil.apis") / "data" / "registered.json").read_bytes())
    kinds = {
        scheme: {version: frozenset(names.split()) for version, names in versions.items()}
        for scheme, versions in raw["kinds"].items()
    }
    return kinds, raw["packages"]


KINDS, PACKAGES = _load()


def package(group: str) -> str:
    """Return the Go package of a group's internal types."""
    return PACKAGES.get(group) or group.partition(".")[0]


def known(group: str, api_version: str, kind: str) -> bool:
    """Report whether the scheme that decodes bodies of a group has a kind."""
    if api_version == "v1" and kind in UNVERSIONED:
        return True
    versions = KINDS[group if group in OWN else ""]
    if api_version not in versions:
        return False
    return kind in versions[api_version] or kind in EVERYWHERE


def no_kind(kind: str, api_version: str) -> str:
    """Return the message of a scheme on a kind that it lacks."""
    return f'no kind "{kind}" is registered for version "{api_version}" in scheme "{NAME}"'


def refusal(wanted: tuple[str, str], api_version: str, kind: str) -> str:
    """Return why a body of a kind cannot become another, `wanted` by group and kind; empty for one of its versions."""
    group, own = wanted
    if not known(group, api_version, kind):
        return no_kind(kind, api_version)
    given, _, version = api_version.rpartition("/")
    if kind == own and (given == MOVED or package(given) == package(group)):
        return ""
    return f"converting ({version}.{kind}) to ({package(group)}.{own}): unknown conversion"
