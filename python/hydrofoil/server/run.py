"""The life of a server: start, serving, stop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import logging
import os
import resource
import signal
import socket
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from hydrofoil.apis.enablement import EnablementError
from hydrofoil.apis.gates import GateError
from hydrofoil.clock import Chance, Clock
from hydrofoil.controllers.base import Controller
from hydrofoil.controllers.garbage import GarbageCollector
from hydrofoil.controllers.namespace import NamespaceController
from hydrofoil.controllers.protection import PROTECTIONS
from hydrofoil.endpoints.wire import Connections
from hydrofoil.server import bootstrap
from hydrofoil.server.app import App
from hydrofoil.server.config import Config
from hydrofoil.storage.local import LocalLog
from hydrofoil.storage.log import Log
from hydrofoil.storage.view import Storage

LOG = logging.getLogger("hydrofoil")
DRAIN_SECONDS = 4.0
"""The time that open requests have to finish after a signal."""
MENDS = {
    errno.EADDRINUSE: "; --port 0 takes any free one",
    errno.EACCES: "; --port takes one from 1024 on",
    errno.EADDRNOTAVAIL: "; --host takes an address of this machine",
}
"""Advice on a failure to listen."""
MAX_HEADER = 64 * 1024


class StartError(Exception):
    """A server that cannot start, with a one-line reason."""


class Server:
    """An app behind a listening socket.

    `log` keeps the objects, by default in this process; `clock` and `chance` are by default this machine's.
    """

    def __init__(
        self, config: Config, log: Log | None = None, clock: Clock | None = None, chance: Chance | None = None
    ) -> None:
        self.config = config
        self._log = log
        self._clock = clock or Clock()
        self._chance = chance or Chance()
        self._storage: Storage | None = None
        self.controllers: list[Controller] = []
        self._listener: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._web: Connections | None = None
        self._serving = False

    async def start(self) -> str:
        """Bind, load existing objects, serve. Return the URL.

        Raise StartError; a failed start leaves nothing behind.
        """
        try:
            return await self._start()
        except BaseException:
            await self.stop()
            raise

    async def _start(self) -> str:
        config = self.config
        context = self._tls()
        listener = self._listener = self._bind()
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        self.url = f"{'https' if context else 'http'}://{shown}:{port}"
        try:
            storage = self._storage = Storage(
                self._log or LocalLog(),
                self._clock,
                window=config.history_window,
                events=config.history_events,
                memory=config.history_bytes,
                cache=config.cache_bytes,
            )
            await storage.open()
            self.app = App(config, f"{shown}:{port}", storage, self._clock, self._chance)
        except (EnablementError, GateError) as e:
            raise StartError(str(e)) from None
        self.app.registry.issuer = config.service_account_issuer or f"{self.url}/"
        await self.app.follow()
        await self.app.api_services.load()
        await bootstrap.load(self.app.registry, port, config.service_cluster_ip_range, self.app.gates)
        self.app.flow_control()
        self._web = Connections(
            self.app.wire,
            keepalive_timeout=config.idle_timeout,
            header_timeout=config.header_timeout,
            answer_timeout=config.request_timeout,
            max_line_size=MAX_HEADER,
            max_field_size=MAX_HEADER,
            auto_decompress=False,
            # A watch ends when its client disconnects. A write has no point of rest between its checks and its commit.
            handler_cancellation=True,
        )
        loop = asyncio.get_running_loop()
        handshake = config.header_timeout if context else None
        self._server = await loop.create_server(
            self._web, sock=listener, ssl=context, ssl_handshake_timeout=handshake, backlog=4096
        )
        if config.controls("namespace") and self.app.catalog.find("", "v1", "namespaces"):
            self.controllers.append(NamespaceController(self.app.registry, self.app.hub))
        if config.controls("garbagecollector"):
            self.controllers.append(GarbageCollector(self.app.registry, self.app.hub))
        for name, protection in PROTECTIONS.items():
            if config.controls(name) and protection.served(self.app.catalog):
                self.controllers.append(protection(self.app.registry, self.app.hub))
        for controller in self.controllers:
            controller.admission = self.app.admission
            controller.start()
            self.app.listeners.append(controller.discover)
        if config.kubeconfig:
            try:
                await asyncio.to_thread(write_kubeconfig, Path(config.kubeconfig), self.url, config.tls_cert_file)
            except OSError as e:
                raise StartError(f"cannot write the kubeconfig {config.kubeconfig}: {reason(e)}") from None
        self._serving = True
        return self.url

    def _bind(self) -> socket.socket:
        host, port = self.config.host, self.config.port
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            listener = socket.create_server((host, port), family=family, backlog=4096)
        except socket.gaierror as e:
            raise StartError(f"cannot listen on {host}:{port}: {e.strerror}; --host takes an address of here") from None
        except OSError as e:
            mend = MENDS.get(e.errno or 0, "")
            raise StartError(f"cannot listen on {host}:{port}: {reason(e)}{mend}") from None
        except (OverflowError, ValueError) as e:
            raise StartError(f"cannot listen on {host}:{port}: {e}") from None
        listener.setblocking(False)
        return listener

    def _tls(self) -> ssl.SSLContext | None:
        cert, key = self.config.tls_cert_file, self.config.tls_private_key_file
        if not cert and not key:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # The client's order, as in Go's server: its first choice on machines with AES costs a sixth less than ours.
        context.options &= ~ssl.Options.OP_CIPHER_SERVER_PREFERENCE
        if not cert:
            raise StartError("cannot use the TLS certificate: --tls-private-key-file needs --tls-cert-file")
        try:
            for file in filter(None, (cert, key)):
                with Path(file).open("rb"):
                    """Open each file to report which of the two is unreadable."""
            # Without this callback the library would ask the terminal for the password of an encrypted key.
            context.load_cert_chain(cert, key or None, password=no_password)
        except ssl.SSLError as e:
            where = f"{cert} and {key}" if key else cert
            why = e.reason or "no certificate with its key"
            raise StartError(f"cannot use the TLS certificate: {where}: {why}") from None
        except OSError as e:
            raise StartError(f"cannot use the TLS certificate: {e.filename}: {reason(e)}") from None
        return context

    async def stop(self) -> None:
        """Fail readiness, end watches, finish open requests, close connections.

        A server that has not started, or only in part, is stopped as far as it got.
        """
        app: App | None = getattr(self, "app", None)
        if app is not None:
            app.health.shutting_down = True
            if self._serving and self.config.shutdown_delay_duration:
                # Load balancers see that this server is not ready before it refuses connections (HE-12).
                await self._clock.sleep(self.config.shutdown_delay_duration)
        self._serving = False
        for controller in self.controllers:
            await controller.stop()
        self.controllers.clear()
        if app is not None:
            await app.close()
        if self._storage is not None:
            await self._storage.close()
        if self._server is not None:
            self._server.close()
        elif self._listener is not None:
            self._listener.close()
        if app is not None:
            app.hub.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_SECONDS):
                    await app.wire.idle()
        if self._web is not None:
            self._web.pre_shutdown()
            await self._web.shutdown(0.2)


def no_password() -> str:
    """Raise StartError: an encrypted key asks for its password."""
    raise StartError("cannot use the TLS certificate: the private key is encrypted, and only plain ones are taken")


def reason(error: OSError) -> str:
    """Return the operating system's message for a failure."""
    return os.strerror(error.errno) if error.errno else str(error)


