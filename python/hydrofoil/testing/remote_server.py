"""A server that runs beside its caller: every call is plain, and any thread may make it."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from types import TracebackType
from typing import Any, NoReturn, Self

from hydrofoil.clock import stopwatch
from hydrofoil.controls.conditions import Condition, State, check_condition, condition_text, holds
from hydrofoil.controls.documents import Source
from hydrofoil.controls.waiting import WaitTimeout, remember, split
from hydrofoil.testing.base import Base
from hydrofoil.testing.objects import AwaitableObjectCalls, ObjectCalls


class Aio(AwaitableObjectCalls):
    """The calls that may take long, to be awaited in any loop."""

    def __init__(self, server: RemoteServer) -> None:
        self._server = server

    async def _act(self, name: str, *given: Any) -> Any:
        return await asyncio.wrap_future(self._server.begin(name, *given))

    def resolve(self, sources: Sequence[Source]) -> list[Source]:
        """Return sources whose paths are absolute."""
        return self._server.resolve(sources)

    async def _wait(self, object: str, condition: Condition, namespace: str, timeout: float) -> State:
        wait = Wait(self._server, object, condition, namespace, timeout)
        try:
            while not wait.done:
                found = await asyncio.wrap_future(wait.step())
                wait.take(found)
        finally:
            wait.close()
        return wait.state


def result(call: Future[Any]) -> Any:
    """Return the result of a call. Raise its error; RuntimeError if the server has stopped meanwhile."""
    try:
        return call.result()
    except CancelledError:
        raise RuntimeError("the server has stopped") from None


def refuse_in_loop() -> None:
    """Raise RuntimeError in a running loop: what is waited for may have to be done by that loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("wait_for() would block the running loop: use `await hydrofoil.aio.wait_for(...)`")


class Wait:
    """One wait for a state: the condition is called where the test runs, not where the server does."""

    def __init__(self, server: RemoteServer, object: str, condition: Condition, namespace: str, timeout: float) -> None:
        split(object)
        check_condition(condition)
        self._server = server
        self._given = object, namespace
        self._condition = condition
        self._timeout = timeout
        self._until = stopwatch() + timeout
        self._number: int | None = None
        self._under_way: Future[Any] | None = None
        self._seen: list[State] = []
        self.state: State = None
        self.done = False
        self._is_over = False
        """Whether the time is over: what is known of the object is asked for then."""

    def step(self) -> Future[Any]:
        """Begin to look at the object, or for its next state; the server looks once, however little time is left."""
        left = max(self._until - stopwatch(), 0.0)
        if self._is_over:
            self._under_way = self._server.begin("wait_hints", *self._given)
        elif self._number is None:
            self._under_way = self._server.begin("open_wait", *self._given, left)
        else:
            self._under_way = self._server.begin("next_state", self._number, left)
        return self._under_way

    def take(self, result: Any) -> None:
        """Take the result of a step. Raise WaitTimeout once it is known why a state did not come in time."""
        self._under_way = None
        if self._is_over:
            raise WaitTimeout(*self._given, condition_text(self._condition), self._timeout, self._seen, result)
        if result is None:
            self._is_over = True
            return
        if self._number is None:
            self._number = result
            return
        (state,) = result
        self._seen = remember(self._seen, state)
        if holds(self._condition, state):
            self.state, self.done = state, True

    def close(self) -> None:
        """Stop looking."""
        if self._under_way is not None:
            self._under_way.cancel()
        if self._number is not None:
            self._server.caller.post("close_wait", self._number)


class RemoteServer(Base, ObjectCalls):
    """A server in a thread or process of its own."""

    __test__ = False
    """pytest takes it for no test, under its public name `TestServer`."""

    @abstractmethod
    def start(self) -> Self:
        """Start. Raise StartError with one line."""

    @abstractmethod
    def stop(self) -> None:
        """Stop; again is no error."""

    @abstractmethod
    def begin(self, name: str, *given: Any) -> Future[Any]:
        """Begin a call of the core that takes time."""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def aio(self) -> Aio:
        """Return the calls about objects, `apply` and `wait_for`, to be awaited."""
        return Aio(self)

    def _act(self, name: str, *given: Any) -> Any:
        return result(self.begin(name, *given))

    def _wait(self, object: str, condition: Condition, namespace: str, timeout: float) -> State:
        refuse_in_loop()
        wait = Wait(self, object, condition, namespace, timeout)
        try:
            while not wait.done:
                wait.take(result(wait.step()))
        finally:
            wait.close()
        return wait.state

    def session(self, **settings: Any) -> NoReturn:
        """Raise RuntimeError: a client in memory runs in the loop of its server."""
        raise RuntimeError("connections in memory are for a server in the loop of its caller: use Server()")

    def transport(self) -> NoReturn:
        """Raise RuntimeError, as `session`."""
        self.session()
