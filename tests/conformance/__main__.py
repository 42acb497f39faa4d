"""The replayer: compare a server with recorded answers of kube-apiserver, or record them again.

    python -m tests.conformance replay --server URL --token T [FILE...]
    python -m tests.conformance record --server URL --token T [--into DIR] FILE...

The exit status is 0 when every step matches, 1 when any differs, 2 on bad use; the last line is `N passed, N failed`.
"""

from __future__ import annotations

import click

from tests.conformance.commands.audit import audit_commands
from tests.conformance.commands.corpus import corpus_commands
from tests.conformance.commands.keys import key_commands
from tests.conformance.commands.scenarios import record, replay
from tests.conformance.commands.starts import start_commands


@click.group(help=__doc__)
def main() -> None:
    """Run a command."""


for command in (replay, record, audit_commands, start_commands, corpus_commands, key_commands):
    main.add_command(command)

if __name__ == "__main__":
    main(prog_name="python -m tests.conformance")
