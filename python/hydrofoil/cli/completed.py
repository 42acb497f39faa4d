"""Values and arguments as a shell completes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from hydrofoil.options import Flag

FILES = ("FILE", "PATH", "DUMP", "SOURCE", "DEST", "AUDIT.log", "A.json", "B.json")
PATHS = {**dict.fromkeys(FILES, "file"), "DIR": "dir", "NEWDIR": "dir"}


def items(words: Sequence[str], incomplete: str) -> list[CompletionItem]:
    """Return the words that begin with the incomplete one."""
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def of_placeholder(placeholder: str, incomplete: str) -> list[CompletionItem]:
    """Return files, folders or the words that a placeholder allows."""
    bare = placeholder.strip("[]")
    if bare in PATHS:
        return [CompletionItem(incomplete, type=PATHS[bare])]
    words = ("true", "false") if bare == "BOOL" else bare.removesuffix(",...").split("|")
    # A list continues behind its last comma.
    before = incomplete[: incomplete.rfind(",") + 1] if bare.endswith(",...") else ""
    return items([before + word for word in words if word.islower() and word not in before.split(",")], incomplete)


if TYPE_CHECKING:
    TextType = click.ParamType[str]
else:
    # It takes a parameter from click 8.4 on.
    TextType = click.ParamType


class Value(TextType):
    """The text of a flag."""

    name = "text"

    def __init__(self, flag: Flag) -> None:
        self._placeholder = flag.value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the values that the flag may have."""
        return of_placeholder(self._placeholder, incomplete)


class Words(TextType):
    """The arguments of a command."""

    name = "words"

    def __init__(self, placeholders: str, words: Sequence[str], commands: Sequence[str]) -> None:
        """Take placeholders or words; `commands` may be the first word only."""
        self._placeholders = [word for word in placeholders.split() if word != "..."]
        self._words = words
        self._commands = commands

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the words that the next argument may be."""
        given = ctx.params.get("words") or ()
        if self._words:
            known = self._words if given else (*self._words, *self._commands)
            return items([word for word in known if word not in given], incomplete)
        if not self._placeholders:
            return []
        return of_placeholder(self._placeholders[min(len(given), len(self._placeholders) - 1)], incomplete)
