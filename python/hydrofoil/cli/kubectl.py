"""`hydrofoil kubectl`: kubectl against the server that runs."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path

import click

from hydrofoil.cli.failure import WRONG, Failure
from hydrofoil.cli.servers import several
from hydrofoil.cli.sources import environment, value
from hydrofoil.options import flags
from hydrofoil.server.options import ListenOptions
from hydrofoil.server.state_file import RunningServer, running_servers

ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
CHOSEN = ("--server", "-s", "--kubeconfig", "--context", "--cluster")
"""Flags of kubectl that name a server: then nothing is added."""
SECONDS = 2.0


def server() -> list[str]:
    """Return the flags for the one server that runs, or for that of the environment's settings. Raise Failure."""
    known = flags(ListenOptions)
    given = environment(known)
    if not given and (running := running_servers()):
        if len(running) > 1:
            raise several(running, "--server URL, or HYDROFOIL_PORT=PORT, names one")
        return flags_for(running[0])
    # Of another user or in a container, on the default port.
    options = ListenOptions(**{f.setting: value(f, given[f.setting]) for f in known if f.setting in given})
    host = ANYWHERE.get(options.host, options.host)
    answers(host, options.port)
    if options.kubeconfig:
        # Its current context may be another cluster's.
        return [f"--kubeconfig={options.kubeconfig}", "--context=hydrofoil"]
    if options.cert_dir or host not in ("127.0.0.1", "localhost", "::1"):
        from hydrofoil.folders import state_folder

        place = Path(options.cert_dir) if options.cert_dir else state_folder()
        return [f"--kubeconfig={place / 'admin.conf'}"]
    # The user's own kubeconfig must not add credentials or a namespace.
    shown = f"[{host}]" if ":" in host else host
    return [f"--kubeconfig={os.devnull}", f"--server=http://{shown}:{options.port}"]


def flags_for(running: RunningServer) -> list[str]:
    """Return the flags for a server of this user. Raise Failure if kubectl cannot reach it."""
    if running.url.startswith("unix:"):
        raise Failure(f"{running.url} is no address for kubectl", "serve on a port", WRONG)
    url = f"--server={running.url}"
    if running.kubeconfig:
        return [f"--kubeconfig={running.kubeconfig}", "--context=hydrofoil", url]
    # The user's own kubeconfig must not add credentials or a namespace.
    return [f"--kubeconfig={os.devnull}", url]


def answers(host: str, port: int) -> None:
    """Raise Failure if nothing listens at an address."""
    try:
        socket.create_connection((host, port), SECONDS).close()
    except OSError as e:
        mend = "hydrofoil serve starts one; HYDROFOIL_PORT names another port"
        raise Failure(f"no server at {host}:{port}: {e.strerror or e}", mend, WRONG) from None


def line(words: Sequence[str]) -> list[str]:
    """Return the command line. Raise Failure."""
    program = shutil.which("kubectl")
    if program is None:
        raise Failure("kubectl is not on the PATH", "install it, or use any other client", WRONG)
    own = words[: words.index("--")] if "--" in words else words
    chosen = any(word.partition("=")[0] in CHOSEN for word in own)
    return [program, *([] if chosen else server()), *words]


class Kubectl(click.Command):
    """A command that leaves all words to kubectl."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the words as they are."""
        ctx.args = list(args)
        return ctx.args

    def invoke(self, ctx: click.Context) -> int:
        """Become kubectl."""
        program, *rest = line(ctx.args)
        os.execv(program, [program, *rest])


COMMAND = Kubectl("kubectl", help="Run kubectl against the server that runs.")
