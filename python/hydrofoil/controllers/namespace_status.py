"""Conditions of a namespace being deleted (`pkg/controller/namespace/deletion/status_condition_utils.go`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

DISCOVERY, CONTENT = "NamespaceDeletionDiscoveryFailure", "NamespaceDeletionContentFailure"
REMAINING, FINALIZERS = "NamespaceContentRemaining", "NamespaceFinalizersRemaining"
FINE = {
    DISCOVERY: ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
    CONTENT: ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
    REMAINING: ("ContentRemoved", "All content successfully removed"),
    FINALIZERS: ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}
"""Reason and message of each condition where nothing is wrong, in the order in which they are added."""


@dataclass(slots=True)
class Findings:
    """The result of one try to delete the content of a namespace."""

    unknown: list[str] = field(default_factory=list)
    """Group versions, `group/version`, whose resources are not known, in order."""
    failures: list[str] = field(default_factory=list)
    """One message for each resource whose objects could not be deleted."""
    remaining: Counter[str] = field(default_factory=Counter)
    """The number of objects that wait, by `plural.group`."""
    finalizers: Counter[str] = field(default_factory=Counter)
    """The number of objects that each finalizer holds."""
    waiting: bool = False
    """Whether objects remain that are expected to go."""

    @property
    def done(self) -> bool:
        """Report whether nothing holds the namespace."""
        return not (self.unknown or self.failures or self.waiting)

    def problems(self) -> dict[str, tuple[str, str]]:
        """Return reason and message of each condition that is true."""
        found: dict[str, tuple[str, str]] = {}
        if self.unknown:
            groups = ", ".join(f"{group}: stale GroupVersion discovery: {group}" for group in self.unknown)
            text = f"unable to retrieve the complete list of server APIs: {groups}"
            text = f"Discovery failed for some groups, {len(self.unknown)} failing: {text}"
            found[DISCOVERY] = ("DiscoveryFailed", text)
        if self.failures:
            texts = ", ".join(sorted(self.failures))
            text = f"Failed to delete all resource types, {len(self.failures)} remaining: {texts}"
            found[CONTENT] = ("ContentDeletionFailed", text)
        if self.remaining:
            texts = ", ".join(sorted(f"{kind} has {n} resource instances" for kind, n in self.remaining.items()))
            found[REMAINING] = ("SomeResourcesRemain", f"Some resources are remaining: {texts}")
        if self.finalizers:
            texts = ", ".join(sorted(f"{name} in {n} resource instances" for name, n in self.finalizers.items()))
            text = f"Some content in the namespace has finalizers remaining: {texts}"
            found[FINALIZERS] = ("SomeFinalizersRemain", text)
        return found


def conditions(before: list[dict[str, Any]], findings: Findings, now: str) -> list[dict[str, Any]]:
    """Return the conditions after a try (`updateConditions`): others are kept, and the time of one whose status is."""
    out = [dict(condition) for condition in before]
    problems = findings.problems()
    for kind, fine in FINE.items():
        status = "True" if kind in problems else "False"
        reason, message = problems.get(kind, fine)
        old = next((condition for condition in out if condition.get("type") == kind), None)
        if old is None:
            out.append(old := {"type": kind})
        if old.get("status") != status:
            old["lastTransitionTime"] = now
        old.update(status=status, reason=reason, message=message)
    return out
