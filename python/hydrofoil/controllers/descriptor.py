"""What a controller needs, and how it is made (`cmd/kube-controller-manager/app/controller_descriptor.go`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from msgspec import Struct

from hydrofoil.admission.chain import Chain
from hydrofoil.aggregation.content import RemoteContent
from hydrofoil.aggregation.documents import Documents
from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.options import ControllerOptions
from hydrofoil.controllers.runtime.controller import Controller
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.engine import Stored
from hydrofoil.registry.store import Registry
from hydrofoil.watch.hub import Hub


class Dependencies(Struct, frozen=True):
    """The parts of a server that controllers use."""

    registry: Registry
    hub: Hub
    admission: Chain
    content: RemoteContent
    """The resources behind API services."""
    documents: Documents
    """Their discovery documents."""
    root_ca: Callable[[], bytes]
    """Return the authority of the server's certificate, in PEM; empty without TLS."""
    legacy_token: Callable[[Stored, str], Awaitable[str]]
    """Return the token of an account for a secret."""
    options: ControllerOptions


class Descriptor(NamedTuple):
    """A controller: what has to be there for it, and how it is made."""

    name: str
    """Its name in `--controllers`; empty for those of every server."""
    is_needed: Callable[[Dependencies], bool]
    """Report whether its resources are served."""
    make: Callable[[Runtime, Dependencies], Controller]


class Simple(Protocol):
    """The class of a controller that needs nothing but its resources."""

    name: str

    def served(self, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""

    def __call__(self, runtime: Runtime) -> Controller:
        """Make the controller."""


def describe(kind: Simple) -> Descriptor:
    """Return the descriptor of such a controller."""
    return Descriptor(kind.name, lambda deps: kind.served(deps.registry.catalog), lambda runtime, _: kind(runtime))
