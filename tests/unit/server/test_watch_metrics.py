"""Counts of watches."""

from __future__ import annotations

from typing import Any

from hydrofoil.server.metrics import exposition
from hydrofoil.server.watch_metrics import Watched, Watches, WatchRequest

PODS = Watched("", "v1", "pods", "cluster")


class Stream:
    """A stream of two events."""

    initial = 0
    size = 100
    marked = 0.3

    def __init__(self, *, lapped: bool) -> None:
        self.lapped = lapped

    def position(self) -> tuple[int, int | None]:
        return 2, 7


def test_watchers_that_were_too_slow_are_counted() -> None:
    watches = Watches()
    for lapped in (True, False, True):
        stream: Any = Stream(lapped=lapped)
        watches.open[stream] = WatchRequest(PODS)
        watches.ended(stream)
    text = exposition((), [watches.taken()]).decode()
    assert 'apiserver_terminated_watchers_total{group="",resource="pods"} 2\n' in text
    assert (
        'apiserver_watch_list_duration_seconds_count{group="",resource="pods",scope="cluster",version="v1"} 3\n' in text
    )
    assert 'apiserver_watch_events_total{group="",resource="pods",version="v1"} 6\n' in text
    watches.reset()
    assert "apiserver_terminated_watchers_total{" not in exposition((), [watches.taken()]).decode()
