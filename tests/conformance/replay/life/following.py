"""A collection that is followed by watch in the background, as it was after every event."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from typing import Any

from tests.conformance.replay.client import Client
from tests.conformance.replay.paths import Object, lookup

SETTLE_SECONDS = 0.3
"""The time for events that are on their way when a watch is ended."""
PHASES = ("Running", "Succeeded", "Failed")


def condition(item: Object, kind: str) -> str:
    """Return the status of a condition; empty if it is absent."""
    conditions = (item.get("status") or {}).get("conditions") or []
    return next((str(c["status"]) for c in conditions if c["type"] == kind), "")


def facts(item: Object | None) -> list[str]:
    """Return what a moment may tell of an object, most of it of pods."""
    if item is None:
        return []
    found = ["created"]
    phase = (item.get("status") or {}).get("phase")
    if (item.get("spec") or {}).get("nodeName"):
        found.append("bound")
    if phase in PHASES:
        found.append(phase.lower())
    if condition(item, "Ready") == "True":
        found.append("ready")
    if item["metadata"].get("deletionTimestamp"):
        found.append("terminating")
    return found


class Following:
    """One watch."""

    def __init__(self, client: Client, spec: Object) -> None:
        """`spec` has the path of the collection (`of`), and the fields whose changes are moments (`track`)."""
        self._track: dict[str, str] = spec.get("track", {})
        self._events: list[tuple[str, Object]] = []
        listed = client.open("GET", spec["of"], {})
        content = json.loads(listed.response.read())
        listed.close()
        self._first = {item["metadata"]["name"]: item for item in content["items"]}
        joint = "&" if "?" in spec["of"] else "?"
        version = content["metadata"]["resourceVersion"]
        self._stream = client.open("GET", f"{spec['of']}{joint}watch=1&resourceVersion={version}", {})
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            while line := self._stream.response.readline():
                event = json.loads(line)
                self._events.append((event["type"], event["object"]))

    def stop(self) -> None:
        """End the watch."""
        time.sleep(SETTLE_SECONDS)
        if (sock := self._stream.lower.sock) is not None:
            sock.close()

    def moments(self) -> list[tuple[str, dict[str, Object]]]:
        """Return what happened, with the collection right after it; several things may happen at once."""
        state = dict(self._first)
        found: list[tuple[str, dict[str, Object]]] = [("", state)]
        for kind, item in list(self._events):
            name = item["metadata"]["name"]
            before = state.get(name)
            state = {other: value for other, value in state.items() if other != name}
            if kind == "DELETED":
                words = ["removed"]
            else:
                state[name] = item
                words = self._words(before, item)
            found += [(f"{name} {word}", state) for word in words] or [("", state)]
        return found

    def _words(self, before: Object | None, item: Object) -> list[str]:
        old, new = facts(before), facts(item)
        words = [fact for fact in new if fact not in old]
        if "ready" in old and "ready" not in new:
            words.append("unready")
        for label, path in self._track.items():
            value = lookup(item, path)
            if before is None or lookup(before, path) != value:
                words.append(f"{label}={json.dumps(value) if isinstance(value, dict | list) else value}")
        return words


class View:
    """The counters that bounds may use, over one state of a collection."""

    def __init__(self, state: dict[str, Object]) -> None:
        self._state = state
        names = ("total", "live", "ready", "serving", "terminating", "ended", "at", "sum_of")
        self.names: dict[str, Any] = {name: getattr(self, name) for name in names}

    def _facts(self, labels: dict[str, str]) -> list[set[str]]:
        return [set(facts(item)) for item in self._items(labels)]

    def _items(self, labels: dict[str, str]) -> list[Object]:
        items = self._state.values()
        return [item for item in items if labels.items() <= (item["metadata"].get("labels") or {}).items()]

    def total(self, **labels: str) -> int:
        """Return the number of objects with labels."""
        return len(self._items(labels))

    def live(self, **labels: str) -> int:
        """Return how many are neither deleted nor ended."""
        return sum(not {"terminating", "succeeded", "failed"} & found for found in self._facts(labels))

    def ready(self, **labels: str) -> int:
        """Return how many are ready, and not deleted."""
        return sum("ready" in found and "terminating" not in found for found in self._facts(labels))

    def serving(self, **labels: str) -> int:
        """Return how many are ready."""
        return sum("ready" in found for found in self._facts(labels))

    def terminating(self, **labels: str) -> int:
        """Return how many are being deleted."""
        return sum("terminating" in found for found in self._facts(labels))

    def ended(self, **labels: str) -> int:
        """Return how many have ended."""
        return sum(bool({"succeeded", "failed"} & found) for found in self._facts(labels))

    def at(self, name: str, path: str) -> Any:
        """Return a field of an object; 0 if it is absent."""
        return lookup(self._state.get(name) or {}, path) or 0

    def sum_of(self, path: str, **labels: str) -> int:
        """Return the sum of a field."""
        return sum(lookup(item, path) or 0 for item in self._items(labels))
