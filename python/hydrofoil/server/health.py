"""`/healthz`, `/livez` and `/readyz` (apiserver `pkg/server/healthz`)."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl

from hydrofoil.clock import stopwatch

HOOK = "poststarthook/"
STORAGE = frozenset({"etcd", "etcd-readiness"})
"""The checks of the place where objects are kept."""


class Health:
    """The checks of the three endpoints. What serves in this process passes them all but what was said to fail.

    `grace` is how long after the start `/livez` passes over hooks of the start that have not ended, in seconds (HE-11).
    """

    def __init__(
        self,
        checks: dict[str, list[str]],
        grace: float = 0.0,
        clock: Callable[[], float] = stopwatch,
        storage: Callable[[], str] = str,
    ) -> None:
        """`storage` tells what is wrong with the place of the objects; nothing when it is empty."""
        self._checks = checks
        self._storage = storage
        self._clock = clock
        self._lenient_until = clock() + grace
        self._failing: dict[str, str] = {}
        self.shutting_down = False

    def fail(self, name: str, why: str) -> None:
        """Has a check fail until it recovers."""
        self._failing[name] = why

    def recover(self, name: str) -> None:
        """Has a check pass again."""
        self._failing.pop(name, None)

    def _problem(self, endpoint: str, name: str) -> str | None:
        """Why a check fails at an endpoint."""
        if self.shutting_down and name == "shutdown":
            return "process is shutting down"
        if endpoint == "livez" and name.startswith(HOOK) and self._clock() < self._lenient_until:
            return None
        if name in STORAGE and (why := self._storage()):
            return why
        return self._failing.get(name)

    def check(self, endpoint: str, name: str | None, query: str) -> tuple[int, str] | None:
        """The status and text of an endpoint or of one check; None when there is no such check."""
        checks = self._checks[endpoint]
        if name is not None:
            if name not in checks:
                return None
            if why := self._problem(endpoint, name):
                return 500, f"internal server error: {why}\n"
            return 200, "ok"
        given = parse_qsl(query, keep_blank_values=True)
        excluded = [value for key, value in given if key == "exclude"]
        lines = []
        failed = False
        for check in checks:
            if check in excluded:
                lines.append(f"[+]{check} excluded: ok")
            elif self._problem(endpoint, check):
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
