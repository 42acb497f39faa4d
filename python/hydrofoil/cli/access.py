"""The server that a command asks: by its flags, or the one that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from hydrofoil.cli.apply import ApplyOptions
    from hydrofoil.cli.apply import find_access as find

    named = {name: getattr(options, name) for name in AccessOptions.FLAGS}
    return find(ApplyOptions(**named))
