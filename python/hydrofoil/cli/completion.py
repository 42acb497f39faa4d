"""`hydrofoil completion`: the script that completes commands and flags in a shell."""

from __future__ import annotations

import sys
from typing import Any

from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import Failure

VARIABLE = "_HYDROFOIL_COMPLETE"


class Bash(BashComplete):
    """Bash, without a look at the version of the bash of this machine: the script may be for another one."""

    @staticmethod
    def _check_version() -> None:
        """Do nothing."""


SHELLS: dict[str, type[ShellComplete]] = {"bash": Bash, "zsh": ZshComplete, "fish": FishComplete}


def run(_given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Print a script. Raise Failure."""
    shell = SHELLS.get(words[0]) if words else None
    if shell is None:
        raise Failure(f"no shell {words[0]!r}" if words else "no shell is named", "bash, zsh or fish")
    import click

    sys.stdout.write(shell(click.Command("hydrofoil"), {}, "hydrofoil", VARIABLE).source())
    return 0


COMMAND = Command(
    "completion",
    [],
    run,
    "Print the completion of a shell.",
    arguments="bash|zsh|fish",
    most=1,
    examples=(
        'bash: eval "$(hydrofoil completion bash)"   in ~/.bashrc',
        'zsh:  eval "$(hydrofoil completion zsh)"    in ~/.zshrc, after compinit',
        "fish: hydrofoil completion fish > ~/.config/fish/completions/hydrofoil.fish",
    ),
)
