"""One fault: the requests that it matches, and its effect on them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from math import inf
from typing import Any

from msgspec import Struct

from hydrofoil.errors import qualified_resource
from hydrofoil.near import suggest
from hydrofoil.request import RequestInfo

VERBS = frozenset(("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"))
METHODS = frozenset(("head", "options", "post", "put", "connect"))
"""Verbs of paths that are no resource, beside those that are verbs of resources, too."""
MATCHED = ("verb", "resource", "namespace", "name", "user", "agent", "path")
COUNTED = ("nth", "times")
WHEN = ("before", "after", "body")


class Subject(Struct, frozen=True):
    """A request as faults see it."""

    info: RequestInfo
    user: str
    agent: str


def check_verb(verb: str) -> None:
    """Raise ValueError for a verb, or a pattern of some, that no request has."""
    if verb and not any(fnmatchcase(known, verb) for known in (*VERBS, *METHODS)):
        mend = suggest(verb, (*VERBS, *METHODS))
        raise ValueError(f"no verb {verb!r}{mend}: it is one of {', '.join(sorted(VERBS))}")


def _texts(name: str, value: Any) -> tuple[str, ...]:
    given = (value,) if isinstance(value, str) else value
    if not isinstance(given, tuple | list) or not given or not all(isinstance(v, str) for v in given):
        raise TypeError(f"{name} must be a text or several, not {value!r}")
    return tuple(given)


def _whole(name: str, value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < least:
        raise ValueError(f"{name} must be {least} or more, not {value}")
    return value


def _seconds(value: Any) -> tuple[float, float]:
    low, high = value if isinstance(value, tuple | list) and len(value) == 2 else (value, value)
    for part in (low, high):
        if not isinstance(part, int | float) or isinstance(part, bool):
            raise TypeError(f"seconds must be a number or (low, high), not {value!r}")
    if not 0 <= low <= high < inf:
        raise ValueError(f"seconds must not be negative or endless, nor high below low: {value!r}")
    return float(low), float(high)


def _code(value: Any) -> int:
    code = _whole("code", value, 400)
    if code > 599:
        raise ValueError(f"code must be one of a failure, 400 to 599, not {code}")
    return code


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"reason and message must be texts, not {value!r}")
    return value


def _when(value: Any) -> str:
    if value not in WHEN:
        raise ValueError(f"when must be one of {', '.join(WHEN)}, not {value!r}")
    return str(value)


PARAMETERS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "delay": {"seconds": _seconds},
    "status": {
        "code": _code,
        "reason": _text,
        "message": _text,
        "retry_after": lambda value: _whole("retry_after", value, 0),
    },
    "deny": {"message": _text},
    "cut": {"when": _when, "after": lambda value: _whole("after", value, 0)},
    "stall": {"after": lambda value: _whole("after", value, 0)},
    "expire": {"after": lambda value: _whole("after", value, 0)},
    "no-bookmarks": {},
    "down": {},
}
"""The parameters of each action, with their checks."""
NEEDED = {"delay": "seconds", "status": "code"}
DOWN = ("agent",)
"""What `down` matches by: nothing else is known of a client whose requests are not looked at."""


class Fault:
    """A fault as a server has it. It is counted by requests, and spent after `times`."""

    def __init__(self, number: int, action: str, given: Mapping[str, Any]) -> None:
        """Raise TypeError and ValueError for a name or a value that has no meaning."""
        if action not in PARAMETERS:
            mend = suggest(action, PARAMETERS)
            raise ValueError(f"no action {action!r}{mend}: it is one of {', '.join(PARAMETERS)}")
        checks = PARAMETERS[action]
        known = DOWN if action == "down" else (*checks, *MATCHED, *COUNTED)
        if unknown := [name for name in given if name not in known]:
            raise TypeError(f"{action} has no parameter {unknown[0]!r}{suggest(unknown[0], known)}")
        if (needed := NEEDED.get(action)) is not None and given.get(needed) is None:
            raise TypeError(f"{action} needs {needed}")
        self.number = number
        self.action = action
        self.match = {name: _texts(name, given[name]) for name in MATCHED if given.get(name) is not None}
        self.parameters = {name: check(given[name]) for name, check in checks.items() if given.get(name) is not None}
        self.nth = _whole("nth", given["nth"], 1) if given.get("nth") is not None else None
        self.times = _whole("times", given["times"], 1) if given.get("times") is not None else None
        self.seen = self.hits = 0
        self.removed = False
        self.held: set[asyncio.Future[None]] = set()
        """The requests that it delays."""
        verbs = self.match.get("verb", ())
        for verb in verbs:
            check_verb(verb)
        self.watching = verbs == ("watch",)
        """Whether it concerns watches alone."""
        if not self.watching and (action == "stall" or (action == "cut" and "after" in self.parameters)):
            raise ValueError(f"{action} after events needs verb='watch'")
        if "after" in self.parameters and "when" in self.parameters:
            raise ValueError("cut takes when or after, not both")

    @property
    def after(self) -> int:
        """Return the number of events of a watch after which it acts."""
        return int(self.parameters.get("after", 0))

    @property
    def on_streams(self) -> bool:
        """Report whether it acts on the events of a watch instead of its request."""
        if self.action == "cut":
            return self.watching and "when" not in self.parameters
        return self.action in ("stall", "no-bookmarks", "expire", "down")

    def __str__(self) -> str:
        parts = [self.action]
        for name, values in self.match.items():
            parts.append(f"{name}={','.join(values)}")
        for name, value in self.parameters.items():
            shown = f"{value[0]:g}" if name == "seconds" and value[0] == value[1] else value
            parts.append(f"{name}={shown}")
        parts += [f"{name}={count}" for name, count in (("nth", self.nth), ("times", self.times)) if count]
        return f"{' '.join(parts)} (seen {self.seen}, hits {self.hits})"

    @property
    def name(self) -> str:
        """Return the fault without its counts."""
        return str(self).rpartition(" (")[0]

    @property
    def spent(self) -> bool:
        """Report whether it does not act any more."""
        return self.removed or (self.times is not None and self.hits >= self.times)

    def matches(self, subject: Subject) -> bool:
        """Report whether it matches a request."""
        info, match = subject.info, self.match
        if self.action == "down":
            return any(fnmatchcase(subject.agent, pattern) for pattern in match.get("agent", ("*",)))
        if not info.resourceful and "path" not in match:
            return False
        resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        full = qualified_resource(info.group, info.resource) + (f"/{info.subresource}" if info.subresource else "")
        values = {
            "verb": (info.verb,),
            "resource": (resource, full),
            "namespace": (info.namespace,),
            "name": (info.name,),
            "user": (subject.user,),
            "agent": (subject.agent,),
            "path": (info.path,),
        }
        return all(
            any(fnmatchcase(value, pattern) for value in values[name] for pattern in patterns)
            for name, patterns in match.items()
        )

    def meets(self, subject: Subject) -> bool:
        """Count a request that it matches; report whether it is one that it acts on."""
        if self.removed or not self.matches(subject):
            return False
        self.seen += 1
        return not self.spent and (self.nth is None or self.seen == self.nth)

    def remove(self) -> None:
        """Act no more; requests that it delays continue."""
        self.removed = True
        for held in self.held:
            if not held.done():
                held.set_result(None)

    async def delay(self, seconds: float) -> None:
        """Wait, by the time of the machine, at most until it is removed."""
        held = asyncio.get_running_loop().create_future()
        self.held.add(held)
        try:
            await asyncio.wait((held,), timeout=seconds)
        finally:
            self.held.discard(held)

    def act(self) -> bool:
        """Count an act; report False if it is spent."""
        if self.spent:
            return False
        self.hits += 1
        return True
