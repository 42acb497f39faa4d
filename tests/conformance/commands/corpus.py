"""Corpora."""

from __future__ import annotations

from pathlib import Path

import click

from tests.conformance.commands.options import INTO, PATH, SERVER, SHOW, finish, options
from tests.conformance.replay.corpus import comparison
from tests.conformance.replay.corpus.connection import Connection
from tests.conformance.replay.corpus.player import Player
from tests.conformance.replay.outcome import Outcome
from tests.conformance.suites import CORPUS


@click.group("corpus")
def corpus_commands() -> None:
    """Corpora: many single requests."""


SETTLE = click.option("--settle", default=0.3, help="seconds to wait for objects that parts of a server watch")


@corpus_commands.command("replay")
@options(SERVER, SETTLE, SHOW)
@click.option("--match", "level", type=click.Choice(comparison.LEVELS), default="exact")
@click.option("--only", default="", help="a regular expression that the id of a case must match")
@click.argument("paths", nargs=-1, type=PATH)
def replay_corpus(
    paths: tuple[Path, ...], server: str, token: str | None, settle: float, level: str, only: str, show: int
) -> None:
    """Compare the answers to corpora, all of them without files."""
    player = Player(Connection(server, token), settle)
    outcome = Outcome()
    for path in comparison.files(list(paths) or [CORPUS]):
        part = comparison.compare(player, path, level=level, only=only, show=show)
        click.echo(f"{path.name.partition('.jsonl')[0]:60} {len(part.passed):6} passed {len(part.failed):6} failed")
        outcome.merge(part)
    player.clean()
    finish(outcome)


@corpus_commands.command("record")
@options(SERVER, SETTLE, INTO)
@click.argument("paths", nargs=-1, required=True, type=PATH)
def record_corpus(paths: tuple[Path, ...], server: str, token: str | None, settle: float, into: Path | None) -> None:
    """Write corpora with the answers of this server."""
    player = Player(Connection(server, token), settle)
    for path in comparison.files(list(paths)):
        click.echo(f"recorded {path.name}: {comparison.record(player, path, into)} cases")
    player.clean()
