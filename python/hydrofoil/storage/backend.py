"""The contract that every place where objects are kept fulfils."""

from __future__ import annotations

from typing import Protocol

from hydrofoil.engine import Draft, ListCursor, ResourceType, Selector, Stored, Watcher


class StorageError(Exception):
    """A storage operation that could not be done as asked."""


class Exists(StorageError):
    """An object of that key exists."""


class Missing(StorageError):
    """No object of that key exists."""


class Conflict(StorageError):
    """The object stands at another revision than expected."""


class Expired(StorageError):
    """The history no longer reaches back to the revision asked for."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(asked, oldest)
        self.asked, self.oldest = asked, oldest


class Future(StorageError):
    """The revision asked for has not been reached."""

    def __init__(self, asked: int, current: int) -> None:
        super().__init__(asked, current)
        self.asked, self.current = asked, current


class Collection(Protocol):
    """The objects of one resource.

    Writes take effect at one revision each, which grows with every write of any resource. They are
    awaited, so that a commit may leave the process; a reader sees a write once its commit returned.
    """

    async def create(self, draft: Draft) -> Stored:
        """Stores a new object. Raises Exists."""

    async def update(self, old: Stored, draft: Draft) -> Stored:
        """Replaces `old`; the same content is not written again. Raises Missing, Conflict."""

    async def delete(self, old: Stored) -> Stored:
        """Takes `old` out and gives its last state at the revision of the deletion. Raises Missing, Conflict."""

    def get(self, resource: ResourceType, namespace: str, name: str) -> Stored | None:
        """The present version of an object, shown as `resource`."""

    def list(
        self, resource: ResourceType, selector: Selector, form: str, limit: int, revision: int, start: str
    ) -> ListCursor:
        """A list at a revision (0: the present). Raises Expired, Future."""

    def watch(
        self, resource: ResourceType, selector: Selector, form: str, revision: int | None, token: int, framed: bool
    ) -> Watcher:
        """A cursor from after a revision, or the present state first when it is None. Raises Expired."""

    async def reindex(self, resource: ResourceType) -> None:
        """Give every object the values of the field selectors that its definition now has.

        Takes effect at once, just before it returns.
        """

    def size(self) -> tuple[int, int, int]:
        """How many objects, their bytes, and how many watchers there are."""


class Backend(Protocol):
    """All collections of a server."""

    def collection(self, resource: ResourceType, name: tuple[str, str]) -> Collection:
        """The collection of that name, made when first asked for."""

    @property
    def revision(self) -> int:
        """The latest revision."""

    def take_woken(self) -> list[int]:
        """The tokens of the watchers that have events waiting."""
