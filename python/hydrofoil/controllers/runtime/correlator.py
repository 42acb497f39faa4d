"""Events of the same thing become one (client-go `tools/record/events_cache.go`)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct

from hydrofoil.clock import Clock

MOST = 4096
"""The number of events that each cache keeps, the latest used ones (`maxLruCacheEntries`)."""
SIMILAR = 10
"""The number of different messages of similar events, from which on they are combined (`defaultAggregateMaxEvents`)."""
INTERVAL = 600.0
"""The seconds after which similar events are counted anew (`defaultAggregateIntervalInSeconds`)."""
BURST = 25
"""The events of one source about one object that are written at once (`defaultSpamBurst`)."""
QPS = 1 / 300
"""The events per second that they may have after these (`defaultSpamQPS`)."""
IDENTITY = ("kind", "namespace", "name", "uid", "apiVersion")
"""The members of a reference that tell objects apart."""
PREFIX = "(combined from similar events): "
Event = dict[str, Any]
"""An Event of `v1`, without what the server adds."""
V = TypeVar("V")


class Recent(Generic[V]):
    """The values of the keys that were used last."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._all: OrderedDict[tuple[str, ...], V] = OrderedDict()

    def get(self, key: tuple[str, ...]) -> V | None:
        """Return the value of a key, which is the last used one then."""
        if (found := self._all.get(key)) is not None:
            self._all.move_to_end(key)
        return found

    def put(self, key: tuple[str, ...], value: V) -> None:
        """Keep a value; the longest unused one is forgotten if there are too many."""
        self._all[key] = value
        self._all.move_to_end(key)
        if len(self._all) > self._most:
            self._all.popitem(last=False)

    def pop(self, key: tuple[str, ...]) -> None:
        """Forget a key."""
        self._all.pop(key, None)


class Similar(Struct, gc=False):
    """Events that differ in their messages only."""

    seen: float
    """When the last one came, in seconds of the server's clock."""
    messages: tuple[str, ...]
    """Different ones, fewer than SIMILAR: most events have a single one."""


class Bucket(Struct, gc=False):
    """The events that may be written about an object (`tokenbucket`)."""

    tokens: float
    filled: float
    """When it was filled last, in seconds of the server's clock."""


class Logged(Struct, gc=False):
    """An event that was written."""

    count: int
    first: str
    """The time of its first occurrence."""
    name: str


class Correlated(NamedTuple):
    """An event to write, and whether it is one that was written before."""

    event: Event
    key: tuple[str, ...]
    is_known: bool


def object_key(event: Event) -> tuple[str, ...]:
    """Return what is counted against spam: the source and the object (`getSpamKey`)."""
    source, of = event["source"], event["involvedObject"]
    return (source.get("component", ""), source.get("host", ""), *[of.get(name, "") for name in IDENTITY])


def similarity_key(event: Event, about: tuple[str, ...]) -> tuple[str, ...]:
    """Return what similar events share: all but the message (`EventAggregatorByReasonFunc`)."""
    return (
        *about,
        event["type"],
        event["reason"],
        event.get("reportingComponent", ""),
        event.get("reportingInstance", ""),
    )


def event_key(event: Event, about: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the occurrences of one event share (`getEventKey`)."""
    field_path = event["involvedObject"].get("fieldPath", "")
    return (*about, field_path, event["type"], event["reason"], event["message"])


class Correlator:
    """Decide for each event whether it is written, and as which one (`EventCorrelator`).

    In upstream's order: similar events are combined first, then occurrences of the same event are counted, and last
    the events about one object are bounded, since a combined event is bounded like others.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._similar: Recent[Similar] = Recent()
        self._logged: Recent[Logged] = Recent()
        self._buckets: Recent[Bucket] = Recent()

    def correlate(self, event: Event) -> Correlated | None:
        """Return what to write for an occurrence; None if its object has too many events."""
        about, now = object_key(event), self._clock.seconds()
        event, key = self._aggregate(event, about, now)
        found = self._count(event, key)
        return found if self._is_allowed(about, now) else None

    def _aggregate(self, event: Event, about: tuple[str, ...], now: float) -> tuple[Event, tuple[str, ...]]:
        """Combine similar events (`EventAggregator.EventAggregate`): they have one key from then on."""
        key = similarity_key(event, about)
        similar = self._similar.get(key)
        if similar is None or now - similar.seen > INTERVAL:
            self._similar.put(key, Similar(now, (event["message"],)))
            return event, event_key(event, about)
        similar.seen = now
        if event["message"] not in similar.messages:
            similar.messages = (*similar.messages, event["message"])
        if len(similar.messages) < SIMILAR:
            return event, event_key(event, about)
        # They stay as many as they are: which messages there were is of no use any more.
        similar.messages = similar.messages[1:]
        return {**event, "message": PREFIX + event["message"]}, key

    def _count(self, event: Event, key: tuple[str, ...]) -> Correlated:
        """Make an occurrence of a known event its count (`eventLogger.eventObserve`)."""
        known = self._logged.get(key)
        if known is None:
            logged = Logged(1, event["firstTimestamp"], event["metadata"]["name"])
            self._logged.put(key, logged)
            return Correlated(event, key, False)
        known.count += 1
        metadata = {**event["metadata"], "name": known.name}
        counted = {**event, "metadata": metadata, "count": known.count, "firstTimestamp": known.first}
        return Correlated(counted, key, True)

    def forget(self, key: tuple[str, ...]) -> None:
        """Begin a count anew: the event that had it is gone."""
        self._logged.pop(key)

    def _is_allowed(self, about: tuple[str, ...], now: float) -> bool:
        """Take a token of an object, if there is one (`EventSourceObjectSpamFilter`)."""
        bucket = self._buckets.get(about)
        if bucket is None:
            bucket = Bucket(BURST, now)
            self._buckets.put(about, bucket)
        bucket.tokens = min(BURST, bucket.tokens + max(now - bucket.filled, 0.0) * QPS)
        bucket.filled = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True
