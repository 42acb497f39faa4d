"""Audit sessions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from tests.conformance.commands.options import AGAINST, FILE, INTO, SERVER, SHOW, client_of, finish, options
from tests.conformance.replay import audit, events
from tests.conformance.replay.outcome import Outcome

SOURCE = options(
    click.option("--log", type=click.Path(path_type=Path), help="the file of --audit-log-path"),
    click.option("--sink", type=int, metavar="PORT", help="the port of the configuration of `audit kubeconfig`"),
    click.option("--quiet", default=1.5, help="seconds without an event after which all have come"),
)


@click.group("audit")
def audit_commands() -> None:
    """Audit sessions, on a server with an empty log or with the webhook of `audit kubeconfig`."""


@contextmanager
def source_of(log: Path | None, sink: int | None) -> Iterator[events.Events]:
    """Yield the source of audit events."""
    if not log and not sink:
        raise click.UsageError("--log or --sink is needed")
    with ExitStack() as stack:
        yield events.Events(log, stack.enter_context(events.Sink(sink)) if sink else None)


@audit_commands.command("replay")
@options(SERVER, SOURCE, AGAINST, SHOW)
@click.argument("paths", nargs=-1, required=True, type=FILE)
def replay_audit(
    paths: tuple[Path, ...],
    log: Path | None,
    sink: int | None,
    quiet: float,
    against: Path | None,
    show: int,
    **options: Any,
) -> None:
    """Compare the events of sessions."""
    outcome = Outcome()
    with source_of(log, sink) as source, client_of(options, list(paths)) as client:
        for path in paths:
            outcome.merge(audit.compare(client, source, path, against=against, quiet=quiet, show=show))
    finish(outcome)


@audit_commands.command("record")
@options(SERVER, SOURCE, INTO)
@click.argument("paths", nargs=-1, required=True, type=FILE)
def record_audit(
    paths: tuple[Path, ...], log: Path | None, sink: int | None, quiet: float, into: Path | None, **options: Any
) -> None:
    """Write the golden files of sessions."""
    with source_of(log, sink) as source, client_of(options, list(paths)) as client:
        for path in paths:
            click.echo(f"recorded {path.stem}: {audit.record(client, source, path, into, quiet)} steps")


@audit_commands.command("kubeconfig")
@click.argument("port", type=int)
def print_kubeconfig(port: int) -> None:
    """Print the file of --audit-webhook-config-file."""
    click.echo(events.KUBECONFIG.format(port=port), nl=False)
