"""`hydrofoil serve`: the server as a process."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import USAGE, Failure
from hydrofoil.options import flags
from hydrofoil.server.config import ROOMS


def run(given: dict[str, Any], _words: tuple[str, ...]) -> int:
    """Serve until a signal; return the exit code. Raise Failure."""
    return serve(given, partial(name_flag, given))


def serve(given: dict[str, Any], explain: Callable[[str], str]) -> int:
    """Serve until a signal; return the exit code. Raise Failure. `explain` changes the line of a failed start."""
    if given["data_dir"] and given["etcd_servers"]:
        raise Failure("--data-dir and --etcd-servers exclude each other: objects are in one place", code=USAGE)
    if bool(given["etcd_certfile"]) != bool(given["etcd_keyfile"]):
        raise Failure("--etcd-certfile and --etcd-keyfile are given together", code=USAGE)
    if given["watch_manifests"] and not given["manifests"]:
        raise Failure("--watch-manifests is for the files of --manifests", "name one with --manifests PATH", USAGE)
    check_dump(given)
    check_workers(given)
    # Only serving needs the engine: --help answers without it.
    # Objects made before serving live as long as the process: the garbage collector can skip them.
    gc.disable()
    from hydrofoil.outbound import client

    client.defer()
    from hydrofoil.cli.log import configure
    from hydrofoil.server.config import Config
    from hydrofoil.server.process import run as run_process

    config = Config(**given)
    configure(config.log_format, config.verbosity)
    return run_process(config, explain, WORKER)


def check_dump(given: Mapping[str, Any]) -> None:
    """Raise Failure for flags that exclude each other where a dump is served."""
    if given["read_only"] and not given["from_dump"]:
        raise Failure("--read-only is for the objects of a dump", "name one with --from DUMP", USAGE)
    for setting, name in (("data_dir", "--data-dir"), ("etcd_servers", "--etcd-servers")):
        if given["from_dump"] and given[setting]:
            raise Failure(
                f"--from and {name} exclude each other: a dump is served from memory",
                "hydrofoil import keeps it",
                USAGE,
            )
    for setting, name in (("manifests", "--manifests"), ("test_controls", "--test-controls")):
        if given["read_only"] and given[setting]:
            raise Failure(f"--read-only and {name} exclude each other: one of them writes", code=USAGE)


def name_flag(given: Mapping[str, Any], line: str) -> str:
    """Return the line of a failed start with the flag of the file or folder that it is about.

    A folder that another process uses has the id of that process, as far as the system shows it.
    """
    for flag in (flag for room in ROOMS for flag in flags(room) if flag.value in ("FILE", "DIR", "PATH")):
        path = given[flag.setting]
        if isinstance(path, str) and len(path) > 1 and path in line and "--" not in line:
            return f"{line} ({flag.names[0]}{holder_words(path, line)})"
    return line


def holder_words(path: str, line: str) -> str:
    """Return who uses a data folder, if a line says that somebody does."""
    if not line.endswith("another process uses this folder"):
        return ""
    from hydrofoil.folders import holder

    pid = holder(Path(path))
    return f"; it is the process {pid}" if pid else ""


def check_workers(given: Mapping[str, Any]) -> None:
    """Raise Failure for flags that need all of a server in one process."""
    if given["workers"] == 1:
        return
    for setting, name, why in (
        ("test_controls", "--test-controls", "a test moves one clock and one store"),
        ("from_dump", "--from", "a dump is served from the memory of one process"),
        ("ui", "--ui", "the page shows one process"),
        ("upstream", "--upstream", "the view of a gateway is one process's"),
    ):
        if given[setting]:
            raise Failure(f"--workers and {name} exclude each other: {why}", code=USAGE)


WORKER = (sys.executable, "-m", "hydrofoil.cli.worker")
"""The command that begins a worker."""
BRIEF = {
    "Address": {
        "--host": "address to listen on (default 127.0.0.1)",
        "--port": "port to listen on (default 8080); 0: any free one",
        "--accept-hosts": "further names that clients may call it by, such as host.docker.internal",
        "--workers": "processes that answer, on one port; auto: one a core (default 1)",
        "--ui": "serve a page at /ui/ that shows what the server holds and does",
    },
    "Clients": {
        "--kubeconfig": "add a context for this server to a kubeconfig, or write a new one",
        "--cert-dir": "serve TLS, and keep generated certificates here",
        "--token-auth-file": "static tokens, a line each: token,user,uid,groups",
        "--authorization-mode": "RBAC, AlwaysAllow, AlwaysDeny, Node, Webhook (RBAC with credentials)",
    },
    "Objects": {
        "--manifests": "apply these files or folders at the start; may be repeated",
        "--from": "begin with a dump, in memory; --read-only takes no write",
        "--data-dir": "keep the objects in this folder (default: in memory)",
        "--etcd-servers": "keep the objects in etcd",
    },
    "Tests": {
        "--test-controls": "let tests reset, break and inspect the server under /hydrofoil/v1",
        "--controllers": "the controllers that run; empty: none",
        "--emulated-version": "show the resources and features of 1.33 to 1.36",
        "--feature-gates": "switch features on or off, as in kube-apiserver",
    },
    "Log": {"-v": "0: warnings, 1: also what controllers do, 3: each request, 4: details"},
}
"""What people look for first, a line each."""
COMMAND = Command(
    "serve",
    ROOMS,
    run,
    "Serve the API until SIGTERM or SIGINT.",
    brief=BRIEF,
    examples=(
        "hydrofoil serve",
        "hydrofoil serve --port 0 --kubeconfig ./kubeconfig",
        "hydrofoil serve --manifests ./crds --manifests ./objects.yaml --watch-manifests",
        "hydrofoil serve --host 0.0.0.0 --port 6443 --cert-dir ./certs --kubeconfig ./admin.conf",
        "hydrofoil serve --config server.yaml --show-config",
    ),
)
