"""`/healthz`, `/livez` and `/readyz` (apiserver `pkg/server/healthz`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from urllib.parse import parse_qsl

from hydrofoil.clock import stopwatch

HOOK = "poststarthook/"
STORAGE = frozenset({"etcd", "etcd-readiness"})
"""The checks of a storage in memory or elsewhere."""
DATA_DIR = "data-dir"
"""The check of a data folder."""
KMS = "kms-providers"
"""The check of the plug-ins that encrypt keys."""


class Health:
    """The checks of the three endpoints. A serving process passes all of them except those set to fail.

    `grace` is the time in seconds after the start in which `/livez` ignores unfinished post-start hooks (HE-11).
    """

    def __init__(
        self,
        checks: dict[str, list[str]],
        grace: float = 0.0,
        clock: Callable[[], float] = stopwatch,
        storage: Callable[[], str] = str,
        stored: frozenset[str] = STORAGE,
    ) -> None:
        """`storage` returns the problem of the storage, empty if absent, for which the checks `stored` fail."""
        self._checks = checks
        self._storage, self._stored = storage, stored
        self._clock = clock
        self._lenient_until = clock() + grace
        self._failing: dict[str, str] = {}
        self._asked: dict[str, Callable[[], str]] = {}
        self.shutting_down = False
        self.counts: Counter[tuple[str, str, str]] = Counter()
        """The number of outcomes seen, by endpoint, check and status."""

    def states(self) -> Iterator[tuple[str, str, bool]]:
        """Yield endpoint, check and whether it passes."""
        for endpoint, names in self._checks.items():
            for name in names:
                yield endpoint, name, not self._problem(endpoint, name)

    def add(self, name: str, problem: Callable[[], str], before: str) -> None:
        """Add a check to `/healthz` and `/readyz`, in front of another one; `problem` is empty while it passes."""
        self._asked[name] = problem
        self._checks = dict(self._checks)
        for endpoint in ("healthz", "readyz"):
            names = self._checks[endpoint]
            at = names.index(before) if before in names else len(names)
            self._checks[endpoint] = [*names[:at], name, *names[at:]]

    def fail(self, name: str, why: str) -> None:
        """Make a check fail until it recovers."""
        self._failing[name] = why

    def recover(self, name: str) -> None:
        """Make a check pass again."""
        self._failing.pop(name, None)

    def _problem(self, endpoint: str, name: str) -> str | None:
        """Return why a check fails at an endpoint."""
        if self.shutting_down and name == "shutdown":
            return "process is shutting down"
        if endpoint == "livez" and name.startswith(HOOK) and self._clock() < self._lenient_until:
            return None
        if name in self._asked and (why := self._asked[name]()):
            return why
        if name in self._stored and (why := self._storage()):
            return why
        return self._failing.get(name)

    def check(self, endpoint: str, name: str | None, query: str) -> tuple[int, str] | None:
        """Return status and text of an endpoint or of one check; None for an unknown check."""
        checks = self._checks[endpoint]
        if name is not None:
            if name not in checks:
                return None
            why = self._problem(endpoint, name)
            self.counts[endpoint, name, "error" if why else "success"] += 1
            if why:
                return 500, f"internal server error: {why}\n"
            return 200, "ok"
        given = parse_qsl(query, keep_blank_values=True)
        excluded = [value for key, value in given if key == "exclude"]
        lines = []
        failed = False
        for check in checks:
            if check in excluded:
                lines.append(f"[+]{check} excluded: ok")
                continue
            problem = self._problem(endpoint, check)
            self.counts[endpoint, check, "error" if problem else "success"] += 1
            if problem:
                failed = True
                lines.append(f"[-]{check} failed: reason withheld")
            else:
                lines.append(f"[+]{check} ok")
        unknown = [name for name in dict.fromkeys(excluded) if name not in checks]
        if unknown:
            shown = ", ".join(f'"{name}"' for name in unknown)
            lines.append(f"warn: some health checks cannot be excluded: no matches for {shown}")
        if failed:
            return 500, "\n".join([*lines, f"{endpoint} check failed", ""])
        if any(key == "verbose" for key, _ in given):
            return 200, "\n".join([*lines, f"{endpoint} check passed", ""])
        return 200, "ok"
