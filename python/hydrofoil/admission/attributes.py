"""What plug-ins see of a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.write import Operation
from hydrofoil.request import User


@dataclass(slots=True)
class Attributes:
    """One request that writes (apiserver `pkg/admission/attributes.go`)."""

    resource: Resource
    subresource: str
    namespace: str
    name: str
    """As the request names it; empty where the object does, or has a name made up."""
    dry_run: bool
    user: User
    warnings: list[str]
    operation: Operation = "CREATE"
    draft: Draft | None = None
    """What is written; a deletion has none."""
    old: Stored | None = None
    """What is there before; a new object has none."""

    @property
    def object(self) -> Draft:
        """What is written, of an operation that writes an object."""
        assert self.draft is not None, "a deletion has no object"
        return self.draft

    @property
    def key(self) -> tuple[str, str]:
        """Group and plural of the resource, with which both groups of events are one."""
        return (self.resource.storage_group, self.resource.plural)

    def warn(self, text: str) -> None:
        """Tells the client something."""
        self.warnings.append(text)

    def forbidden(self, why: str, causes: Sequence[dict[str, str]] = ()) -> errors.ApiError:
        """403 of this request: a name that is not made up yet shows by its prefix (`extractResourceName`)."""
        name = self.name
        if not name and self.draft is not None:
            head = self.draft.head()
            name = head[2] or head[3] or "Unknown"
        elif not name and self.old is not None:
            name = self.old.name
        return errors.forbidden(self.resource.group, self.resource.plural, name, why, causes)
