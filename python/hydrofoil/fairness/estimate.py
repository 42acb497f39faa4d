"""The estimated work of requests (apiserver `pkg/util/flowcontrol/request`)."""

from __future__ import annotations

import math
from urllib.parse import parse_qsl

from hydrofoil.engine import Histogram, Work
from hydrofoil.options import TRUE
from hydrofoil.registry.objects import Objects
from hydrofoil.request import RequestInfo

OBJECTS = 100
"""The objects of a list that take one seat."""
WATCHERS = 10
"""The watchers of a change that take one seat."""
EVENT_SECONDS = 0.005
"""How long they take it."""
MOST = 10
"""The seats of one request, at most."""
ONE = Work()
"""The work of most requests."""
WIDE = tuple(Work(max(1, seats)) for seats in range(MOST + 1))
"""The work of lists by their seats."""
CHANGES = frozenset(("create", "update", "patch", "delete"))


def estimate(objects: Objects, info: RequestInfo, most: int, watched: Histogram | None = None) -> Work:
    """Return the work of a request in a level whose requests take at most this many seats; 0 means no such limit.

    `watched` gets the number of watchers of a change.
    """
    limit = most_seats(most)
    if info.verb in ("list", "watch"):
        return WIDE[min(limit, seats_of_list(objects, info))]
    if info.verb in CHANGES:
        return work_of_change(objects, info, limit, watched)
    return ONE


def most_seats(most: int) -> int:
    """Return the most seats of a request in a level whose requests take at most this many; 0 means no such limit."""
    return min(most, MOST) if most else MOST


def is_wide(info: RequestInfo) -> bool:
    """Report whether a list takes seats by the number of objects: it is not limited to one name."""
    return not (info.name or (info.query and info.subject))


def seats_of_list(objects: Objects, info: RequestInfo) -> int:
    """Return the seats of a list or of the initial events of a watch, before their limit."""
    if not is_wide(info):
        return 1
    if info.verb == "watch":
        given = dict(parse_qsl(info.query, keep_blank_values=True)) if info.query else {}
        if given.get("sendInitialEvents") not in TRUE and given.get("resourceVersion", "") not in ("", "0"):
            return 1
    resource = objects.catalog.find(info.group, info.version, info.resource)
    if resource is None or "list" not in resource.verbs:
        return 1
    return -(-objects.collection(resource).size()[0] // OBJECTS)


def work_of_change(objects: Objects, info: RequestInfo, limit: int, watched: Histogram | None) -> Work:
    """Return the work of a change: afterwards its watchers take seats, fewer for a longer time above the limit."""
    if info.resource == "serviceaccounts" and info.subresource == "token":
        return ONE
    resource = objects.catalog.find(info.group, info.version, info.resource)
    if resource is None or "list" not in resource.verbs:
        return ONE
    _, _, watchers = objects.collection(resource).size()
    if watched is not None:
        watched.observe(watchers)
    if watchers < WATCHERS:
        return ONE
    seats = math.ceil(watchers / WATCHERS)
    last = min(seats, limit)
    return Work(1, last, seats * EVENT_SECONDS / last)
