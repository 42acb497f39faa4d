"""One write: its user, resource and admission, and how its attempts differ."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Literal, Protocol

from msgspec import Struct, field

from hydrofoil.engine import Draft, Stored
from hydrofoil.request import ADMIN, ALWAYS_ALLOW, Authorizer, User

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


class Admit(Protocol):
    """Admission of one request; each step returns an awaitable only if it has to wait. Both raise ApiError.

    A deletion has no draft.
    """

    def mutate(self, operation: Operation, draft: Draft | None, old: Stored | None) -> Awaitable[None] | None:
        """Change the object being written: once for a create, in each attempt of an update."""

    def validate(self, operation: Operation, draft: Draft | None, old: Stored | None) -> Awaitable[None] | None:
        """Refuse the object to be stored, right before the commit."""

    def is_idle(self, operation: Operation) -> bool:
        """Report whether both steps would do nothing."""

    def repeats(self, operation: Operation) -> bool:
        """Report whether both steps do the same to the same object again, as long as no other object is written."""


class Write(Struct):
    """One write; without `admit` it is the server's own bookkeeping."""

    admit: Admit | None = None
    manager: str = ""
    """The field manager of the changes; empty: none."""
    subresource: str = ""
    dry_run: bool = False
    user: User = ADMIN
    warnings: list[str] = field(default_factory=list)
    """Warnings for the client."""
    authorizer: Authorizer = ALWAYS_ALLOW
    """The decision on what else the user may do, for strategies that ask."""
    namespace: str = ""
    name: str = ""
    """Namespace and name in the URL."""
    verb: str = ""
    """The verb of the request; empty for writes without one."""
    sent: int = 0
    """The bytes of the request's body; 0 for bookkeeping, whose work may not leave the loop."""
    patch: bool = False
    """Whether the present version is changed, and not replaced: its version is compared again after a conflict."""
    creates: bool = False
    """Whether an update or apply creates its object, which may have a resource version then."""
    validates: bool = True
    """Whether the rules of its kind apply."""
    epoch: int | None = None
    """The epoch of the storage that the write belongs to; None: the one at its beginning."""
    slow: bool = False
    """Whether the rules of a definition took too long for the loop: further attempts evaluate them off it."""
