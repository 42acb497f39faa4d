"""The controllers of a server, as kube-controller-manager's descriptors (`cmd/kube-controller-manager/app/core.go`)."""

from __future__ import annotations

from importlib import import_module

from hydrofoil.controllers.account_tokens import AccountSecrets
from hydrofoil.controllers.accounts import DefaultAccounts, RootCa
from hydrofoil.controllers.addresses import AddressRepair
from hydrofoil.controllers.aggregation import RoleAggregation
from hydrofoil.controllers.descriptor import Descriptor, describe
from hydrofoil.controllers.garbage import GarbageCollector
from hydrofoil.controllers.namespace import NamespaceController
from hydrofoil.controllers.policy_status import PolicyStatus
from hydrofoil.controllers.ports import PortRepair
from hydrofoil.controllers.protection import PROTECTIONS

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


ELECTED = (
    Descriptor(
        NamespaceController.name,
        lambda deps: deps.registry.catalog.find("", "v1", "namespaces") is not None,
        lambda runtime, deps: NamespaceController(runtime, deps.content),
    ),
    Descriptor(GarbageCollector.name, lambda _: True, lambda runtime, deps: GarbageCollector(runtime, deps.content)),
    describe(RoleAggregation),
    *map(describe, PROTECTIONS),
    Descriptor(
        PolicyStatus.name,
        lambda deps: PolicyStatus.served(deps.registry.catalog),
        lambda runtime, deps: PolicyStatus(runtime, deps.documents),
    ),
    describe(DefaultAccounts),
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
ROOMS = ("batch", "certificates", "network", "node", "policies", "volumes", "workloads")
"""The rooms of the controllers that make a cluster live: their tables are loaded only if a flag names one of them."""


def living() -> tuple[Descriptor, ...]:
    """Return the controllers of these rooms."""
    tables = (import_module(f"hydrofoil.controllers.{room}.table") for room in ROOMS)
    return tuple(descriptor for table in tables for descriptor in table.DESCRIPTORS)
