"""State shared by the parts of a soak: the address of the server, its objects, and failures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import aiohttp

NAMESPACES = 10
SHARDS = 200
"""Values of the label by which most watchers select."""

Key = tuple[str, str]
"""Namespace and name."""
View = dict[Key, str]
"""The resource versions of objects, by key."""


@dataclass(slots=True)
class Soak:
    """One run."""

    url: str
    session: aiohttp.ClientSession
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    ending: bool = False
    chaos: bool = False
    """Whether the server fails at random, so that a request may have to be made again."""

    @property
    def host(self) -> str:
        """The server's address, as the Host header has it."""
        return self.url.partition("://")[2]

    def fail(self, text: str) -> None:
        """Record a failure; the first ones are enough."""
        self.counts["failures"] += 1
        if len(self.failures) < 20:
            self.failures.append(text)


def key(item: dict[str, Any]) -> Key:
    """Return the key of an object."""
    return item["metadata"]["namespace"], item["metadata"]["name"]


def view(items: list[dict[str, Any]]) -> View:
    """Return the versions of a list."""
    return {key(item): item["metadata"]["resourceVersion"] for item in items}
