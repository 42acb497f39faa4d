"""`hydrofoil serve`: the server as a process."""

from __future__ import annotations

import gc
from typing import Any

from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import USAGE, WRONG, Failure
from hydrofoil.server.config import ROOMS


def run(given: dict[str, Any], _words: tuple[str, ...]) -> int:
    """Serve until a signal; return the exit code. Raise Failure."""
    if given["data_dir"] and given["etcd_servers"]:
        raise Failure("--data-dir and --etcd-servers exclude each other: objects are in one place", code=USAGE)
    if bool(given["etcd_certfile"]) != bool(given["etcd_keyfile"]):
        raise Failure("--etcd-certfile and --etcd-keyfile are given together", code=USAGE)
    if given["watch_manifests"] and not given["manifests"]:
        raise Failure("--watch-manifests is for the files of --manifests", "name one with --manifests PATH", USAGE)
    # Only serving needs the engine: --help answers without it.
    # Objects made before serving live as long as the process: the garbage collector can skip them.
    gc.disable()
    from hydrofoil.outbound import client

    client.defer()
    from hydrofoil.cli.log import configure
    from hydrofoil.server.config import Config
    from hydrofoil.server.process import run as serve

    config = Config(**given)
    configure(config.log_format, config.verbosity)
    return serve(config)


COMMAND = Command(
    "serve",
    ROOMS,
    run,
    "Serve the API until SIGTERM or SIGINT.",
    examples=(
        "hydrofoil serve",
        "hydrofoil serve --port 0 --kubeconfig ./kubeconfig",
        "hydrofoil serve --manifests ./crds --manifests ./objects.yaml --watch-manifests",
        "hydrofoil serve --host 0.0.0.0 --port 6443 --cert-dir ./certs --kubeconfig ./admin.conf",
        "hydrofoil serve --config server.yaml --show-config",
    ),
    # kube-apiserver's, with its words.
    usage=WRONG,
)
