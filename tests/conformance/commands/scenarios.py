"""Scenarios: compare a server with their golden files, or record these."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from tests.conformance.commands.options import (
    AGAINST,
    CERTIFICATE,
    FILE,
    INTO,
    KEYS,
    SERVER,
    SHOW,
    client_of,
    finish,
    options,
)
from tests.conformance.replay import scenarios
from tests.conformance.replay.outcome import Outcome
from tests.conformance.suites import SCENARIOS


@click.command()
@options(SERVER, CERTIFICATE, KEYS, AGAINST, SHOW)
@click.option("--only", multiple=True, metavar="ID", help="compare just this step, ID or FILE/ID; the others still run")
@click.argument("paths", nargs=-1, type=FILE)
def replay(paths: tuple[Path, ...], only: tuple[str, ...], against: Path | None, show: int, **options: Any) -> None:
    """Compare the answers to scenarios; without files, to those that need no special server."""
    chosen = list(paths) or sorted(SCENARIOS.glob("*.yaml"))
    outcome = Outcome()
    with client_of(options, chosen) as client:
        for path in chosen:
            outcome.merge(scenarios.compare(client, path, against=against, only=only, show=show))
    if only and not outcome.passed + outcome.failed:
        raise click.UsageError(f"no such step: {' '.join(only)}")
    finish(outcome)


@click.command()
@options(SERVER, CERTIFICATE, KEYS, INTO)
@click.argument("paths", nargs=-1, required=True, type=FILE)
def record(paths: tuple[Path, ...], into: Path | None, **options: Any) -> None:
    """Write the golden files of scenarios; the status is 1 when a step failed or one of its checks did not hold."""
    mistakes = []
    with client_of(options, list(paths)) as client:
        for path in paths:
            count, wrong = scenarios.record(client, path, into)
            mistakes += wrong
            click.echo("\n".join([*(f"WRONG {line}" for line in wrong), f"recorded {path.stem}: {count} steps"]))
    sys.exit(1 if mistakes else 0)
