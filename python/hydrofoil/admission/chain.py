"""The ordered admission plug-ins of a server, and their run over one request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.phases import Phases, Ran
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import stopwatch
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.write import Operation, Write
from hydrofoil.request import ADMIN, ALWAYS_ALLOW, Annotated, Authorizer, User

Step = Callable[[Attributes], Awaitable[None] | None]
Steps = tuple[Sequence[Step], Sequence[Step], Ran, Ran]
"""Mutating and validating steps, and the names of their plug-ins."""


class Chain:
    """Plug-ins in the order of their calls; which of them handle a request is computed once."""

    def __init__(self, plugins: Sequence[Plugin], authorizer: Authorizer = ALWAYS_ALLOW) -> None:
        self.plugins = tuple(plugins)
        self.authorizer = authorizer
        self.phases = Phases()
        self._steps: dict[tuple[Resource, str, Operation], Steps] = {}

    def changed(self) -> None:
        """Recompute which plug-ins handle which requests: resources or plug-ins were added or removed."""
        self._steps.clear()

    async def close(self) -> None:
        """End the work of plug-ins beside requests."""
        for plugin in self.plugins:
            await plugin.close()

    def steps(self, resource: Resource, subresource: str, operation: Operation) -> Steps:
        """Return the steps for such requests."""
        key = (resource, subresource, operation)
        found = self._steps.get(key)
        if found is None:
            asked = [p for p in self.plugins if p.handles(resource, subresource, operation)]
            mutate = [p for p in asked if type(p).mutate is not Plugin.mutate]
            validate = [p for p in asked if type(p).validate is not Plugin.validate]
            found = self._steps[key] = (
                tuple(p.mutate for p in mutate),
                tuple(p.validate for p in validate),
                self.phases.ran(p.name for p in mutate),
                self.phases.ran(p.name for p in validate),
            )
        return found

    def write(
        self,
        resource: Resource,
        namespace: str,
        name: str = "",
        *,
        subresource: str = "",
        manager: str = "",
        dry_run: bool = False,
        user: User = ADMIN,
        warnings: list[str] | None = None,
        authorizer: Authorizer | None = None,
        audit: Annotated | None = None,
        asked: Callable[[Operation], dict[str, Any] | None] | None = None,
    ) -> Write:
        """Return a write that these plug-ins admit; `authorizer` decides on its user instead of the usual one.

        `asked` returns the options of the request.
        """
        reported: list[str] = [] if warnings is None else warnings
        # No reference to the write: each would keep the other alive until the cyclic garbage collector runs.
        admit = Admission(resource, subresource, namespace, name, dry_run, user, reported, chain=self)
        admit.audit = audit
        admit.asked = asked
        decides = admit.authorizer = self.authorizer if authorizer is None else authorizer
        return Write(admit, manager, subresource, dry_run, user, reported, decides, namespace, name)


class Admission(Attributes, kw_only=True):
    """Admission of one request (`registry.write.Admit`)."""

    chain: Chain

    def mutate(self, operation: Operation, draft: Draft | None, old: Stored | None) -> Awaitable[None] | None:
        """Run the mutating steps on the draft."""
        steps, _, ran, _ = self.chain.steps(self.resource, self.subresource, operation)
        if not steps:
            return None
        self.again = self.mutated = False
        self.memory = None
        self.operation, self.draft, self.old = operation, draft, old
        waits = self._ask("admit", steps, ran)
        return None if waits is None else self._twice(waits, steps)

    async def _twice(self, waits: Awaitable[None], steps: Sequence[Step]) -> None:
        """Run the steps once more if a webhook or policy has changed the object: only those wait."""
        await waits
        if self.mutated:
            self.again = True
            for step in steps:
                if (again := step(self)) is not None:
                    await again

    def validate(self, operation: Operation, draft: Draft | None, old: Stored | None) -> Awaitable[None] | None:
        """Run the validating steps on the object to be stored."""
        _, steps, _, ran = self.chain.steps(self.resource, self.subresource, operation)
        if not steps:
            return None
        self.operation, self.draft, self.old = operation, draft, old
        return self._ask("validate", steps, ran)

    def _ask(self, kind: str, steps: Sequence[Step], ran: Ran) -> Awaitable[None] | None:
        at, begun = 0, stopwatch()
        try:
            for at, step in enumerate(steps):
                if (waits := step(self)) is not None:
                    return self._rest(kind, steps, ran, at, waits, begun)
        except ApiError:
            self._counted(kind, begun, ran, at)
            raise
        self.chain.phases.add(kind, self.operation, stopwatch() - begun, ran, rejected=False)
        return None

    def _counted(self, kind: str, begun: float, ran: Ran, at: int) -> None:
        """Count a phase that the plug-in at a place has ended."""
        self.chain.phases.add(kind, self.operation, stopwatch() - begun, ran.until(at), rejected=True)

    async def _rest(
        self, kind: str, steps: Sequence[Step], ran: Ran, at: int, waits: Awaitable[None] | None, begun: float
    ) -> None:
        """Continue with a plug-in that has to wait, and those after it."""
        phases, operation = self.chain.phases, self.operation
        while at < len(steps):
            asked = stopwatch()
            try:
                waits = waits or steps[at](self)
                if waits is not None:
                    await waits
                    phases.waited(ran.names[at], kind, operation, stopwatch() - asked, rejected=False)
            except ApiError:
                if waits is not None:
                    phases.waited(ran.names[at], kind, operation, stopwatch() - asked, rejected=True)
                self._counted(kind, begun, ran, at)
                raise
            waits = None
            at += 1
        phases.add(kind, operation, stopwatch() - begun, ran, rejected=False)
