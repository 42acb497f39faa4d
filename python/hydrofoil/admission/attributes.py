"""The attributes of a request that admission plug-ins see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.write import Operation
from hydrofoil.request import ALWAYS_ALLOW, Annotated, Authorizer, User


class Attributes(Struct):
    """A write request (apiserver `pkg/admission/attributes.go`)."""

    resource: Resource
    subresource: str
    namespace: str
    name: str
    """The name in the request; empty if the object has it, or if it is generated."""
    dry_run: bool
    user: User
    warnings: list[str]
    operation: Operation = "CREATE"
    draft: Draft | None = None
    """The object being written; absent for a deletion."""
    old: Stored | None = None
    """The stored version before the write; absent for a new object."""
    authorizer: Authorizer = ALWAYS_ALLOW
    """The decision on what else the user may do."""
    audit: Annotated | None = None
    """The audit record of the request; None where it is not audited."""
    asked: Callable[[Operation], dict[str, Any] | None] | None = None
    """The options of the request, by the operation that it came to."""
    again: bool = False
    """Whether the mutating plug-ins run for the second time (apiserver `pkg/admission/reinvocation.go`)."""
    mutated: bool = False
    """Whether a webhook or policy has changed the object, so that they run again."""
    memory: dict[str, Any] | None = None
    """The memory of plug-ins from the first time."""

    @property
    def object(self) -> Draft:
        """Return the object being written, for an operation that has one."""
        assert self.draft is not None, "a deletion has no object"
        return self.draft

    @property
    def key(self) -> tuple[str, str]:
        """Return group and plural of the resource; both groups of events count as one."""
        return (self.resource.storage_group, self.resource.plural)

    def options(self) -> dict[str, Any] | None:
        """Return the options of the request as its reviews have them."""
        return None if self.asked is None else self.asked(self.operation)

    def warn(self, text: str) -> None:
        """Add a warning for the client."""
        self.warnings.append(text)

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation to the audit record of the request, if it has one."""
        if self.audit is not None:
            self.audit.annotate(key, value)

    def forbidden(self, why: str, causes: Sequence[dict[str, str]] = ()) -> errors.ApiError:
        """Return a 403 for this request; a name not generated yet is shown by its prefix (`extractResourceName`)."""
        name = self.name
        if not name and self.draft is not None:
            meta = self.draft.metadata()
            name = meta.name or meta.generate_name or "Unknown"
        elif not name and self.old is not None:
            name = self.old.name
        return errors.forbidden(self.resource.group, self.resource.plural, name, why, causes)
