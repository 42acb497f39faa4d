"""What a feature adds to a server, and what all features are made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct, field
from prometheus_client.registry import Collector

from hydrofoil.apis.catalog import Catalog
from hydrofoil.apis.gates import Gates
from hydrofoil.clock import Chance, Clock
from hydrofoil.endpoints.context import Filter, Handler
from hydrofoil.endpoints.memos import Memos
from hydrofoil.files import Files
from hydrofoil.outbound.services import Services
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategy import Strategy
from hydrofoil.server.chain import Place
from hydrofoil.server.config import Config
from hydrofoil.server.metrics import Metrics, Snapshot
from hydrofoil.storage.storage import Storage
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub
from hydrofoil.watch.queue import Queue

if TYPE_CHECKING:
    from hydrofoil.authentication.guests import Guests
    from hydrofoil.controllers.runtime.controller import Controller
    from hydrofoil.server.workers.crew import Crew
    from hydrofoil.server.workers.end import WorkerEnd

T = TypeVar("T")
Swap = Callable[[tuple[str, str] | None], None]


async def nothing() -> None:
    """Have no work to begin or to end."""


class Site(Struct, frozen=True):
    """Where a server is, and who vouches for it."""

    url: str
    """The URL of its socket."""
    address: str
    """The same as clients in other processes see it: `https://host:port`, for a Unix socket too."""
    authority: str
    """Host and port, as in the header Host."""
    port: int
    """The port in the objects about the server."""
    secured: bool
    """Whether requests need credentials."""
    root_ca: bytes = b""
    """The authority of its certificate, in PEM; empty without TLS."""
    own_ca: bytes = b""
    """The authority that the server made itself, whose client certificates it accepts, in PEM."""


class Part(Struct, Generic[T], kw_only=True):
    """What one feature adds to a server.

    A function of `server/parts` returns one, and `server/app.py` has their list, whose order is that of the starts; the
    reverse is that of the ends. A part sees the core and the features of the parts before it, in its arguments: nothing
    is set in it afterwards.

    >>> from hydrofoil.answer import plain
    >>> async def answer(context):
    ...     return plain(200, "hello\\n", context.common)
    >>> part = Part(feature=None, paths={"/hello": answer})
    >>> sorted(part.paths), part.queues, part.start is nothing
    (['/hello'], {}, True)
    """

    feature: T
    """What later parts use."""
    start: Callable[[], Awaitable[None]] = nothing
    """Begin what changes beside requests. It may raise ValueError or StartError with one line."""
    close: Callable[[], Awaitable[None]] = nothing
    """End it; a part that has not started may be closed, too."""
    strategies: Mapping[tuple[str, str], Strategy] = {}
    """The strategies of kinds, by group and resource."""
    filters: Mapping[Place, Filter] = {}
    """Filters of requests."""
    followed: Sequence[Followed[Any]] = ()
    """The states that routing depends on: requests see them as new as the view is."""
    paths: Mapping[str, Handler] = {}
    """Handlers of paths without a resource; one that ends in a slash is a first segment with everything below it."""
    collectors: Callable[[], Iterable[Collector]] = tuple
    """Return the metrics; called once, after the start."""
    snapshots: Sequence[Snapshot] = ()
    """Metrics that are copied at a scrape, and written by another thread."""
    queues: Mapping[str, Queue] = {}
    """Queues by the names that metrics have for them."""
    controllers: Callable[[], Iterable[Controller]] | None = None
    """Return the controllers that run at present; one part has them."""


class Core(Struct, frozen=True):
    """What every part is made of."""

    config: Config
    site: Site
    clock: Clock
    chance: Chance
    gates: Gates
    minor: int
    """The minor version that is emulated."""
    catalog: Catalog
    storage: Storage
    hub: Hub
    registry: Registry
    files: Files
    services: Services
    metrics: Metrics
    memos: Memos
    version: Mapping[str, str]
    """The document of `/version`."""
    guests: Guests | None = None
    """Users that a test made."""
    crew: Crew | None = None
    """The workers that answer for this server, if it does not answer by itself."""
    worker: WorkerEnd | None = None
    """What this worker has of the owner, if it is one."""
    signing_key: bytes = b""
    """The key of service account tokens that all processes of a server have, in PEM; empty: this one may make one."""
    listeners: list[Callable[[], None]] = field(default_factory=list)
    """Functions called when custom resources were added, changed or removed."""
