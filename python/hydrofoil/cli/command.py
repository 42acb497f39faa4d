"""Commands made from declarations of flags, with the rules of Go's flags (pflag)."""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import click

from hydrofoil.cli.completed import Value, Words
from hydrofoil.cli.failure import USAGE, Failure
from hydrofoil.cli.sources import Given, name_unknown_variables, settle
from hydrofoil.go_text import quote
from hydrofoil.near import near
from hydrofoil.options import Flag, flags

CONFIG = "config"
SHOW = "show_config"
ALL = "hydrofoil.all"
"""Whether the help shows all flags."""
SPELLED = "hydrofoil.spelled"
"""The names of the flags of a command line, by their settings."""
NUMBER = "[N]"
BARE = {"BOOL": "true", "[FILE]": "-", NUMBER: "true"}
"""Placeholders of values that may be left out, and the values then."""
Run = Callable[[dict[str, Any], tuple[str, ...]], int]


class Command(click.Command):
    """A command with the flags of dataclasses, `--config` and `--show-config`."""

    def __init__(
        self,
        name: str,
        rooms: Sequence[type],
        run: Run,
        help: str,
        *,
        arguments: str = "",
        most: int | None = 0,
        examples: Sequence[str] = (),
        words: Sequence[str] = (),
        commands: Sequence[str] = (),
        usage: int = USAGE,
        brief: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        """Take the placeholders of arguments and how many are allowed (None: any number).

        `words` are arguments to complete, `commands` those that are commands of their own;
        `usage` is the exit code for a command line that is refused; `brief` has the flags of the short help
        with their texts, by sections: `--help-all` shows all.
        """
        self.rooms = rooms
        self.known = [flag for room in rooms for flag in flags(room)]
        self._run = run
        self._arguments = arguments
        self._most = most
        self._examples = examples
        self._usage = usage
        self._brief = brief
        given: list[click.Parameter] = [option(flag) for flag in self.known]
        given.append(click.Option(["--config", CONFIG], metavar="FILE", type=click.Path()))
        given.append(click.Option(["--show-config", SHOW], is_flag=True))
        given.append(click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=show_all))
        given.append(click.Argument(["words"], nargs=-1, metavar=arguments, type=Words(arguments, words, commands)))
        super().__init__(name, params=given, help=help)
        self._settings = {n: f.setting for f in self.known for n in f.names}
        self._bare = {n: BARE[f.value] for f in self.known if f.value in BARE for n in f.names}
        self._numbered = {n for f in self.known if f.value == NUMBER for n in f.names}
        """Bare flags that take the next word if it is a number."""
        self._valued = {n for f in self.known if f.value not in BARE for n in f.names} | {"--config"}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words as pflag does. Raise Failure."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        with self._mending():
            words = list(self._joined(args))
            ctx.meta[SPELLED] = spelled = defaultdict(list)
            for name in (word.partition("=")[0] if word[:2] == "--" else word[:2] for word in words):
                if name in self._settings:
                    spelled[self._settings[name]].append(name)
            return super().parse_args(ctx, words)

    @contextmanager
    def _mending(self) -> Iterator[None]:
        """Name the page of help in failures that name no other mend; kube-apiserver's words are the whole line.

        kube-apiserver has no file and no variables: their failures name the page for every command.
        """
        try:
            yield
        except Failure as e:
            if e.mend or USAGE not in (self._usage, e.code):
                raise
            raise Failure(str(e), f"hydrofoil {self.name} --help", e.code) from None

    def _refuse(self, what: str, mend: str = "") -> NoReturn:
        raise Failure(what, mend if self._usage == USAGE else "", self._usage)

    def _joined(self, args: Sequence[str]) -> Iterator[str]:
        """Yield words, each flag with its value: the word after a flag is its value, whatever it looks like."""
        rest = deque(args)
        while rest:
            word = rest.popleft()
            name, equals, _ = word.partition("=")
            if word == "--":
                yield from ("--", *rest)
                return
            elif not word.startswith("-") or word == "-" or word in ("--help", "-h", "--help-all", "--show-config"):
                yield word
            elif not word.startswith("--"):
                yield from self._short(word, rest)
            elif name in self._numbered and not equals and rest and rest[0].isdecimal():
                yield f"{word}={rest.popleft()}"
            elif name in self._bare and not equals:
                yield f"{word}={self._bare[name]}"
            elif name not in self._bare and name not in self._valued:
                self._unknown(name)
            elif equals:
                yield word
            else:
                if not rest:
                    self._refuse(f"flag needs an argument: {word}")
                yield f"{word}={rest.popleft()}"

    def _short(self, word: str, rest: deque[str]) -> Iterator[str]:
        if word[:2] not in self._valued:
            self._refuse(f"unknown shorthand flag: {word[1]!r} in {word}")
        if len(word) > 2:
            yield f"{word[:2]}{word[2:].removeprefix('=')}"
            return
        if not rest:
            self._refuse(f"flag needs an argument: {word[1:]!r} in {word}")
        yield f"{word}{rest.popleft()}"

    def _unknown(self, name: str) -> NoReturn:
        self._refuse(f"unknown flag: {name}", near(name, [*self._valued, *self._bare, "--show-config"]))

    def settings(self, ctx: click.Context) -> tuple[dict[str, Any], dict[str, Given]]:
        """Return the values of the flags, and the texts of those that are given anywhere. Raise Failure."""
        spelled = ctx.meta[SPELLED]
        line = {name: Given(ctx.params[name], names=spelled[name]) for name in spelled}
        path, file = ctx.params[CONFIG], {}
        if path is not None:
            from hydrofoil.cli.file import read

            file = read(path, self.known, str(self.name))
        if self._usage == USAGE:
            name_unknown_variables(self.known, lambda: flags_of_all(ctx.find_root()))
        return settle(self.known, line, file, self._usage)

    def invoke(self, ctx: click.Context) -> int:
        """Run the command; return the exit code. Raise Failure."""
        with self._mending():
            return self._invoke(ctx)

    def _invoke(self, ctx: click.Context) -> int:
        words: tuple[str, ...] = ctx.params["words"]
        if self._most is not None and len(words) > self._most:
            if not self._arguments:
                shown = " ".join(map(quote, words))
                self._refuse(f'"hydrofoil {self.name}" does not take any arguments, got [{shown}]')
            self._refuse(f"too many arguments: {' '.join(words[self._most :])}")
        values, given = self.settings(ctx)
        if ctx.params[SHOW]:
            from hydrofoil.cli.file import render_settings as file

            sys.stdout.write(file(self.known, values, given))
            return 0
        return self._run(values, words)

    def _format_brief(self, formatter: click.HelpFormatter) -> None:
        """Write the flags that people look for, a line each."""
        formatter.write_paragraph()
        values = {flag.names[0]: "" if flag.value in BARE else flag.value for flag in self.known}
        for title, texts in self._brief.items():
            formatter.write(f"{title}:\n")
            for name, text in texts.items():
                if name in values:
                    formatter.write(f"  {f'{name} {values[name]}'.rstrip():29}  {text}\n")
        formatter.write("  --config FILE                  read flags from a map in YAML\n")
        formatter.write("  --show-config                  print all settings as such a file, and end\n")
        formatter.write(f"  --help-all                     show all {len(self.known)} flags, and examples\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the flags of each room under the words of its docstring."""
        if self._brief and not ctx.meta.get(ALL):
            self._format_brief(formatter)
            return
        for room in self.rooms:
            with formatter.section((room.__doc__ or "").partition("\n")[0].rstrip(".")):
                formatter.write_dl([names_and_help(flag) for flag in flags(room)], col_max=34)
        with formatter.section("Common"):
            rows = [("--config FILE", "read flags from a map in YAML; flags and HYDROFOIL_* variables win")]
            rows.append(("--show-config", "print all settings as such a file, and end"))
            formatter.write_dl([*rows, ("--help", "show this page")], col_max=34)
        examples(formatter, self._examples)


def show_all(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Print the help with all flags, and end."""
    if wanted and not ctx.resilient_parsing:
        ctx.meta[ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def flags_of_all(ctx: click.Context) -> list[Flag]:
    """Return the flags of all commands of a group."""
    group = ctx.command
    names = group.list_commands(ctx) if isinstance(group, click.Group) else ()
    commands = [group.get_command(ctx, name) for name in names if isinstance(group, click.Group)]
    return [flag for command in commands if isinstance(command, Command) for flag in command.known]


def examples(formatter: click.HelpFormatter, lines: Sequence[str]) -> None:
    """Write a section of examples, if there are any."""
    if lines:
        with formatter.section("Examples"):
            for line in lines:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")


def names_and_help(flag: Flag) -> tuple[str, str]:
    """Return names and help of a flag."""
    bare = flag.value in BARE
    names = ", ".join(sorted(flag.names, key=len)) if len(flag.names[0]) == 2 else ", ".join(flag.names)
    return names if bare else f"{names} {flag.value}", flag.help.format(flag.default)


def option(flag: Flag) -> click.Option:
    """Return the option of a flag: its texts, to be read when all sources are known."""
    return click.Option([*flag.names, flag.setting], multiple=True, type=Value(flag), metavar=flag.value)


def existing(path: str, name: str) -> Path:
    """Return the path of a file that a flag names. Raise Failure if there is none."""
    found = Path(path)
    if not found.is_file():
        raise Failure(f"{path} is no file", f"{name} takes the path of one")
    return found
