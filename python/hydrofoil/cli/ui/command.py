"""`hydrofoil ui`: the page for any cluster, with the rights of a kubeconfig."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets  # noqa: TID251 - a key that holds rights is none that can be guessed
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydrofoil.cli.access import AccessOptions, find_access
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import INTERRUPTED, WRONG, Failure
from hydrofoil.options import Options, boolean, flag
from hydrofoil.server.options import port

if TYPE_CHECKING:
    from hydrofoil.cli.ui.gateway import Gateway

HOST = "127.0.0.1"
KEY_BYTES = 32


class UiOptions(Options):
    """The page."""

    port: int = flag("--port", 0, port, "port of the page on this machine; 0: any free one", value="PORT")
    no_open: bool = flag("--no-open", False, boolean, "only print the address, open no browser", value="BOOL")


def run(given: dict[str, Any], _words: tuple[str, ...]) -> int:
    """Answer the page until a signal; return the exit code. Raise Failure."""
    from hydrofoil.cli.client import Client
    from hydrofoil.cli.ui.gateway import Gateway

    options, chosen = UiOptions.pick(given), AccessOptions.pick(given)
    access = find_access(chosen)
    client = Client(access)
    try:
        # Any answer will do: the page shows what the caller may see.
        asyncio.run(client.ask("GET", "/version", "application/json", b""))
    finally:
        client.close()
    try:
        listening = socket.create_server((HOST, options.port))
    except OSError as e:
        # The library adds the address to the text of the error.
        raise Failure(f"{HOST}:{options.port}: {os.strerror(e.errno or 0).lower()}", "--port 0", WRONG) from None
    key = secrets.token_urlsafe(KEY_BYTES)
    gateway = Gateway(access, key, partial(find_access, chosen))
    with listening:
        return asyncio.run(serve(gateway, listening, key, opens=not options.no_open))


async def serve(gateway: Gateway, listening: socket.socket, key: str, *, opens: bool) -> int:
    """Answer until a signal; return the exit code."""
    from aiohttp import web

    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    interrupts: list[None] = []
    loop.add_signal_handler(signal.SIGTERM, stopping.set)

    def interrupt() -> None:
        interrupts.append(None)
        stopping.set()

    loop.add_signal_handler(signal.SIGINT, interrupt)
    gateway.authority = f"{HOST}:{listening.getsockname()[1]}"
    # A watch ends with its page.
    connections = web.Server(gateway.answer, access_log=None, handler_cancellation=True)
    server = await loop.create_server(connections, sock=listening)
    url = f"http://{gateway.authority}/ui/#key={key}"
    sys.stdout.write(f"ui on {url}\n")
    sys.stdout.flush()
    try:
        with start_page(url) if opens else contextlib.nullcontext():
            await stopping.wait()
    finally:
        server.close()
        await connections.shutdown(0.2)
        await gateway.close()
    return INTERRUPTED if interrupts else 0


@contextlib.contextmanager
def start_page(url: str) -> Iterator[None]:
    """Open the page in a browser.

    Everybody on a machine sees the words of its processes: the key is in a file of its owner, not among them.
    """
    import threading
    import webbrowser

    with tempfile.TemporaryDirectory(prefix="hydrofoil-") as folder:
        # The folder is its owner's alone.
        path = Path(folder) / "ui.html"
        target = escape(url, quote=True)
        path.write_text(
            f'<!doctype html><meta http-equiv="refresh" content="0;url={target}"><title>hydrofoil</title>\n'
        )
        # A browser of the terminal would hold the loop.
        threading.Thread(target=webbrowser.open, args=(path.as_uri(),), daemon=True).start()
        yield


COMMAND = Command(
    "ui",
    (UiOptions, AccessOptions),
    run,
    "Show what a server holds and does on a page in your browser, with the rights of a kubeconfig, until a signal.",
    examples=(
        "hydrofoil ui",
        "hydrofoil ui --server http://127.0.0.1:8080 --no-open",
        "hydrofoil ui --kubeconfig ~/.kube/config --context production",
    ),
)
