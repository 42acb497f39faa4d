"""The pod security policy in the labels of a namespace (`api/helpers.go`)."""

from __future__ import annotations

import re

from msgspec import Struct, field

from hydrofoil.errors import Cause
from hydrofoil.go_text import quote

LEVELS = ("privileged", "baseline", "restricted")
"""From the least restrictive to the most restrictive."""
PREFIX = "pod-security.kubernetes.io/"
MODES = ("enforce", "audit", "warn")
LATEST = -1
VERSION = re.compile(r"v1\.([0-9]|[1-9][0-9]*)")


class Standard(Struct, frozen=True):
    """A level and the minor version of its rules."""

    level: str = "privileged"
    minor: int = LATEST

    def __str__(self) -> str:
        return f"{self.level}:{'latest' if self.minor == LATEST else f'v1.{self.minor}'}"


class Policy(Struct, frozen=True):
    """The standards that refuse, that are recorded in audit, and that warn."""

    enforce: Standard = Standard()
    audit: Standard = Standard()
    warn: Standard = Standard()
    causes: list[Cause] = field(default_factory=list)
    """Errors in the labels; an invalid label selects the strictest level at its latest version."""

    @property
    def idle(self) -> bool:
        """Report whether all is allowed (`FullyPrivileged`); errors in the labels are still recorded."""
        return not self.causes and self.enforce.level == self.audit.level == self.warn.level == "privileged"

    def compact(self) -> str:
        """Return the standards that restrict anything, in one line (`CompactString`)."""
        shown = ((mode, getattr(self, mode)) for mode in MODES)
        return ", ".join(f"{mode}={standard}" for mode, standard in shown if standard.level != "privileged")


NO_DEFAULT = Policy()


def policy(labels: dict[str, str], default: Policy = NO_DEFAULT) -> Policy:
    """Return the policy of a namespace, where its labels leave out parts the default (`PolicyToEvaluate`)."""
    causes: list[Cause] = []
    found: dict[str, Standard] = {}
    wrong: set[str] = set()
    for mode in MODES:
        base: Standard = getattr(default, mode)
        level, minor = base.level, base.minor
        given = labels.get(PREFIX + mode)
        if given is not None:
            level = given
            if given not in LEVELS:
                causes.append(_cause(mode, given, f"must be one of {', '.join(LEVELS)}"))
                wrong.add(mode)
                level = "restricted" if mode == "enforce" else "privileged"
        version = labels.get(f"{PREFIX}{mode}-version")
        if version == "latest":
            minor = LATEST
        elif version is not None:
            match = VERSION.fullmatch(version)
            if match:
                minor = int(match[1])
            else:
                causes.append(_cause(f"{mode}-version", version, 'must be "latest" or "v1.x"'))
        found[mode] = Standard(level, minor)
    enforce, warn = found["enforce"], found["warn"]
    explicit = PREFIX + "enforce" in labels and "enforce" not in wrong
    if PREFIX + "warn" not in labels and explicit and LEVELS.index(enforce.level) > LEVELS.index(warn.level):
        minor = warn.minor if f"{PREFIX}warn-version" in labels else enforce.minor
        warn = Standard(enforce.level, minor)
    return Policy(enforce, found["audit"], warn, causes)


def _cause(label: str, value: str, why: str) -> Cause:
    return ("FieldValueInvalid", f"Invalid value: {quote(value)}: {why}", f"metadata.labels[{PREFIX}{label}]")
