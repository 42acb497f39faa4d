"""The metrics of a server with workers: those of all processes, as one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hydrofoil import engine

SUMMED = [
    "apiserver_current_inflight_requests",
    "apiserver_current_inqueue_requests",
    "apiserver_flowcontrol_current_executing_requests",
    "apiserver_flowcontrol_current_executing_seats",
    "apiserver_flowcontrol_current_inqueue_requests",
    "apiserver_flowcontrol_current_inqueue_seats",
    "apiserver_longrunning_requests",
    "authentication_token_cache_active_fetch_count",
    "process_open_fds",
    "process_resident_memory_bytes",
    "workqueue_depth",
]
"""The gauges of which each process has a share; of others the largest counts."""
AGREED = re.compile(r"^(apiserver_\w+_config_controller_automatic_reloads_total\{.*\}) (\S+)$", re.MULTILINE)
"""What every process does once for the whole server: the reloads of files. It is done when the last one has done it."""


class ServerMetrics:
    """The sum over all processes, which never goes back: what one that has ended had told before still counts."""

    def __init__(self) -> None:
        self._past = ""
        """What processes that have ended had counted."""
        self._agreed: dict[str, float] = {}
        """The counts that all processes have reached, as they were told."""

    def merge(self, texts: Sequence[str]) -> str:
        """Return the metrics of the processes that run. It takes as long as an exposition: call it on a thread."""
        merged = engine.merge_metrics(list(texts), [self._past] if self._past else [], SUMMED)
        counts = [{series: float(count) for series, count in AGREED.findall(text)} for text in texts]

        def agreed(found: re.Match[str]) -> str:
            # A process that began later has read the present files, and counts from 0.
            series = found[1]
            least = min((known.get(series, 0.0) for known in counts), default=0.0)
            told = self._agreed[series] = max(least, self._agreed.get(series, 0.0))
            return f"{series} {told:g}"

        return AGREED.sub(agreed, merged)

    def bury(self, text: str) -> None:
        """Keep what a process had counted when it last told."""
        self._past = engine.merge_metrics([], [text, self._past], [])

    def reset(self) -> None:
        """Forget what was counted."""
        self._past = ""
        self._agreed.clear()
