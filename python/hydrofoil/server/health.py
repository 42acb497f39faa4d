"""`/healthz`, `/livez` and `/readyz` (apiserver `pkg/server/healthz`)."""

from __future__ import annotations

from urllib.parse import parse_qsl

TEXT = "text/plain; charset=utf-8"


class Health:
    """The checks of the three endpoints; a server in this process passes them all until it shuts down."""

    def __init__(self, checks: dict[str, list[str]]) -> None:
        self._checks = checks
        self.shutting_down = False

    def check(self, endpoint: str, name: str | None, query: str) -> tuple[int, str] | None:
        """The status and text of an endpoint or of one check; None when there is no such check."""
        checks = self._checks[endpoint]
        if name is not None:
            if name not in checks:
                return None
            if name == "shutdown" and self.shutting_down:
                return 500, "internal server error: process is shutting down\n"
            return 200, "ok"
        given = parse_qsl(query, keep_blank_values=True)
        excluded = [value for key, value in given if key == "exclude"]
        lines = []
        failed = False
        for check in checks:
            if check in excluded:
                lines.append(f"[+]{check} excluded: ok")
            elif check == "shutdown" and self.shutting_down:
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