def write_kubeconfig(path: Path, url: str, ca_file: str) -> None:
    """Write a kubeconfig for kubectl."""
    ca = f"    certificate-authority: {Path(ca_file).resolve()}\n" if ca_file else ""
    text = (
        "apiVersion: v1\nkind: Config\nclusters:\n- name: hydrofoil\n  cluster:\n"
        f"    server: {url}\n{ca}"
        "users:\n- name: admin\n  user:\n    token: admin\n"
        "contexts:\n- name: hydrofoil\n  context:\n    cluster: hydrofoil\n    user: admin\n"
        "current-context: hydrofoil\n"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)


def report(text: str) -> None:
    """Write to the standard output, if it is open."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        # Discard the rest of the buffer at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


async def serve(config: Config) -> None:
    """Serve until a signal."""
    server = Server(config)
    loop = asyncio.get_running_loop()
    # Encoding off the loop alternates with it: two threads keep two cores busy.
    loop.set_default_executor(ThreadPoolExecutor(2, thread_name_prefix="encode"))
    url = await server.start()
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    # All objects up to here live as long as the process: the garbage collector can skip them.
    gc.freeze()
    gc.enable()
    report(f"kubeconfig {config.kubeconfig}\nserving on {url}\n" if config.kubeconfig else f"serving on {url}\n")
    await stopping.wait()
    await server.stop()


def bound_memory() -> None:
    """Limit the C library to two arenas of freed memory instead of one a thread: lists of every form held 50 MB less.

    Other C libraries than glibc have no such switch.
    """
    import ctypes

    arena_max = -8  # malloc.h M_ARENA_MAX
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(arena_max, 2)


def run(config: Config) -> int:
    """Serve; return the exit code."""
    import uvloop

    bound_memory()

    # One file a connection: as Go's runtime does, raise the limit to the machine's.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if config.kubeconfig:
        with contextlib.suppress(OSError, RuntimeError):
            config = replace(config, kubeconfig=str(Path(config.kubeconfig).resolve()))
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(config))
    except StartError as e:
        sys.stderr.write(f"hydrofoil: {e}\n")
        return 1
    return 0
