"""Waiting for the state of an object, on the events of its collection."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from itertools import count
from typing import Any, TypeVar

import orjson

from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.engine import Selector
from hydrofoil.registry.store import Registry
from hydrofoil.watch.hub import LAPPED, Hub

T = TypeVar("T")
State = dict[str, Any] | None
"""An object; None: there is none."""
Condition = str | Callable[[dict[str, Any]], object]
LAST = 6
"""The number of states that are remembered of a wait."""
SHOWN = 3
"""The number of last states in a message."""
BATCH = 64


class WaitTimeout(TimeoutError):
    """A state that did not come in time."""

    def __init__(
        self, object: str, namespace: str, condition: str, seconds: float, states: Iterable[State], reason: str = ""
    ) -> None:
        self.object, self.namespace, self.condition, self.seconds = object, namespace, condition, seconds
        self.states = list(states)
        """The last states that were seen, None where there was no object."""
        self.reason = reason or describe_states(self.states)
        where = f" in namespace {namespace}" if namespace else ""
        super().__init__(f"{object}{where} was not {condition} within {seconds:g} s: {self.reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        given = self.object, self.namespace, self.condition, self.seconds, self.states, self.reason
        return type(self), given


def describe_states(states: list[State]) -> str:
    """Describe the states that were seen."""
    if not any(state is not None for state in states):
        return "it never existed"
    return "; then ".join(describe_state(state) for state in states[-SHOWN:])


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


def condition_text(condition: Condition) -> str:
    """Return the text of a condition."""
    return condition if isinstance(condition, str) else getattr(condition, "__name__", repr(condition))


def holds(condition: Condition, state: State) -> bool:
    """Report whether a state meets a condition."""
    if condition == "deleted":
        return state is None
    if state is None:
        return False
    if not isinstance(condition, str):
        return bool(condition(state))
    if condition == "exists":
        return True
    kind, _, wanted = condition.partition("=")
    status = state.get("status")
    found = status.get("conditions") if isinstance(status, dict) else None
    return any(
        isinstance(c, dict)
        and str(c.get("type", "")).lower() == kind.lower()
        and str(c.get("status", "")).lower() == (wanted or "True").lower()
        for c in found or ()
    )


def split(object: str) -> tuple[str, str]:
    """Return the resource and the name of `resource/name`. Raise ValueError."""
    resource, slash, name = object.partition("/")
    if not (resource and slash and name) or "/" in name:
        raise ValueError(f"{object!r} is no object: it must be resource/name, as deployments.apps/web")
    return resource, name


def find(catalog: Catalog, resource: str) -> Resource | None:
    """Return a resource by plural, singular, kind or short name, maybe with its group; None if none is served."""
    name, _, group = resource.lower().partition(".")
    found = [
        r
        for r in catalog.resources()
        if name in (r.plural, r.singular, r.kind.lower(), *r.short_names) and (not group or r.group == group)
    ]
    core = [r for r in found if not r.group]
    stable = sorted(core or found, key=lambda r: ("alpha" in r.version, "beta" in r.version))
    return stable[0] if stable else None


async def within(seconds: float, work: Awaitable[T]) -> tuple[T] | None:
    """Return the result of work; None if it did not come in time. Work that needs no time is done without any, too."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return (await work,)
    return None


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


class Waits:
    """The objects of one server that tests look at."""

    def __init__(self, registry: Registry, hub: Hub, listeners: list[Callable[[], None]]) -> None:
        """Call back through `listeners` when resources are added."""
        self._registry = registry
        self._hub = hub
        self._listeners = listeners
        self._open: dict[int, States] = {}
        self._numbers = count(1)

    async def open(self, object: str, namespace: str) -> int:
        """Begin to look at an object, once its resource is served; return a number. Raise ValueError."""
        resource, name = split(object)
        while (found := find(self._registry.catalog, resource)) is None:
            changed = asyncio.Event()
            self._listeners.append(changed.set)
            try:
                await changed.wait()
            finally:
                self._listeners.remove(changed.set)
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

    def end(self) -> None:
        """Stop looking at all objects."""
        for number in list(self._open):
            self.close(number)

    async def until(self, object: str, condition: Condition, namespace: str, timeout: float) -> State:
        """Return an object once it meets a condition; None once it is deleted. Raise WaitTimeout."""
        split(object)
        seen: deque[State] = deque(maxlen=LAST)
        number = None
        limit = asyncio.timeout(timeout)
        try:
            async with limit:
                number = await self.open(object, namespace)
                while True:
                    state = await self.next(number)
                    seen.append(state)
                    if holds(condition, state):
                        return state
        except TimeoutError:
            if not limit.expired():
                # The condition's own.
                raise
            raise WaitTimeout(object, namespace, condition_text(condition), timeout, seen) from None
        finally:
            if number is not None:
                self.close(number)
