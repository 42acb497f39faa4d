"""The ordered admission plug-ins of a server, and their run over one request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.phases import Phases, Ran
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import stopwatch
from hydrofoil.counting import Histogram
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.write import Operation, Write
from hydrofoil.request import ADMIN, ALWAYS_ALLOW, Annotated, Authorizer, User
from hydrofoil.watch.change_flag import ChangeFlag

Step = Callable[[Attributes], Awaitable[None] | None]


class Phase:
    """The steps of one phase, and the names of its plug-ins, those included that are idle."""

    __slots__ = ("admitted", "places", "plugins", "ran", "steps")

    def __init__(self, plugins: Sequence[Plugin], kind: str, ran: Ran, admitted: Histogram, *, quiet: bool) -> None:
        """`quiet`: leave the plug-ins out that are idle without objects that configure them."""
        called = [(at, plugin) for at, plugin in enumerate(plugins) if not (quiet and plugin.followed)]
        self.plugins = tuple(plugin for _, plugin in called)
        self.steps: tuple[Step, ...] = tuple(getattr(plugin, kind) for _, plugin in called)
        self.places = [at for at, _ in called]
        """The places of their plug-ins among the names."""
        self.ran = ran
        self.admitted = admitted
        """The durations of phases that rejected nothing, in seconds."""


Pair = tuple[Phase, Phase]
"""The mutating and the validating phase."""


class Chain:
    """Plug-ins in the order of their calls; which of them handle a request is computed once."""

    def __init__(self, plugins: Sequence[Plugin], authorizer: Authorizer = ALWAYS_ALLOW) -> None:
        self.plugins = tuple(plugins)
        self.authorizer = authorizer
        self.phases = Phases()
        self._steps: dict[tuple[Resource, str, Operation], tuple[Pair, Pair]] = {}
        """The phases of all plug-ins, and those of a quiet server."""
        self._configured = [plugin for plugin in self.plugins if plugin.followed]
        self._changed = ChangeFlag([followed for plugin in self._configured for followed in plugin.followed])
        self._quiet = False

    def changed(self) -> None:
        """Recompute which plug-ins handle which requests: resources or plug-ins were added or removed."""
        self._steps.clear()

    async def close(self) -> None:
        """End the work of plug-ins beside requests."""
        for plugin in self.plugins:
            await plugin.close()

    def quiet(self) -> bool:
        """Report whether no object configures any plug-in: no webhook, no policy."""
        if self._changed.changed():
            self._quiet = all(plugin.idle() for plugin in self._configured)
        return self._quiet

    def phases_of(self, resource: Resource, subresource: str, operation: Operation) -> Pair:
        """Return the phases of such requests."""
        found = self._steps.get((resource, subresource, operation))
        if found is None:
            asked = [p for p in self.plugins if p.handles(resource, subresource, operation)]
            mutate = [p for p in asked if type(p).mutate is not Plugin.mutate]
            validate = [p for p in asked if type(p).validate is not Plugin.validate]
            ran = [self.phases.ran(p.name for p in plugins) for plugins in (mutate, validate)]
            first = self.phases.spread("admit", operation, ran[0], rejected=False)
            second = self.phases.spread("validate", operation, ran[1], rejected=False)
            busy, silent = (
                (
                    Phase(mutate, "mutate", ran[0], first, quiet=quiet),
                    Phase(validate, "validate", ran[1], second, quiet=quiet),
                )
                for quiet in (False, True)
            )
            found = self._steps[resource, subresource, operation] = busy, silent
        return found[self.quiet()]

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
        phase, _ = self.chain.phases_of(self.resource, self.subresource, operation)
        if not phase.ran.names:
            return None
        self.again = self.mutated = False
        self.memory = None
        self.operation, self.draft, self.old = operation, draft, old
        waits = self._ask("admit", phase)
        return None if waits is None else self._twice(waits, phase.steps)

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
        _, phase = self.chain.phases_of(self.resource, self.subresource, operation)
        if not phase.ran.names:
            return None
        self.operation, self.draft, self.old = operation, draft, old
        return self._ask("validate", phase)

    def is_idle(self, operation: Operation) -> bool:
        """Report whether no plug-in has anything to do."""
        mutating, validating = self.chain.phases_of(self.resource, self.subresource, operation)
        return not mutating.steps and all(plugin.idle() for plugin in validating.plugins)

    def repeats(self, operation: Operation) -> bool:
        """Report whether every plug-in does the same to the same object again."""
        phases = self.chain.phases_of(self.resource, self.subresource, operation)
        # What is configured by objects asks others, as webhooks do.
        return self.chain.quiet() and all(
            plugin.repeats or plugin.idle() for phase in phases for plugin in phase.plugins
        )

    def _ask(self, kind: str, phase: Phase) -> Awaitable[None] | None:
        at, begun = 0, stopwatch()
        try:
            for at, step in enumerate(phase.steps):
                if (waits := step(self)) is not None:
                    return self._rest(kind, phase, at, waits, begun)
        except ApiError:
            self._counted(kind, begun, phase, at)
            raise
        phase.admitted.observe(stopwatch() - begun)
        return None

    def _counted(self, kind: str, begun: float, phase: Phase, at: int) -> None:
        """Count a phase that one of its steps has ended."""
        ran = phase.ran.until(phase.places[at])
        self.chain.phases.spread(kind, self.operation, ran, rejected=True).observe(stopwatch() - begun)

    async def _rest(self, kind: str, phase: Phase, at: int, waits: Awaitable[None] | None, begun: float) -> None:
        """Continue with a plug-in that has to wait, and those after it."""
        phases, operation = self.chain.phases, self.operation
        steps, names = phase.steps, phase.ran.names
        while at < len(steps):
            asked = stopwatch()
            try:
                waits = waits or steps[at](self)
                if waits is not None:
                    await waits
                    phases.waited(names[phase.places[at]], kind, operation, stopwatch() - asked, rejected=False)
            except ApiError:
                if waits is not None:
                    phases.waited(names[phase.places[at]], kind, operation, stopwatch() - asked, rejected=True)
                self._counted(kind, begun, phase, at)
                raise
            waits = None
            at += 1
        phase.admitted.observe(stopwatch() - begun)
