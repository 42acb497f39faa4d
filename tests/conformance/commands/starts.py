"""Starts of a server with good and bad flags."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from tests.conformance.commands.options import AGAINST, FILE, INTO, finish, options
from tests.conformance.replay import starts
from tests.conformance.replay.outcome import Outcome


@click.group("starts")
def start_commands() -> None:
    """Starts of a server with good and bad flags."""


COMMAND = options(
    click.option("--command", required=True, help="the server with the flags that it always needs"),
    click.option("--wait", default=starts.WAIT, help="seconds after which a server counts as started"),
    click.option("--ready", default="", help="a text of its output that it counts as started with"),
)


@start_commands.command("replay")
@options(COMMAND, AGAINST)
@click.argument("paths", nargs=-1, required=True, type=FILE)
def replay_starts(paths: tuple[Path, ...], command: str, wait: float, ready: str, against: Path | None) -> None:
    """Compare which flags are accepted, and the words of the refusals."""
    outcome = Outcome()
    for path in paths:
        outcome.merge(starts.compare(starts.Command(shlex.split(command), wait, ready), path, against))
    finish(outcome)


@start_commands.command("record")
@options(COMMAND, INTO)
@click.argument("paths", nargs=-1, required=True, type=FILE)
def record_starts(paths: tuple[Path, ...], command: str, wait: float, ready: str, into: Path | None) -> None:
    """Write the golden files of starts."""
    for path in paths:
        count = starts.record(starts.Command(shlex.split(command), wait, ready), path, into)
        click.echo(f"recorded {path.stem}: {count} steps")
