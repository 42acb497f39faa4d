"""A watch that is open, and the faults that act on it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from hydrofoil import errors
from hydrofoil.controls.fault import Fault, Subject
from hydrofoil.watch.stream import WatchStream


class WatchInfo(NamedTuple):
    """An open watch as a test sees it."""

    resource: str
    namespace: str
    user: str
    agent: str
    started: datetime
    """By the clock of the server."""
    events: int
    """The number of events that were sent."""
    resource_version: str
    """The version up to which the watch has seen everything; empty before the end of its initial events."""
    path: str = ""


class Gate(NamedTuple):
    """A fault on a watch, and the number of events after which it acts."""

    fault: Fault
    due: int


class OpenWatch:
    """A watch from its request to its end (`watch.stream.Gate`)."""

    def __init__(self, subject: Subject, started: datetime) -> None:
        self.subject = subject
        self.started = started
        self._gates: list[Gate] = []
        self._stalled: set[Fault] = set()
        self._stream: WatchStream | None = None
        self._marks = True
        self.acted: Callable[[Fault], None] = lambda _: None
        """Called with each fault that acts."""

    def begin(self, stream: WatchStream) -> None:
        """Take the stream, before its first event."""
        self._stream = stream
        if self._gates:
            stream.gate = self

    def show(self) -> WatchInfo:
        """Return what a test sees."""
        subject, info = self.subject, self.subject.info
        events, revision = (0, None) if self._stream is None else self._stream.position()
        version = "" if revision is None else str(revision)
        return WatchInfo(
            info.resource, info.namespace, subject.user, subject.agent, self.started, events, version, info.path
        )

    def add(self, fault: Fault) -> None:
        """Let a fault act on the events from now on."""
        sent = 0 if self._stream is None else self._stream.position()[0]
        self._gates.append(Gate(fault, sent + fault.after))
        if self._stream is not None:
            self._stream.gate = self
            # A fault of no event acts at once.
            self._stream.pump()

    def remove(self, fault: Fault) -> None:
        """Release the events that a fault holds back."""
        self._gates = [gate for gate in self._gates if gate.fault is not fault]
        self._stalled.discard(fault)
        if self._stream is not None:
            if not self._gates:
                self._stream.gate = None
            self._stream.pump()

    def passes(self, stream: WatchStream) -> bool:
        """Report whether the next event may be sent; a fault whose turn it is ends the stream or holds it."""
        sent = stream.position()[0]
        for fault, due in self._gates:
            if fault.action == "no-bookmarks" or sent < due or stream.ended.done():
                continue
            if fault.action == "stall":
                if fault in self._stalled or self._act(fault):
                    self._stalled.add(fault)
                    return False
            elif self._act(fault):
                if fault.action in ("cut", "down"):
                    stream.drop()
                else:
                    stream.fail(expired())
                return False
        return True

    def marks(self) -> bool:
        """Report whether a bookmark may be sent now."""
        if self._stalled:
            return False
        return not any(gate.fault.action == "no-bookmarks" and self._silences(gate.fault) for gate in self._gates)

    def _silences(self, fault: Fault) -> bool:
        if self._marks and self._act(fault):
            self._marks = False
        return not self._marks

    def _act(self, fault: Fault) -> bool:
        """Count a fault that acts; report whether it still does."""
        if not fault.act():
            return False
        self.acted(fault)
        return True


def expired() -> errors.ApiError:
    """Return the 410 for a version that expires by a fault."""
    return errors.ApiError(410, "Expired", "The resourceVersion for the provided watch is too old.")
