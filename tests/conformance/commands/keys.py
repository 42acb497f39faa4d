"""Keys, certificates and configurations."""

from __future__ import annotations

from pathlib import Path

import click

from tests.conformance.commands.options import FILE, FOLDER
from tests.conformance.replay.identity import files
from tests.conformance.replay.identity.helper import Helper


@click.group("keys")
def key_commands() -> None:
    """Keys, certificates and configurations for the scenarios of `secured`."""


@key_commands.command("make")
@click.argument("folder", type=FOLDER)
@click.option("--port", default=0, help="port of the helper; a free one without it")
def make_keys(folder: Path, port: int) -> None:
    """Write everything to a folder, once."""
    files.make(folder, port)


@key_commands.command("flags")
@click.argument("folder", type=FOLDER)
@click.argument("paths", nargs=-1, required=True, type=FILE)
def print_flags(folder: Path, paths: tuple[Path, ...]) -> None:
    """Print the flags of a server for scenarios that name the same ones."""
    click.echo("\n".join(files.flags(folder, list(paths))))


@key_commands.command("serve")
@click.argument("folder", type=FOLDER)
def serve(folder: Path) -> None:
    """Run the helper alone, before and after `replay` runs it."""
    with Helper(folder):
        click.pause()
