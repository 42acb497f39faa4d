"""Options that commands share, the client that they make, and the exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from tests.conformance.replay import scenario
from tests.conformance.replay.client import Client
from tests.conformance.replay.identity.helper import Helper
from tests.conformance.replay.outcome import Outcome
from tests.conformance.replay.webhooks.server import Webhooks

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
PATH = click.Path(exists=True, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


def options(*chosen: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator of several options."""

    def decorate(function: Any) -> Any:
        for option in reversed(chosen):
            function = option(function)
        return function

    return decorate


SERVER = options(
    click.option("--server", required=True, metavar="URL"),
    click.option("--token", help="bearer token of a user in the group system:masters"),
)
CERTIFICATE = options(click.option("--cert", type=FILE), click.option("--key", type=FILE))
SHOW = click.option("--show", default=6, metavar="N", help="differences of a failing step that are printed")
AGAINST = click.option("--against", type=FOLDER, help="golden files elsewhere than beside the scenarios")
INTO = click.option("--into", type=FOLDER, help="write golden files elsewhere than beside the scenarios")
KEYS = click.option("--keys", type=FOLDER, help="the folder of `keys make`, for the scenarios of `secured`")


@contextmanager
def client_of(options: dict[str, Any], paths: list[Path]) -> Iterator[Client]:
    """Yield a client, with the webhooks and the helper that the scenarios need."""
    with ExitStack() as stack:
        webhooks = stack.enter_context(Webhooks()) if any(map(scenario.needs_webhooks, paths)) else None
        helper = stack.enter_context(Helper(options["keys"])) if options.get("keys") else None
        pair = (str(options["cert"]), str(options["key"])) if options.get("cert") else None
        client = Client(options["server"], options["token"], pair, webhooks=webhooks, helper=helper)
        try:
            client.open("GET", "/version", {}).close()
        except OSError as error:
            raise click.UsageError(f"no answer from {options['server']}: {error}") from error
        yield client


def finish(outcome: Outcome) -> None:
    """Print an outcome and exit with its status."""
    click.echo(str(outcome))
    sys.exit(1 if outcome.failed else 0)
