"""Waiting for the state of an object, on the events of its collection."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from itertools import count
from typing import Any, TypeVar

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.controls.conditions import Condition, State, check_condition, condition_text, holds, phrase
from hydrofoil.controls.explanation import (
    MOST_MEMBERS,
    Hints,
    changed_members,
    find,
    hints,
    is_secret,
    section,
    show_object,
)
from hydrofoil.engine import Selector
from hydrofoil.errors import ApiError
from hydrofoil.registry.store import Registry
from hydrofoil.watch.hub import LAPPED, Hub

T = TypeVar("T")
LAST = 6
"""The number of states that are remembered of a wait: the first, and the last of the others."""
SHOWN = 3
"""The number of last states in a message."""
BATCH = 64
WHY_SECONDS = 2.0
"""The time in which a failed wait learns why."""
Why = Callable[[str, str], Awaitable[list[str]]]
"""Return why an object of a namespace is not ready; nothing for kinds that are not followed. Raise ApiError."""


class WaitTimeout(TimeoutError):
    """A state that did not come in time."""

    def __init__(
        self,
        object: str,
        namespace: str,
        condition: str,
        seconds: float,
        states: Iterable[State],
        hints: Hints | None = None,
    ) -> None:
        self.object, self.namespace, self.condition, self.seconds = object, namespace, condition, seconds
        self.states = list(states)
        """The first state that was seen and the last ones, None where there was no object."""
        self.hints = Hints(resource="?") if hints is None else hints
        where = f" in namespace {namespace}" if namespace else ""
        first = f"{object}{where} {phrase(condition)} within {seconds:g} s: {self._reason()}"
        super().__init__("\n".join([first, *self._sections()]))

    def _reason(self) -> str:
        if not self.hints.resource:
            near = f" ({', '.join(self.hints.near)}?)" if self.hints.near else ""
            return f"no resource {self.object.partition('/')[0]!r} is served{near}"
        if any(state is not None for state in self.states):
            return describe_states(self.states)
        near = f"; there is {', '.join(self.hints.near)}" if self.hints.near else ""
        return f"it never existed{near}"

    def _sections(self) -> Iterable[str]:
        present = [state for state in self.states if state is not None]
        if present:
            # Of a deleted object, what it was before.
            title = "its last state:" if self.states[-1] is not None else "its last state, before it was deleted:"
            yield from section(title, show_object(present[-1], self.hints.resource))
            changes = list(changed_members(present[0], present[-1]))[:MOST_MEMBERS]
            if is_secret(present[-1], self.hints.resource):
                changes = [change.partition(":")[0] for change in changes]
            yield from section("changed during the wait:", changes)
        yield from section("why it is not ready:", self.hints.why)
        yield from section("events about it:", self.hints.events)

    def __reduce__(self) -> tuple[Any, ...]:
        given = self.object, self.namespace, self.condition, self.seconds, self.states, self.hints
        return type(self), given


def describe_states(states: list[State]) -> str:
    """Describe the states that were seen."""
    shown = states[-SHOWN:]
    # An object that never was cannot have been deleted.
    first = ["it did not exist"] if shown[0] is None and len(shown) == len(states) else []
    return "; then ".join([*first, *(describe_state(state) for state in shown[len(first) :])])


def describe_state(state: State) -> str:
    """Describe one state: version, deletion and conditions."""
    if state is None:
        return "it was deleted"
    metadata = state.get("metadata", {})
    parts = [f"at version {metadata.get('resourceVersion', '?')}"]
    if metadata.get("deletionTimestamp"):
        finalizers = ", ".join(metadata.get("finalizers", ())) or "none"
        parts.append(f"being deleted since {metadata['deletionTimestamp']} (finalizers: {finalizers})")
    status = state.get("status")
    if isinstance(status, dict):
        if phase := status.get("phase"):
            parts.append(f"phase {phase}")
        conditions = [c for c in status.get("conditions") or () if isinstance(c, dict)]
        shown = [
            f"{c.get('type')}={c.get('status')}" + (f" ({c['reason']})" if c.get("reason") else "") for c in conditions
        ]
        parts.append(f"conditions {', '.join(shown)}" if shown else "no conditions")
    return "it was " + ", ".join(parts)


def split(object: str) -> tuple[str, str]:
    """Return the resource and the name of `resource/name`. Raise ValueError."""
    resource, slash, name = object.partition("/")
    if not (resource and slash and name) or "/" in name:
        raise ValueError(f"{object!r} is no object: it must be resource/name, as deployments.apps/web")
    return resource, name


async def within(seconds: float, work: Awaitable[T]) -> tuple[T] | None:
    """Return the result of work; None if it did not come in time. Work that needs no time is done without any, too."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return (await work,)
    return None


