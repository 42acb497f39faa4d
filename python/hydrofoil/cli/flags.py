"""The flags of `hydrofoil serve`, and a one-line message for each invalid one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from hydrofoil import __version__
from hydrofoil.options import Refused, Texts, flags, quoted
from hydrofoil.server.config import ROOMS

STATUS = 1
"""The exit status of a command that cannot start, as kube-apiserver's."""


def fail(message: str) -> NoReturn:
    """Write one line and exit."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    sys.stderr.write(f"hydrofoil: {line}\n")
    raise SystemExit(STATUS)


class Valued(argparse.Action):
    """A flag with a value. `read` parses it; mappings and texts of a repeated flag are merged."""

    def __init__(
        self, option_strings: Sequence[str], dest: str, read: Callable[[str], Any], *, bare: bool, **settings: Any
    ) -> None:
        super().__init__(option_strings, dest, **settings)
        self._read = read
        self.bare = bare
        """Whether the flag needs no value: `--flag` alone is `--flag=true`, as for booleans of pflag."""
        self._given = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        given: Any,
        option_string: str | None = None,
    ) -> None:
        name = option_string or self.option_strings[0]
        try:
            found = self._read(given)
        except Refused as e:
            fail(str(e).replace("<flag>", name))
        except ValueError as e:
            # pflag shows the short name as well, if there is one.
            shown = name if all(o.startswith("--") for o in self.option_strings) else ", ".join(self.option_strings)
            fail(f"invalid argument {quoted(given)} for {quoted(shown)} flag: {e}")
        if isinstance(found, dict) and self._given:
            found = {**getattr(namespace, self.dest), **found}
        if isinstance(found, Texts) and self._given:
            found = Texts((*getattr(namespace, self.dest), *found))
        self._given = True
        setattr(namespace, self.dest, found)


class Parser(argparse.ArgumentParser):
    """A parser that requires flags in full, as Go's flags do."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Print the message and exit."""
        fail(message)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Take the word after a flag as its value, whatever it looks like."""
        return super().parse_known_args(list(self._joined(sys.argv[1:] if args is None else args)), namespace)

    def _joined(self, words: Sequence[str]) -> Iterable[str]:
        rest = iter(words)
        for word in rest:
            action = self._option_string_actions.get(word)
            if not isinstance(action, Valued):
                yield word
                continue
            if action.bare:
                yield f"{word}=true"
                continue
            value = next(rest, None)
            if value is None:
                short = "" if word.startswith("--") else f"{word[1:]!r} in "
                fail(f"flag needs an argument: {short}{word}")
            yield f"{word}={value}"


def parsed(argv: Sequence[str] | None) -> dict[str, Any]:
    """Return the settings of a command line. Exit if it is invalid."""
    found, rest = parser().parse_known_args(argv)
    for word in rest:
        if word.startswith("--") and word != "--":
            fail(f"unknown flag: {word.partition('=')[0]}")
        if word.startswith("-") and word not in ("-", "--"):
            fail(f"unknown shorthand flag: {word[1]!r} in {word}")
    if rest := [word for word in rest if word != "--"]:
        fail(f'"hydrofoil serve" does not take any arguments, got [{" ".join(map(quoted, rest))}]')
    given: dict[str, Any] = vars(found)
    del given["command"]
    return given


def parser() -> Parser:
    """Return the parser of the command line."""
    top = Parser(prog="hydrofoil", description="A Kubernetes-API-compatible server.")
    top.add_argument("--version", action="version", version=f"hydrofoil {__version__}")
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser)
    commands.add_parser("assets", help="write programs named etcd and kube-apiserver, for envtest and its like")
    _serve(commands.add_parser("serve", help="serve the API until SIGTERM or SIGINT"))
    return top


def _serve(p: Parser) -> None:
    for room in ROOMS:
        for flag in flags(room):
            p.add_argument(
                *flag.names,
                action=Valued,
                dest=flag.setting,
                read=flag.read,
                bare=flag.value == "BOOL",
                default=flag.default,
                metavar=flag.value,
                help=flag.help.format(flag.default),
            )
