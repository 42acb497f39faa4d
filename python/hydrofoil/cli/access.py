"""The server that a command asks: by its flags, or the one that runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hydrofoil.cli.failure import USAGE, Failure
from hydrofoil.options import Options, anything, flag

if TYPE_CHECKING:
    from hydrofoil.outbound.kubeconfig import Access


class AccessOptions(Options):
    """The server."""

    server: str = flag("--server", "", anything, "address of the server (default the one that runs)", value="URL")
    token: str = flag("--token", "", anything, "bearer token for --server", value="TOKEN")
    kubeconfig: str = flag("--kubeconfig", "", anything, "kubeconfig that names the server", value="FILE")
    context: str = flag("--context", "", anything, "context of the kubeconfig (default the current one)", value="NAME")


def find_access(options: AccessOptions) -> Access:
    """Return the server that the flags name, or the one that runs. Raise Failure."""
    from hydrofoil.bench.credentials import execute_plugin
    from hydrofoil.cli.kubectl import server
    from hydrofoil.outbound.kubeconfig import Access, access

    kubeconfig, context, url = options.kubeconfig, options.context, options.server
    if not (kubeconfig or url):
        found = dict(word.split("=", 1) for word in server())
        kubeconfig, context = found.get("--kubeconfig", ""), context or found.get("--context", "")
        url = found.get("--server", "")
    header = f"Bearer {options.token}" if options.token else ""
    if not kubeconfig or kubeconfig == os.devnull:
        return Access(url, b"", False, b"", b"", header, "", {}, Path())
    try:
        chosen = execute_plugin(access(kubeconfig, context))
    except ValueError as e:
        raise Failure(str(e), "--kubeconfig takes the file of a cluster", USAGE) from None
    return chosen._replace(url=url or chosen.url, authorization=header or chosen.authorization)
