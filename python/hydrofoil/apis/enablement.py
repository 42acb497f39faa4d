"""Checks of `--runtime-config` (apiserver `options/api_enablement.go` and `resourceconfig/helpers.go`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

LEVELS = frozenset(("api/all", "api/ga", "api/beta", "api/alpha"))
CORE = "v1"


class EnablementError(Exception):
    """An unknown group or version in the configuration, with upstream's message."""


def enablement(given: Mapping[str, bool], served: Iterable[str]) -> dict[str, bool]:
    """Return the configuration under its usual keys; `served` are the group versions that can be switched.

    Raise EnablementError.
    """
    out: dict[str, bool] = {}
    for key, value in given.items():
        if key == "api/legacy":
            continue
        # The core group has two names.
        out[key.removeprefix("api/") if key == "api/v1" or key.startswith("api/v1/") else key] = value
    if out == {"api/all": False}:
        raise EnablementError("invalid runtime-config with only api/all=false")
    named = [key for key in out if key not in LEVELS and key != CORE and not key.startswith("v1/")]
    for key in named:
        if not 2 <= len(key.split("/")) <= 3:
            raise EnablementError(f"runtime-config invalid key {key}")
    if not named:
        return out
    from hydrofoil.apis.scheme import KINDS

    known = set(served).union(*KINDS.values())
    groups = {version.rpartition("/")[0] for version in known}
    versions = {key: "/".join(key.split("/")[:2]) for key in named}
    if strange := sorted({v for v in versions.values() if v.partition("/")[0] not in groups}):
        raise EnablementError(f"unknown api groups {','.join(strange)}")
    for key, version in versions.items():
        if version not in known and not version.startswith("/"):
            raise EnablementError(f"group version {version} that has not been registered")
        plural = key[len(version) + 1 :]
        if plural != plural.lower():
            why = f'group/version/resource and resource is always lowercase plural, not "{plural}"'
            raise EnablementError(f"invalid key {key}: {why}")
    return out
