"""`hydrofoil stop`: end servers of this user, and wait until they are gone."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from typing import Any

from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import USAGE, WRONG, Failure
from hydrofoil.cli.servers import NONE, named_servers, only_server
from hydrofoil.cli.sources import variable
from hydrofoil.clock import stopwatch
from hydrofoil.options import Options, Texts, boolean, flag, once, seconds
from hydrofoil.server.state_file import RunningServer, is_running, running_servers

LOOK_SECONDS = 0.05


class StopOptions(Options):
    """Stop."""

    all: bool = flag("--all", False, boolean, "end all servers of this user", value="BOOL")
    port: Texts = flag("--port", Texts(), once, "end the server on this port; may be repeated", value="PORT")
    pid: Texts = flag("--pid", Texts(), once, "end the server of this process; may be repeated", value="PID")
    timeout: float = flag(
        "--timeout", 30.0, seconds, "how long a server may take to end (default 30s)", value="DURATION"
    )


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """End servers; return the exit code. Raise Failure."""
    named = words, given["port"], given["pid"]
    if (words or given["all"]) and list(given["port"]) == [os.environ.get(variable("--port"))]:
        # That of `serve`: the command line says more.
        named = words, (), given["pid"]
    if given["all"] and any(named):
        raise Failure("--all means every server", "name some, or give --all", USAGE)
    if given["all"]:
        found = running_servers()
        if not found:
            sys.stdout.write(f"{NONE}\n")
    else:
        found = named_servers(*named) if any(named) else [only_server("hydrofoil stop PORT, or --all")]
    for server in found:
        signal_server(server)
    for server in found:
        wait_for_end(server, given["timeout"])
        sys.stdout.write(f"stopped {server}\n")
    return 0


def signal_server(server: RunningServer) -> None:
    """Ask a server to end. Raise Failure."""
    try:
        os.kill(server.pid, signal.SIGTERM)
    except ProcessLookupError:
        # It has ended meanwhile.
        return
    except OSError as e:
        raise Failure(f"cannot stop {server}: {e.strerror}", code=WRONG) from None


def wait_for_end(server: RunningServer, timeout: float) -> None:
    """Wait until a server has ended. Raise Failure after the time."""
    until = stopwatch() + timeout
    descriptor = -1
    # Elsewhere than on Linux, look again and again.
    with contextlib.suppress(AttributeError, OSError):
        descriptor = os.pidfd_open(server.pid)
    try:
        while is_running(server):
            left = until - stopwatch()
            if left <= 0:
                raise Failure(f"{server} still runs after {timeout:g} s", f"kill -9 {server.pid} ends it", WRONG)
            if descriptor >= 0:
                select.select([descriptor], [], [], left)
            else:
                time.sleep(min(left, LOOK_SECONDS))
    finally:
        if descriptor >= 0:
            os.close(descriptor)


COMMAND = Command(
    "stop",
    (StopOptions,),
    run,
    "End the server that runs, or those of ports, processes or URLs, and wait until they are gone.",
    arguments="[PORT|PID|URL] ...",
    most=None,
    examples=("hydrofoil stop", "hydrofoil stop 18080", "hydrofoil stop --all"),
)
