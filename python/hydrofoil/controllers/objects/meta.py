"""Metadata, owners and selectors (apimachinery `apis/meta/v1`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from hydrofoil.controllers.runtime.recorder import Reference

Labels = Mapping[str, str]


class OwnerReference(Struct, frozen=True, gc=False, rename="camel"):
    """An owner of an object."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None


class ObjectMeta(Struct, frozen=True, gc=False, rename="camel"):
    """The metadata that controllers read."""

    name: str
    uid: str = ""
    namespace: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def is_deleting(self) -> bool:
        """Report whether the deletion of the object has begun."""
        return self.deletion_timestamp is not None

    @property
    def controller(self) -> OwnerReference | None:
        """Return the owner that manages the object (`metav1.GetControllerOf`)."""
        # No generator: it is asked for by each controller after each event of a pod.
        for owner in self.owner_references:
            if owner.controller:
                return owner
        return None

    def reference(self, api_version: str, kind: str) -> Reference:
        """Return what an event names the object by."""
        about = {
            "kind": kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
            "apiVersion": api_version,
            "resourceVersion": self.resource_version,
        }
        return {name: value for name, value in about.items() if value}

    def owned_by(self, api_version: str, kind: str) -> dict[str, Any]:
        """Return the reference of an object that this one manages (`metav1.NewControllerRef`)."""
        return {
            "apiVersion": api_version,
            "kind": kind,
            "name": self.name,
            "uid": self.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }


class Requirement(NamedTuple):
    """A term of a selector."""

    key: str
    operator: str
    values: frozenset[str]

    def matches(self, labels: Labels) -> bool:
        """Report whether labels meet the term (`labels.Requirement.Matches`)."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt":
                return value is not None and _exceeds(value, next(iter(self.values), ""))
            case _:
                return value is not None and _exceeds(next(iter(self.values), ""), value)


def _exceeds(left: str, right: str) -> bool:
    """Compare the numbers of `Gt` and `Lt`, which selectors of nodes have."""
    try:
        return int(left) > int(right)
    except ValueError:
        return False


class LabelSelectorRequirement(Struct, frozen=True, gc=False):
    """A term of a selector in an object."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Labels) -> bool:
        """Report whether labels meet the term."""
        return Requirement(self.key, self.operator, frozenset(self.values)).matches(labels)


class LabelSelector(Struct, frozen=True, gc=False, rename="camel"):
    """A selector of objects by labels; an empty one selects all (`metav1.LabelSelectorAsSelector`)."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Report whether the selector has no term."""
        return not self.match_labels and not self.match_expressions

    def matches(self, labels: Labels) -> bool:
        """Report whether labels meet every term."""
        return self.match_labels.items() <= labels.items() and all(
            term.matches(labels) for term in self.match_expressions
        )


class Condition(Struct, frozen=True, gc=False, rename="camel"):
    """A condition in the status of an object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None
    last_update_time: str | None = None
    last_probe_time: str | None = None
    last_heartbeat_time: str | None = None
    observed_generation: int | None = None


class Typed(Protocol):
    """A condition of any kind of object."""

    @property
    def type(self) -> str:
        """Return what it is about."""


T = TypeVar("T", bound=Typed)


def find_condition(conditions: Iterable[T], kind: str) -> T | None:
    """Return a condition by its type (`meta.FindStatusCondition`)."""
    # No generator: a change of a pod asks ten times.
    for condition in conditions:
        if condition.type == kind:
            return condition
    return None
