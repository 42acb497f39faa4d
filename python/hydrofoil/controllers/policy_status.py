"""The status of validating policies (kube-controller-manager `pkg/controller/validatingadmissionpolicystatus`)."""

from __future__ import annotations

import logging
from typing import Any

import orjson

from hydrofoil.aggregation.documents import Documents
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.controllers.policy_types import Check, Kind, Known, needs_of_policy, served_resources
from hydrofoil.controllers.runtime.controller import Controller, Watch
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import run
from hydrofoil.registry.session import apply_here

LOG = logging.getLogger("hydrofoil")
GROUP, PLURAL = "admissionregistration.k8s.io", "validatingadmissionpolicies"
MANAGER = "validatingadmissionpolicy-status"


class PolicyStatus(Controller):
    """Check the expressions of each policy by the types that it names, once for each generation."""

    name = "validatingadmissionpolicy-status"
    user = service_account("validatingadmissionpolicy-status-controller")

    def __init__(self, runtime: Runtime, remote: Documents) -> None:
        """Take `remote` as the documents of other servers, whose resources may be named too."""
        super().__init__(runtime)
        self._remote = remote

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether policies are served."""
        return catalog.find(GROUP, "v1", PLURAL) is not None

    def watches(self) -> list[Watch]:
        return [(self.resource(GROUP, PLURAL), self._on_policy)]

    def _on_policy(self, _: Stored | None, new: Stored | None) -> None:
        if new is not None:
            self.put(new.name)

    async def work(self, key: tuple[str, ...]) -> bool:
        """Write the warnings of a policy, unless those of its generation are written."""
        resource = self.resource(GROUP, PLURAL)
        stored = self.registry.collection(resource).get(resource.native, "", key[0])
        if stored is None:
            return True
        data = stored.json
        groups = served_resources(self.registry.catalog.groups, self._remote.resources())
        found = await run(needs_of_policy, data, groups, pooled=len(data) > LARGE)
        if found is None:
            return True
        params = None if found.params is None else await self._known(found.params)
        kinds = [await self._known(kind) for kind in found.kinds]
        # The names of types have a number that differs in each check.
        number = self.registry.clock.native.nanoseconds() % 10**9
        check = Check(found.spec, kinds, params, number)
        warnings = await run(check.warnings, pooled=True)
        if warnings is None:
            LOG.warning("the warnings of the policy %s are too large to be stored", stored.name)
            return True
        status = {
            "observedGeneration": found.generation,
            "typeChecking": {"expressionWarnings": warnings} if warnings else {},
        }
        await self._apply(resource, stored.name, status)
        return True

    async def _known(self, kind: Kind) -> Known:
        """Return a kind with its definition, or with the document of the service that serves it.

        Built-in types come first, as in upstream's `combinedSchemaResolver`.
        """
        resource = self.registry.catalog.by_kind.get(kind)
        if (resource is None or resource.custom) and self._remote.serves(kind.group, kind.version):
            return Known(kind, published=await self._remote.schemas(kind.group, kind.version, self.user.name))
        if resource is None or not resource.custom:
            return Known(kind)
        definitions = self.resource("apiextensions.k8s.io", "customresourcedefinitions")
        stored = self.registry.collection(definitions).get(definitions.native, "", resource.raw["definition"])
        return Known(kind, b"{}" if stored is None else stored.json)

    async def _apply(self, resource: Resource, name: str, status: dict[str, Any]) -> None:
        body = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": name}, "status": status}
        data = orjson.dumps(body)

        def change(present: Stored) -> Draft:
            clock = self.registry.clock.native
            return apply_here(resource.native.apply(clock, present, data, MANAGER, "status", True))[0]

        write = self.write(resource, "", name, subresource="status")
        try:
            await self.registry.update(resource, "", name, change, write)
        except ApiError as e:
            # A deleted policy needs no status.
            if e.code != 404:
                raise
