"""The lines of a server on a terminal: its address, its use, its rights."""

from __future__ import annotations

import os

from hydrofoil import __version__

BOLD, DIM, GREEN, YELLOW, BLUE = "1", "2", "32", "33", "36"


def end() -> str:
    """Return how the server is ended: a job in the background gets no Ctrl-C."""
    try:
        foreground = os.tcgetpgrp(1) == os.getpgrp()
    except OSError:
        foreground = True
    return "Ctrl-C" if foreground else f"kill {os.getpid()}"


def banner(
    url: str,
    kubeconfig: str,
    *,
    secured: bool,
    colours: bool | None = None,
    current_context: str = "",
    has_page: bool = False,
) -> str:
    """Return the lines, in colour unless NO_COLOR is set (no-color.org).

    `current_context` is that of the kubeconfig, if it is another server's; `has_page`: there is one at /ui/.
    """
    coloured = not os.environ.get("NO_COLOR") if colours is None else colours

    def paint(text: str, style: str) -> str:
        return f"\033[{style}m{text}\033[0m" if coloured else text

    use = f"export KUBECONFIG={kubeconfig}" if kubeconfig else "hydrofoil kubectl get namespaces"
    if url.startswith("unix:"):
        use = f"curl --unix-socket {url.removeprefix('unix:')} http://localhost/readyz"
    if secured:
        access = paint("credentials are asked for; RBAC decides", GREEN)
    else:
        access = paint("every user of this machine is an administrator", YELLOW)
        access += paint("  (--token-auth-file, --client-ca-file: docs/security.md)", DIM)
    rows = [("use", paint(use, BLUE)), ("access", access), ("end", f"{end()}, or hydrofoil stop")]
    if has_page and not url.startswith("unix:"):
        rows.insert(0, ("page", f"{url}/ui/"))
    if current_context:
        rows.insert(0, ("context", f"hydrofoil; kubectl uses {current_context} without --context (--set-context)"))
    if kubeconfig:
        rows.insert(0, ("kubeconfig", kubeconfig))
    lines = [f"serving on {paint(url, BOLD)}", *(f"  {paint(f'{name:10}', DIM)} {text}" for name, text in rows)]
    return "".join(f"{line}\n" for line in (paint(f"hydrofoil {__version__}", BOLD), *lines))
