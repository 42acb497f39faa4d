"""The steps of one attempt of a write, and where they are done: on the loop, on a thread, or after a webhook.

A native step knows its price. `here` does it on the loop, if that has time for it; otherwise `take` sends it to a
thread, or has the conversion made that it lacks. No caller has a branch for this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msgspec import Struct

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.clock import Clock, stopwatch
from hydrofoil.engine import Draft, PrepareResult, ReadResult, Step, Stored
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pace.turn import current_turn
from hydrofoil.pool import POOLED_TRIES, run
from hydrofoil.registry.names import kind_of
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.strategy import Strategy
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import Conflict, Outdated
from hydrofoil.storage.sizes import TooLarge
from hydrofoil.storage.storage import Storage

Applied = tuple[Draft, list[str]]
"""The result of an apply, and the strict errors of its configuration."""
T = TypeVar("T", ReadResult, PrepareResult, Applied)
UNLIMITED = 1e9
"""The seconds of the loop for a step without expressions: its price is its size alone."""
DUPLICATE_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, "
    "and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)


class Attempt(Struct):
    """One attempt of a write, from the read of the present version to the commit."""

    resource: Resource
    namespace: str
    strategy: Strategy
    write: Write
    epoch: int
    """The epoch of the storage at its beginning: a restore meanwhile voids it."""
    old: Stored | None = None
    """The present version; None for a new object."""
    off_loop: bool = False
    """Whether its steps are for a thread, as body and object are large."""
    removed: bool = False
    """Whether an update has removed the object, which was waiting for that."""
    version: int = 0
    """The revision that a new object names, which only a dry run shows."""


class Session(Objects):
    """Take the steps of writes."""

    def __init__(self, catalog: Catalog, storage: Storage, clock: Clock) -> None:
        super().__init__(catalog, storage, clock)
        self.native = clock.native
        self.strategies: dict[tuple[str, str], Strategy] = {}
        """The kinds with a strategy of their own, by group and resource: the parts of a server add theirs when they are
        made, definitions when they are served."""
        self.plain = Strategy(self)
        """The strategy of all others: it has nothing to await."""

    def strategy(self, resource: Resource) -> Strategy:
        """Return the strategy of a kind."""
        return self.strategies.get(resource.storage) or self.plain

    def traits(self, resource: Resource) -> frozenset[str]:
        """Return: create on update, unconditional update, deletion returns the object, graceful deletion."""
        if resource.traits is None:
            resource.traits = frozenset(resource.native.traits())
        return resource.traits

    def attempt(self, resource: Resource, namespace: str, write: Write, size: int, tries: int = 0) -> Attempt:
        """Return the next attempt of a write that processes so many bytes, after a number of others.

        Whether it leaves the loop is decided before its first step: the lock of the object precedes the read that the
        attempt is based on. After a few, the loop does the work in spite of its size: there no other write can come in
        between.
        """
        epoch = self.storage.epoch if write.epoch is None else write.epoch
        off_loop = size > LARGE and tries < POOLED_TRIES
        return Attempt(resource, namespace, self.strategy(resource), write, epoch, None, off_loop)

    def here(self, attempt: Attempt, step: Step[T]) -> T | None:
        """Return the result of a step; None if the loop has no time for it, or if it needs a conversion."""
        if attempt.off_loop:
            return None
        if not attempt.resource.custom or not step.has_rules:
            return step.here(UNLIMITED)
        if attempt.write.slow:
            return None
        share = current_turn().expressions
        begun = stopwatch()
        try:
            return step.here(share.left)
        finally:
            share.spend(stopwatch() - begun)

    async def take(self, attempt: Attempt, step: Step[T]) -> T:
        """Return the result of a step that `here` did not do. Raise what the step raises.

        The states of an object that a webhook converts, and their versions, depend on the results of earlier
        conversions (structured-merge-diff `merge/update.go`): the step is done again after each.
        """
        while True:
            if (needs := step.needs) is not None:
                await self._convert(attempt.resource, step, *needs)
                result = self.here(attempt, step)
            else:
                # Expressions that took too long once are not begun on the loop again.
                attempt.write.slow |= not attempt.off_loop
                result = await run(step.there, pooled=True)
            if result is not None:
                return result

    @staticmethod
    async def _convert(resource: Resource, step: Step[T], source: bytes, api_version: str) -> None:
        """Convert an object for a step; a failure is an answer too, which the step may live with."""
        assert resource.webhook is not None, "only its definition needs one"
        try:
            (converted,) = await resource.webhook.convert([source], api_version)
        except errors.ApiError as e:
            step.answer(None, e.message)
        else:
            step.answer(converted)

    async def to_storage_version(self, resource: Resource, draft: Draft) -> None:
        """Convert an object to the storage version, if a webhook does that. Raise ApiError 500."""
        if resource.webhook is not None and resource.storage_version is not None:
            group, version, _ = resource.storage_version
            await resource.webhook.to_storage_version(draft, f"{group}/{version}")

    async def seal(self, resource: Resource, draft: Draft, *, off_loop: bool) -> None:
        """Encode an object in its stored form before its commit; a large one off the loop."""
        await self.to_storage_version(resource, draft)
        if off_loop:
            await run(draft.seal, pooled=True)

    def check_epoch(self, attempt: Attempt) -> None:
        """Raise Conflict if the state was restored since an attempt began, Outdated if it may not begin anew."""
        if attempt.epoch != self.storage.epoch:
            raise Conflict if attempt.write.epoch is None else Outdated

    async def commit(self, attempt: Attempt, draft: Draft) -> Stored:
        """Store an object in place of the old version. Raise Exists, Missing, Conflict, Outdated."""
        resource, collection, old = attempt.resource, self.collection(attempt.resource), attempt.old
        if attempt.off_loop or resource.webhook is not None:
            await self.seal(resource, draft, off_loop=attempt.off_loop)
        self.check_epoch(attempt)
        # No other write can come between where a commit is complete within the call.
        self.storage.is_awaited = not self.storage.at_once or bool(attempt.write.verb)
        try:
            return await (collection.create(draft) if old is None else collection.update(old, draft))
        except TooLarge:
            if not attempt.write.manager:
                # An apply is nothing without its fields.
                raise
        finally:
            self.storage.is_awaited = True
        # Managed fields are given up before the object is (apiserver `isTooLargeError`).
        draft.set(["metadata", "managedFields"], None)
        await self.seal(resource, draft, off_loop=True)
        return await (collection.create(draft) if old is None else collection.update(old, draft))


def state_restored() -> errors.ApiError:
    """Return the 503 for a creation that began before a restore: its checks may not hold any more."""
    return errors.ApiError(503, "ServiceUnavailable", "the state was restored meanwhile", {}, retry_after=1)


def invalid(resource: Resource, draft: Draft, name: str, causes: Sequence[errors.Cause]) -> errors.ApiError:
    """Return the 422 for an object that its rules refuse."""
    return errors.invalid(*kind_of(resource, draft), name, list(causes))


def apply_here(step: Step[Applied]) -> Applied:
    """Return the result of an apply to a built-in kind on this thread, which has time for it. Raise what it raises."""
    result = step.here(UNLIMITED)
    assert result is not None, "no webhook converts built-in kinds"
    return result


def duplicate_owners(uids: list[str]) -> str:
    """Return the warning for owners that were there twice, and were removed."""
    return DUPLICATE_OWNERS + ", ".join(uids)
