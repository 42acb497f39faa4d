"""The life of a server: start, serving, stop."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from hydrofoil.apis.enablement import EnablementError
from hydrofoil.apis.gates import GateError
from hydrofoil.apis.releases.release import Release
from hydrofoil.clock import Chance, Clock
from hydrofoil.controllers.runtime.controller import Controller
from hydrofoil.errors import ApiError
from hydrofoil.server.app import App, make_core
from hydrofoil.server.certificates import Certificates
from hydrofoil.server.config import Config
from hydrofoil.server.listening import HTTPS_PORT, Listener, StartError
from hydrofoil.server.memory import Pipe
from hydrofoil.server.part import Site
from hydrofoil.server.parts.access import needs_credentials
from hydrofoil.storage.errors import Unopened
from hydrofoil.storage.local import LocalLog
from hydrofoil.storage.log import Log
from hydrofoil.storage.options import check_encryption, interval
from hydrofoil.storage.storage import Storage

if TYPE_CHECKING:
    from hydrofoil.authentication.guests import Guests
    from hydrofoil.controls.controls import Controls
    from hydrofoil.server.controlling import Controlling
    from hydrofoil.server.gateway.client import Upstream
    from hydrofoil.server.kubeconfig import Kubeconfigs
    from hydrofoil.server.workers.crew import Crew
    from hydrofoil.server.workers.end import WorkerEnd
    from hydrofoil.storage.encryption.service import Service as Encryption
    from hydrofoil.storage.upstream.log import UpstreamLog

__all__ = ["Server", "StartError"]


FOREVER = 1e9
"""The seconds that a state remains readable where none follows."""


async def encryption(config: Config, clock: Clock) -> Encryption | None:
    """Return the encryption that the flags ask for. Raise ValueError with one line."""
    check_encryption(config)
    if not config.encryption_provider_config:
        return None
    from hydrofoil.storage.encryption.service import Service

    # A folder that is not reached, and a plug-in, may take their time.
    reload = config.encryption_provider_config_automatic_reload
    return await asyncio.to_thread(partial(Service, config.encryption_provider_config, clock, reload=reload))


def source(config: Config, release: Release, chance: Chance, encryption: Encryption | None = None) -> Log:
    """Return the log that the flags name."""
    if config.from_dump:
        from hydrofoil.server.dumped_log import DumpedLog

        return DumpedLog(config.from_dump, release, chance, config.runtime_config, read_only=config.read_only)
    native = None if encryption is None else encryption.native
    if config.etcd_servers:
        from hydrofoil.storage.etcd import EtcdLog

        return EtcdLog(config, config.event_ttl, config.request_timeout, native)
    if not config.data_dir:
        return LocalLog()
    from hydrofoil.storage.durable import DurableLog

    log = DurableLog(config.data_dir, interval(config.data_sync), encryption=native)
    if encryption is not None:
        encryption.serve(log.unread, log.read_again)
    return log


class Server:
    """An app behind a listening socket.

    `log` keeps the objects, by default in this process; `clock` and `chance` are by default this machine's.
    """

    app: App
    """The parts; from the start on."""
    url: str
    """The URL of the socket; from the start on."""
    address: tuple[str, int]
    """Host and port; from the start on."""

    def __init__(
        self,
        config: Config,
        log: Log | None = None,
        clock: Clock | None = None,
        chance: Chance | None = None,
        controls: Controls | None = None,
        guests: Guests | None = None,
        *,
        crew: Crew | None = None,
        worker: WorkerEnd | None = None,
    ) -> None:
        """Take the controls and the users of a test, if it is one.

        `crew` are the workers that answer for this server, `worker` what one of them has of the owner.
        """
        self._crew = crew
        self._worker = worker
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
        self.kubeconfig = ""
        """The path of the kubeconfig that the start has written."""
        self.current_context = ""
        """The current context of that file, if it is another server's."""
        self._ends = AsyncExitStack()
        """What a stop ends, however far the start got: the last first."""
        self._serving = False

    async def start(self) -> str:
        """Bind, load existing objects, serve. Return the URL.

        Raise StartError; a failed start leaves nothing behind.
        """
        try:
            await self._start()
        except BaseException as e:
            await self.stop()
            if isinstance(e, EnablementError | GateError | ValueError | Unopened):
                raise StartError(str(e)) from None
            if isinstance(e, ApiError):
                raise StartError(f"cannot start: {e.message}") from None
            raise
        return self.url

    async def _start(self) -> None:
        """Raise StartError, and the errors of flags and of the storage."""
        config = self.config
        if config.elects and (problem := config.election_problem()):
            raise StartError(problem)
        listener = await self._listen()
        self._ends.push_async_callback(listener.close)
        certificates = await Certificates.load(config, listener, self._clock, self.guests)
        site = await self._site(listener, certificates)
        self.url, self.address = site.url, (listener.host, listener.port)
        release = Release.of(config.emulated_version, config.feature_gates)
        found = await encryption(config, self._clock) if self._worker is None else None
        upstream = await self._upstream()
        storage = await self._open(release, found, listener)
        core = make_core(
            config, site, storage, release, self._clock, self._chance, self.guests, self._crew, self._worker
        )
        kubeconfigs = self._kubeconfigs(site, certificates)
        reach = None if kubeconfigs is None else kubeconfigs.reach
        if upstream is None:
            app = App(core, listener, certificates, reach, self.controls, found)
        else:
            from hydrofoil.server.gateway.app import GatewayApp

            app = GatewayApp(core, listener, certificates, *upstream)
        self._ends.push_async_callback(app.close)
        self.app = app
        if config.manifests and self._worker is None:
            await self._start_with(app, config.watch_manifests)
        else:
            await app.start()
        if kubeconfigs is not None:
            self.kubeconfig, self.current_context = await kubeconfigs.write()
        if self.controls is not None and self.guests is not None:
            await self.settle()
            self.controls.ready(storage, app.follow_at_once, self.settle)
        self._serving = True

    async def _start_with(self, app: App, watch: bool) -> None:
        """Start, and apply the manifests; health says that the server is not ready before. Raise StartError."""
        from hydrofoil.server.manifests import CHECK, Manifests

        manifests = Manifests(app.core, partial(app.connect, own=True), self.settle)
        app.health.add(CHECK, lambda: manifests.problem, "shutdown")
        await app.start()
        await manifests.apply()
        if watch:
            manifests.follow()
            self._ends.push_async_callback(manifests.close)

    async def _listen(self) -> Listener:
        """Return the socket; a worker has none. Raise ListenError."""
        if self._worker is not None:
            beginning = self._worker.beginning
            return Listener.known(beginning.host, beginning.port, beginning.unix)
        return await asyncio.to_thread(Listener, self.config.host, self.config.port, self.config.unix_socket)

    def _kubeconfigs(self, site: Site, certificates: Certificates) -> Kubeconfigs | None:
        """Return the kubeconfigs, if anybody asks for one: other servers start without the module."""
        if not self.config.kubeconfig and certificates.identity is None and self.controls is None:
            return None
        if self._worker is not None:
            # The owner writes them.
            return None
        from hydrofoil.server.kubeconfig import Kubeconfigs

        return Kubeconfigs(self.config, site, certificates, self.guests)

    async def _site(self, listener: Listener, certificates: Certificates) -> Site:
        """Return where clients find this server."""
        config = self.config
        address = f"{'http' if certificates.serving is None else 'https'}://{listener.authority}"
        # A run with a seed repeats, whichever port is free.
        repeats = self._chance.seeded and not config.port
        secured = needs_credentials(config) or (self.guests is not None and self.guests.required)
        return Site(
            url=f"unix:{listener.unix}" if listener.unix else address,
            address=address,
            authority=listener.authority,
            port=HTTPS_PORT if repeats else listener.port,
            secured=secured,
            root_ca=await certificates.root_ca(secured=secured),
            own_ca=b"" if certificates.identity is None else certificates.identity.authority,
        )

    async def _upstream(self) -> tuple[UpstreamLog, Upstream] | None:
        """Return the source of a gateway's view, and the connections to its upstream; None for any other server.

        Raise ValueError with one line.
        """
        config = self.config
        if not config.upstream:
            return None
        if config.etcd_servers or config.from_dump or config.manifests or config.encryption_provider_config:
            raise ValueError("--upstream excludes --etcd-servers, --from, --manifests and --encryption-provider-config")
        from hydrofoil.server.gateway.client import Upstream
        from hydrofoil.storage.upstream.contact import Contact
        from hydrofoil.storage.upstream.log import UpstreamLog

        contact = Contact()
        upstream = await asyncio.to_thread(Upstream, config.upstream, contact, self._clock)
        log = self._log = UpstreamLog(upstream, contact, self._chance)
        return log, upstream

    async def _open(self, release: Release, encryption: Encryption | None, listener: Listener) -> Storage:
        """Return the storage that the flags name, once it is open."""
        config = self.config
        storage = Storage(
            self._log or source(config, release, self._chance, encryption),
            self._clock,
            window=FOREVER if config.read_only else config.history_window,
            events=config.history_events,
            memory=config.history_bytes,
            cache=config.cache_bytes,
            # etcd has its own bound.
            max_write=0 if config.etcd_servers else config.max_request_bytes,
            deletes_corrupt=release.gates.enabled("AllowUnsafeMalformedObjectDeletion"),
        )
        self._ends.push_async_callback(storage.close)
        if self._crew is not None:
            self._crew.publish(storage, config, listener)
            self._ends.push_async_callback(self._crew.close)
        await storage.open()
        return storage

    @property
    def controlling(self) -> Controlling | None:
        """Return the acts of a test on this server, if it is one."""
        return self.app.controlling

    def connect(self, client: asyncio.BaseProtocol, *, own: bool = False) -> Pipe:
        """Connect a client in memory; `own`: requests of the server itself, which a test does not see."""
        if not self._serving:
            raise RuntimeError("the server has not started")
        return self.app.connect(client, own=own)

    @property
    def controllers(self) -> list[Controller]:
        """Return those that this server runs; none while another one is elected."""
        return self.app.manager.elected if self._serving and not self.config.upstream else []

    async def settle(self) -> None:
        """Wait until the controllers have processed all writes, except for work that they repeat later."""
        await self.app.settle()

    async def stop(self) -> None:
        """Fail readiness, end watches, finish open requests, close connections.

        A server that has not started, or only in part, is stopped as far as it got.
        """
        if self._serving:
            self._serving = False
            self.app.health.shutting_down = True
            if self.config.shutdown_delay_duration:
                # Load balancers see that this server is not ready before it refuses connections (HE-12).
                await self._clock.machine.sleep(self.config.shutdown_delay_duration)
        await self._ends.aclose()
