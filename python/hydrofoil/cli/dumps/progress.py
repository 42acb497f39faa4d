"""How far a command is: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Bar(Protocol):
    """Where a command reports how far it is."""

    def advance(self, count: int = 1, /) -> None:
        """Report that so many more objects are done."""

    def describe(self, text: str, total: int | None, /) -> None:
        """Say what is done, and with how many objects, if that is known."""


class Silence:
    """No bar."""

    def advance(self, count: int = 1, /) -> None:
        """Report nothing."""

    def describe(self, text: str, total: int | None, /) -> None:
        """Say nothing."""


@contextmanager
def progress() -> Iterator[Bar]:
    """Show a bar on the standard error while a command works, if that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield Silence()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=None)

        class Shown:
            def advance(self, count: int = 1, /) -> None:
                shown.advance(task, count)

            def describe(self, text: str, total: int | None, /) -> None:
                shown.reset(task, description=text, total=total)

        yield Shown()