def remember(states: list[State], state: State) -> list[State]:
    """Return what is remembered of a wait with one state more: the first one, and the last."""
    return [*states, state] if len(states) < LAST else [states[0], *states[2:], state]


class States:
    """The states of one object: the present one, then each that it gets."""

    urgent = False
    subject = None

    def __init__(self, registry: Registry, hub: Hub, resource: Resource, namespace: str, name: str) -> None:
        self._hub = hub
        self._collection = registry.collection(resource)
        self._native = resource.native
        self._key = (namespace if resource.namespaced else "", name)
        self._selector = Selector(resource.native, self._key[0], "", f"metadata.name={name}")
        self._token = hub.token()
        self._states: deque[State] = deque()
        self._came = asyncio.Event()
        self._begin()
        hub.add(self._token, self)
        self.pump()
        if not self._states:
            self._states.append(None)
            self._came.set()

    def _begin(self) -> None:
        self._watcher = self._collection.watch(self._native, self._selector, "json", None, self._token, False)

    async def next(self) -> State:
        """Wait for the next state and return it."""
        while not self._states:
            self._came.clear()
            await self._came.wait()
        return self._states.popleft()

    def pump(self) -> None:
        """Take the states that wait; the hub calls this."""
        while self._watcher.waits():
            changes, left = self._watcher.changes(BATCH)
            for old, new in changes:
                about = new or old
                # The selector decides on waking; the changes are those of all objects since.
                if about is not None and (about.namespace, about.name) == self._key:
                    self._states.append(None if new is None else orjson.loads(new.json))
            if left == LAPPED:
                self._begin()
        if self._states:
            self._came.set()

    def bookmark(self) -> None:
        """Do nothing: the position is not reported."""

    def cut(self) -> None:
        """Do nothing: the form of objects is irrelevant."""

    def end(self) -> None:
        """Stop watching."""
        self._hub.remove(self._token)


async def until_served(listeners: list[Callable[[], None]], look: Callable[[], T | None]) -> T:
    """Return what is found once it is served; `listeners` are called back when resources are added."""
    while (found := look()) is None:
        changed = asyncio.Event()
        listeners.append(changed.set)
        try:
            await changed.wait()
        finally:
            listeners.remove(changed.set)
    return found


class Waits:
    """The objects of one server that tests look at."""

    def __init__(self, registry: Registry, hub: Hub, listeners: list[Callable[[], None]], why: Why) -> None:
        """Call back through `listeners` when resources are added."""
        self._registry = registry
        self._hub = hub
        self._listeners = listeners
        self._why = why
        self._open: dict[int, States] = {}
        self._numbers = count(1)

    async def open(self, object: str, namespace: str) -> int:
        """Begin to look at an object, once its resource is served; return a number. Raise ValueError."""
        resource, name = split(object)
        found = await until_served(self._listeners, lambda: find(self._registry.catalog, resource))
        number = next(self._numbers)
        self._open[number] = States(self._registry, self._hub, found, namespace, name)
        return number

    async def next(self, number: int) -> State:
        """Return the next state of an object that is looked at."""
        return await self._open[number].next()

    def close(self, number: int) -> None:
        """Stop looking at an object."""
        if (states := self._open.pop(number, None)) is not None:
            states.end()

    async def hints(self, object: str, namespace: str) -> Hints:
        """Return what is known about an object that was waited for in vain. Raise ValueError."""
        known = hints(self._registry, *split(object), namespace)
        if known.resource:
            # The wait has failed already: what cannot be told at once, or at all, is left out.
            with suppress(ApiError):
                found = await within(WHY_SECONDS, self._why(object, namespace))
                known.why = tuple(found[0]) if found else ()
        return known

    def end(self) -> None:
        """Stop looking at all objects."""
        for number in list(self._open):
            self.close(number)

    async def until(self, object: str, condition: Condition, namespace: str, timeout: float) -> State:
        """Return an object once it meets a condition; None once it is deleted. Raise WaitTimeout."""
        split(object)
        check_condition(condition)
        seen: list[State] = []
        number = None
        limit = asyncio.timeout(timeout)
        try:
            async with limit:
                number = await self.open(object, namespace)
                while True:
                    state = await self.next(number)
                    seen = remember(seen, state)
                    if holds(condition, state):
                        return state
        except TimeoutError:
            if not limit.expired():
                # The condition's own.
                raise
            known = await self.hints(object, namespace)
            raise WaitTimeout(object, namespace, condition_text(condition), timeout, seen, known) from None
        finally:
            if number is not None:
                self.close(number)
