"""The controllers of a server, as kube-controller-manager's descriptors (`cmd/kube-controller-manager/app/core.go`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from msgspec import Struct

from hydrofoil.admission.chain import Chain
from hydrofoil.aggregation.content import RemoteContent
from hydrofoil.aggregation.documents import Documents
from hydrofoil.controllers.account_tokens import AccountSecrets
from hydrofoil.controllers.accounts import DefaultAccounts, RootCa
from hydrofoil.controllers.addresses import AddressRepair
from hydrofoil.controllers.aggregation import RoleAggregation
from hydrofoil.controllers.garbage import GarbageCollector
from hydrofoil.controllers.namespace import NamespaceController
from hydrofoil.controllers.policy_status import PolicyStatus
from hydrofoil.controllers.ports import PortRepair
from hydrofoil.controllers.protection import PROTECTIONS, ProtectionController
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


class Descriptor(NamedTuple):
    """A controller: what has to be there for it, and how it is made."""

    name: str
    """Its name in `--controllers`; empty for those of every server."""
    is_needed: Callable[[Dependencies], bool]
    """Report whether its resources are served."""
    make: Callable[[Runtime, Dependencies], Controller]


EVERYWHERE = (
    Descriptor(
        "",
        lambda deps: AddressRepair.served(deps.registry.catalog),
        lambda runtime, _: AddressRepair(runtime),
    ),
    Descriptor(
        "",
        lambda deps: PortRepair.served(deps.registry.catalog, deps.registry),
        lambda runtime, _: PortRepair(runtime),
    ),
)
"""The controllers of every server: no controllers of kube-controller-manager, but loops of kube-apiserver."""


def _simple(kind: type[RoleAggregation | ProtectionController | DefaultAccounts]) -> Descriptor:
    """Return the descriptor of a controller that needs nothing but its resources."""
    return Descriptor(kind.name, lambda deps: kind.served(deps.registry.catalog), lambda runtime, _: kind(runtime))


ELECTED = (
    Descriptor(
        NamespaceController.name,
        lambda deps: deps.registry.catalog.find("", "v1", "namespaces") is not None,
        lambda runtime, deps: NamespaceController(runtime, deps.content),
    ),
    Descriptor(GarbageCollector.name, lambda _: True, lambda runtime, deps: GarbageCollector(runtime, deps.content)),
    _simple(RoleAggregation),
    *map(_simple, PROTECTIONS),
    Descriptor(
        PolicyStatus.name,
        lambda deps: PolicyStatus.served(deps.registry.catalog),
        lambda runtime, deps: PolicyStatus(runtime, deps.documents),
    ),
    _simple(DefaultAccounts),
    Descriptor(
        RootCa.name,
        lambda deps: bool(deps.root_ca()) and RootCa.served(deps.registry.catalog),
        lambda runtime, deps: RootCa(runtime, deps.root_ca),
    ),
    Descriptor(
        AccountSecrets.name,
        lambda deps: AccountSecrets.served(deps.registry.catalog),
        lambda runtime, deps: AccountSecrets(runtime, deps.legacy_token, deps.root_ca),
    ),
)
"""The controllers of the one server that leads, in the order in which they start."""
