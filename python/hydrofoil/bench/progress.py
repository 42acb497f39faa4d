"""Live progress on a terminal: rate, latency, percent. `rich` is loaded only there."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from hydrofoil.bench.session import Sample


class Progress:
    """The progress of a run, on the standard error."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._name = ""

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(bar_width=30),
                TextColumn("{task.percentage:>3.0f}%"),
                TextColumn("{task.fields[figures]}"),
            )
            self._bar = Progress(*columns, console=Console(stderr=True), refresh_per_second=4, transient=True)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, name: str, share: float, sample: Sample | None) -> None:
        """Show how far a case is."""
        if self._bar is None:
            return
        if name != self._name or self._task is None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._name, self._task = name, self._bar.add_task(name, total=1.0, figures="")
        self._bar.update(self._task, completed=share, figures=figures(sample) if sample else "")


def figures(sample: Sample) -> str:
    """Return rate, latency and CPU of a moment."""
    parts = [f"{sample.per_second:,.0f}/s"]
    if sample.p50_ms is not None and sample.p99_ms is not None:
        parts.append(f"p50 {sample.p50_ms:.2f} ms, p99 {sample.p99_ms:.2f} ms")
    if sample.cpu_percent is not None:
        parts.append(f"server {sample.cpu_percent:.0f}% of a core")
    return "  ".join(parts)
