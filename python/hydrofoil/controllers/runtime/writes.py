"""The writes of controllers, which pass admission as those of clients."""

from __future__ import annotations

from typing import Protocol

from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Write
from hydrofoil.request import User


class Writes(Protocol):
    """What makes writes that are admitted: `admission.chain.Chain`, of which this room knows no more."""

    def write(
        self,
        resource: Resource,
        namespace: str,
        name: str = "",
        *,
        subresource: str = "",
        manager: str = "",
        user: User = ...,
    ) -> Write:
        """Return a write of a user."""


def service_account(name: str) -> User:
    """Return the user of a controller of kube-controller-manager (`--use-service-account-credentials`)."""
    groups = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")
    return User(f"system:serviceaccount:kube-system:{name}", groups=groups)
