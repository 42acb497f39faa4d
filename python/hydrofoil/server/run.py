"""The life of a server: start, serving, stop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hydrofoil.apis.enablement import EnablementError
from hydrofoil.apis.gates import GateError
from hydrofoil.clock import Chance, Clock, machine_seconds
from hydrofoil.controllers.runtime.controller import Controller
from hydrofoil.endpoints import tls
from hydrofoil.endpoints.connection import Connections
from hydrofoil.errors import ApiError
from hydrofoil.request import ADMIN
from hydrofoil.server import bootstrap
from hydrofoil.server.app import App, secured
from hydrofoil.server.config import Config
from hydrofoil.server.controllers import ControllerManager
from hydrofoil.server.identity import Identity, folder, given_pair, own_names, write_private
from hydrofoil.server.identity import identity as made_identity
from hydrofoil.server.in_memory_certificate import InMemoryCertificate
from hydrofoil.server.kubeconfig import kubeconfig, of_token, reachable
from hydrofoil.server.listening import BACKLOG, ListenError, UnixSocket, is_local, listen, reason
from hydrofoil.server.memory import Pipe, connect
from hydrofoil.server.serving import BadCertificate, Serving
from hydrofoil.server.source import encryption, source
from hydrofoil.storage.errors import Unopened
from hydrofoil.storage.log import Log
from hydrofoil.storage.view import Storage

if TYPE_CHECKING:
    from hydrofoil.authentication.guests import Guests
    from hydrofoil.controls.controls import Controls
    from hydrofoil.server.controlling import Controlling
    from hydrofoil.storage.encryption.service import Service as Encryption

LOG = logging.getLogger("hydrofoil")
HTTPS_PORT = 443
"""The port in objects about a server without one, or with another at each start."""
DRAIN_SECONDS = 4.0
"""The time that open requests have to finish after a signal."""
FLOW_CONTROL = "flowcontrol.apiserver.k8s.io"
HEADERS = 10_000
"""The number of headers, which upstream does not limit: more take longer than a turn of the loop."""


class StartError(Exception):
    """A server that cannot start, with a one-line reason."""


class Server:
    """An app behind a listening socket.

    `log` keeps the objects, by default in this process; `clock` and `chance` are by default this machine's.
    """

    def __init__(
        self,
        config: Config,
        log: Log | None = None,
        clock: Clock | None = None,
        chance: Chance | None = None,
        controls: Controls | None = None,
        guests: Guests | None = None,
    ) -> None:
        """Take the controls and the users of a test, if it is one."""
        self.config = config
        self._log = log
        self._clock = clock or Clock()
        self._chance = chance or Chance()
        if config.test_controls and controls is None:
            from hydrofoil.authentication.guests import Guests
            from hydrofoil.controls.controls import Controls

            controls, guests = Controls(self._clock, self._chance), Guests()
        self.controls = controls
        self.guests = guests
        self.controlling: Controlling | None = None
        """The acts of a test, once a server with controls has started."""
        self._storage: Storage | None = None
        self._encryption: Encryption | None = None
        self._manager: ControllerManager | None = None
        self.kubeconfig = ""
        """The path of the kubeconfig that the start has written."""
        self._listener: socket.socket | None = None
        self._unix: UnixSocket | None = None
        self._sessions: tls.Listener | None = None
        self._beside: InMemoryCertificate | None = None
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
        if self._elects and (problem := config.election_problem()):
            raise StartError(problem)
        listener = await self._bind()
        host, port = ("localhost", config.port or HTTPS_PORT) if self._unix else listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        identity, serving = await self._tls(host)
        address = f"{'https' if serving else 'http'}://{shown}:{port}"
        self.url = f"unix:{config.unix_socket}" if self._unix else address
        self.address, self.authority = (host, port), f"{shown}:{port}"
        try:
            self._encryption = await encryption(config, self._clock)
            storage = self._storage = Storage(
                self._log or source(config, self._encryption),
                self._clock,
                window=config.history_window,
                events=config.history_events,
                memory=config.history_bytes,
                cache=config.cache_bytes,
            )
            await storage.open()
            if self._encryption is not None:
                self._encryption.start()
            self.app = App(
                config,
                f"{shown}:{port}",
                storage,
                self._clock,
                self._chance,
                self.controls,
                self.guests,
                self._encryption,
            )
        except (EnablementError, GateError, ValueError, Unopened) as e:
            raise StartError(str(e)) from None
        if not config.etcd_servers:
            # etcd has its own.
            storage.bound.most = config.max_request_bytes
        storage.words.corrupt = self.app.gates.enabled("AllowUnsafeMalformedObjectDeletion")
        self.app.registry.issuer = next(iter(config.service_account_issuers), f"{address}/")
        if identity is not None:
            self.app.authentication.trust(identity.authority)
            self.app.root_ca = identity.authority
        elif config.tls_cert_file and self.app.secured:
            # A server that asks for nothing has no pods that verify it: its namespaces stay empty.
            self.app.root_ca = await asyncio.to_thread(Path(config.tls_cert_file).read_bytes)
        if serving is not None and identity is None:
            # Another server may make certificates of its own in the same folder.
            serving.watch(self.app.files)
        try:
            await self.app.follow()
        except ValueError as e:
            raise StartError(str(e)) from None
        # A run with a seed repeats, whichever port is free.
        repeats = self._chance.seeded and not config.port
        await self._begin_with(self.app, HTTPS_PORT if repeats else port)
        self._web = Connections(
            self.app.wire,
            keepalive_timeout=config.idle_timeout,
            header_timeout=config.header_timeout,
            answer_timeout=config.request_timeout,
            # With credentials a page has no right that its user's programs have without asking.
            own_host="" if serving or self._unix or secured(config) else host,
            accepted_hosts=tuple(pattern.lower() for pattern in config.accept_hosts),
            max_headers=HEADERS,
            auto_decompress=False,
            # A watch ends when its client disconnects. A write has no point of rest between its checks and its commit.
            handler_cancellation=True,
        )
        self._sessions = self._secure(serving, host, self._web)
        self.app.metrics.watch_handshakes(lambda: 0 if self._sessions is None else self._sessions.failed)
        loop = asyncio.get_running_loop()
        create = loop.create_unix_server if self._unix else loop.create_server
        self._server = await create(self._sessions or self._web, sock=listener, backlog=BACKLOG)
        self._manager = self.app.manage(self._elects)
        await self._manager.start()
        await self._write_kubeconfig(address, identity)
        if self.controls is not None and self.guests is not None:
            self.controlling = self._controlled(self.controls, self.guests)
            await self.settle()
            self.controls.ready(storage, self.app.follow_at_once, self.settle)
        self._serving = True
        return self.url

    async def _begin_with(self, app: App, port: int) -> None:
        """Create the objects that every cluster has. Raise StartError."""
        objects = partial(bootstrap.load, app.registry, port, self.config.service_cluster_ip_range, app.gates)
        try:
            await app.api_services.load()
            await objects(roles=app.authorization.reconciles)
            await app.flow_control(partial(objects, roles=False, group=FLOW_CONTROL))
        except ApiError as e:
            # The disk takes no writes, or a plug-in that encrypts them is not there.
            raise StartError(f"cannot create the first objects: {e.message}") from None

    @property
    def _elects(self) -> bool:
        """Report whether one of several servers runs the controllers: by default, of those that share etcd."""
        given = self.config.leader_elect
        return bool(self.config.etcd_servers) if given is None else given

    def connect(self, client: asyncio.BaseProtocol, *, own: bool = False) -> Pipe:
        """Connect a client in memory; `own`: requests of the server itself, which a test does not see."""
        if self._web is None:
            raise RuntimeError("the server has not started")
        return connect(self._web, client, {"hydrofoil.own": True} if own else {})

    def _controlled(self, controls: Controls, guests: Guests) -> Controlling:
        """Return the acts of a test on this server, and allow them over HTTP if a flag does."""
        from hydrofoil.server.controlling import Controlling, Running

        dial = partial(self.connect, own=True)
        running = Running(self.app, self.url, self.authority, dial, self.settle, self._reach)
        found = Controlling(running, guests)
        if self.config.test_controls:
            from hydrofoil.controls.http import ControlApi

            everywhere = self.config.test_controls == "all"
            api = ControlApi(controls, found.apply, found.waits, found.user, self.settle, everywhere=everywhere)
            self.app.control(api.answer)
        return found

    @property
    def controllers(self) -> list[Controller]:
        """Return those that this server runs; none while another one is elected."""
        return [] if self._manager is None else self._manager.elected

    async def settle(self) -> None:
        """Wait until the controllers have processed all writes, except for work that they repeat later."""
        if self._manager is not None:
            await self._manager.settle()

    async def _bind(self) -> socket.socket:
        config = self.config
        try:
            if config.unix_socket:
                self._unix = await asyncio.to_thread(UnixSocket, config.unix_socket)
                self._listener = self._unix.listener
            else:
                self._listener = listen(config.host, config.port)
        except ListenError as e:
            raise StartError(str(e)) from None
        return self._listener

    async def _tls(self, host: str) -> tuple[Identity | None, Serving | None]:
        """Return the certificates that this server makes itself, and those that it presents; None without TLS."""
        config = self.config
        cert, key = config.tls_cert_file, config.tls_private_key_file
        if key and not cert:
            raise StartError("cannot use the TLS certificate: --tls-private-key-file needs --tls-cert-file")
        identity = None
        if not cert:
            if not config.cert_dir and (self._unix or is_local(config.host)):
                return None, None
            place = Path(config.cert_dir) if config.cert_dir else folder()
            cert, key = await asyncio.to_thread(given_pair, place)
        if not cert:
            try:
                names = own_names(host, config.service_cluster_ip_range)
                now = int(self._clock.seconds())
                identity = await asyncio.to_thread(made_identity, place, names, now, machine_seconds())
            except (OSError, ValueError) as e:
                why = reason(e) if isinstance(e, OSError) else str(e)
                raise StartError(f"cannot keep certificates in {place}: {why} (--cert-dir takes a folder)") from None
            cert, key = identity.cert, identity.key
        try:
            asks = bool(identity or config.client_ca_file or config.requestheader_client_ca_file)
            return identity, await asyncio.to_thread(partial(Serving, asks=asks), config, cert, key or cert)
        except BadCertificate as e:
            raise StartError(f"cannot use the TLS certificate: {e}") from None

    def _secure(self, serving: Serving | None, host: str, make: tls.Make) -> tls.Listener | None:
        """Return the sessions of TLS; None for plain HTTP alone."""
        if serving is not None:
            return tls.Listener(lambda: serving.config, make, self.config.header_timeout)
        if self.guests is None or self._unix:
            return None
        self._beside = InMemoryCertificate(partial(own_names, host, self.config.service_cluster_ip_range))
        return tls.Listener(self._beside.settings, make, self.config.header_timeout, plain=True)

    def _reach(self, name: str) -> tuple[str, str | None]:
        """Return the URL and the authority in the kubeconfig of a user of a test."""
        assert self.guests is not None
        if self._beside is None or (name == ADMIN.name and not self.guests.required):
            # Without credentials it is the same user.
            return reachable(self.url), self.app.root_ca.decode() or None
        return reachable(f"https://{self.authority}"), self._beside.authority

    async def _write_kubeconfig(self, address: str, identity: Identity | None) -> None:
        config = self.config
        url = reachable(address)
        places = [Path(config.kubeconfig)] if config.kubeconfig else []
        if identity is not None:
            text = identity.kubeconfig(url)
        elif places and self.guests is not None:
            # A server of a test knows its own users alone.
            token = self.guests.token(ADMIN.name, ADMIN.groups)
            secure, ca = self._reach(ADMIN.name)
            if self._beside is not None and ca:
                text = json.dumps(of_token(secure, ca, ADMIN.name, token), indent=2) + "\n"
            else:
                text = kubeconfig(url, config.tls_cert_file, token)
        else:
            text = kubeconfig(url, config.tls_cert_file)
        if identity is not None:
            places.append(identity.folder / "admin.conf")
        for place in places:
            try:
                await asyncio.to_thread(write_private, place, text)
            except OSError as e:
                raise StartError(
                    f"cannot write the kubeconfig {place}: {reason(e)} (--kubeconfig takes a file)"
                ) from None
        self.kubeconfig = str(places[0]) if places else ""

    async def stop(self) -> None:
        """Fail readiness, end watches, finish open requests, close connections.

        A server that has not started, or only in part, is stopped as far as it got.
        """
        app: App | None = getattr(self, "app", None)
        if app is not None:
            app.health.shutting_down = True
            if self._serving and self.config.shutdown_delay_duration:
                # Load balancers see that this server is not ready before it refuses connections (HE-12).
                await self._clock.machine.sleep(self.config.shutdown_delay_duration)
        self._serving = False
        if self._manager is not None:
            await self._manager.stop()
        if app is not None:
            await app.close()
        if self._server is not None:
            self._server.close()
        elif self._listener is not None:
            self._listener.close()
        if self._sessions is not None:
            self._sessions.close()
        if self._unix is not None:
            await asyncio.to_thread(self._unix.remove)
            self._unix = None
        if app is not None:
            app.hub.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_SECONDS):
                    await app.wire.idle()
        if self._web is not None:
            self._web.pre_shutdown()
            await self._web.shutdown(0.2)
        if self._encryption is not None:
            await self._encryption.close()
        if self._storage is not None:
            # Requests that were open have written.
            await self._storage.close()
        if app is not None and app.audit is not None:
            # The last requests are recorded, too.
            await app.audit.close()
