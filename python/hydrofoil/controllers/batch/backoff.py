"""How long a job waits after failures before it makes pods again (`pkg/controller/job/backoff_utils.go`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hydrofoil.controllers.batch.job_pods import finished_time, total_failure_count
from hydrofoil.controllers.objects.pods import Pod

FIRST_DELAY = 10.0
"""The seconds after the first failure (`DefaultJobPodFailureBackOff`). They double with each one."""
LONGEST_DELAY = 600.0
TOLERANCE = 1e-3
"""Times in objects are whole seconds; less than this is no wait."""


class BackoffRecord(NamedTuple):
    """The failures of a job."""

    failures: int = 0
    """Those after the last success."""
    latest: float | None = None
    """The time of the last one, in seconds since 1970."""

    def add(self, succeeded: Iterable[Pod], failed: Iterable[Pod]) -> BackoffRecord:
        """Return the record after further pods have ended (`newBackoffRecord`)."""
        failures = sorted(map(finished_time, failed))
        success = max(map(finished_time, succeeded), default=None)
        if success is None:
            return BackoffRecord(self.failures + len(failures), failures[-1]) if failures else self
        later = [time for time in failures if time > success]
        return BackoffRecord(len(later), later[-1]) if later else BackoffRecord()

    def remaining(self, now: float) -> float:
        """Return the seconds to wait."""
        if not self.failures or self.latest is None:
            return 0.0
        # The exponent is bounded: a job may have a large limit.
        delay = min(FIRST_DELAY * 2 ** min(self.failures - 1, 10), LONGEST_DELAY)
        left = self.latest + delay - now
        return left if left > TOLERANCE else 0.0


def remaining_of_index(last: Pod | None, now: float) -> float:
    """Return the seconds to wait before the failed pod of an index is replaced (`getRemainingTimePerIndex`)."""
    if last is None:
        return 0.0
    return BackoffRecord(total_failure_count(last) + 1, finished_time(last)).remaining(now)
