"""The commands by name, each loaded when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from hydrofoil.cli.command import examples
from hydrofoil.cli.completed import items
from hydrofoil.cli.failure import Failure
from hydrofoil.near import near

WORDS = "hydrofoil.words"
"""The words of a command line."""


class Entry(NamedTuple):
    """A command of the group."""

    section: str
    module: str
    """The module that has it, as `COMMAND`, or in `COMMANDS` by its name."""
    help: str


def load(entries: Mapping[str, Entry], name: str) -> click.Command | None:
    """Load a command; return None if there is none of this name."""
    entry = entries.get(name)
    if entry is None:
        return None
    module = import_module(entry.module)
    found: click.Command = module.COMMAND if hasattr(module, "COMMAND") else module.COMMANDS[name]
    return found


class Group(click.Group):
    """Commands in sections; a name may have two words."""

    def __init__(self, name: str, entries: Mapping[str, Entry], lines: tuple[str, ...] = (), **settings: Any) -> None:
        """Take examples of the commands."""
        super().__init__(name, **settings)
        self._entries = entries
        self._lines = lines

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in their order."""
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; return None if there is none of this name."""
        return load(self._entries, cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words for completion."""
        ctx.meta[WORDS] = list(args)
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the next words of commands."""
        before = "".join(f"{word} " for word in ctx.meta[WORDS])
        known = [name.removeprefix(before) for name in self._entries if name.startswith(before)]
        return items(list(dict.fromkeys(name.partition(" ")[0] for name in known)), incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the words. Raise Failure."""
        if " ".join(args[:2]) in self._entries:
            args = [" ".join(args[:2]), *args[2:]]
        if args[0] not in self._entries and not ctx.resilient_parsing:
            below = [name for name in self._entries if name.startswith(f"{args[0]} ")]
            if below and set(args[1:2]) & set(ctx.help_option_names):
                self._describe(ctx, below)
                ctx.exit()
            if below and not args[1:]:
                names = ", ".join(name.partition(" ")[2] for name in below)
                raise Failure(f"{args[0]}: a command is missing", f"{names}; {ctx.command_path} {args[0]} --help")
            if below:
                args = [" ".join(args[:2]), *args[2:]]
            kind = "flag" if args[0].startswith("-") else "command"
            raise Failure(f"no {kind} {args[0]!r}", near(args[0], self._entries, 0.7) or f"{ctx.command_path} --help")
        return super().resolve_command(ctx, args)

    def _describe(self, ctx: click.Context, names: list[str]) -> None:
        """Print the commands whose first word is the same."""
        formatter = ctx.make_formatter()
        formatter.write_usage(ctx.command_path, f"{names[0].partition(' ')[0]} COMMAND [OPTIONS]...")
        with formatter.section(self._entries[names[0]].section):
            formatter.write_dl([(name, self._entries[name].help) for name in names])
        click.echo(formatter.getvalue().rstrip("\n"))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list for each section, then the examples."""
        for section in dict.fromkeys(entry.section for entry in self._entries.values()):
            rows = [(name, entry.help) for name, entry in self._entries.items() if entry.section == section]
            with formatter.section(section):
                formatter.write_dl(rows)
        examples(formatter, self._lines)
