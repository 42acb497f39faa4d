"""Objects of each active namespace: a default service account, and the authority of the server's certificate.

kube-controller-manager `pkg/controller/serviceaccount/serviceaccounts_controller.go` and
`pkg/controller/certificates/rootcacertpublisher`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import orjson

from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.controllers.runtime.controller import Controller, Watch, all_served
from hydrofoil.controllers.runtime.fields import is_deleting
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError

MANAGER = "kube-controller-manager"
ROOT_CA = "kube-root-ca.crt"
DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of "
    "Kubernetes clusters."
)


class PerNamespace(Controller):
    """Keep one object of a name in each active namespace."""

    plural: str
    object_name: str

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether namespaces and the resource of the object are served."""
        return all_served(catalog, ("", "namespaces"), ("", cls.plural))

    def watches(self) -> list[Watch]:
        return [
            (self.resource("", "namespaces"), self._on_namespace),
            (self.resource("", self.plural), self._on_object),
        ]

    def _on_namespace(self, _: Stored | None, new: Stored | None) -> None:
        if new is not None and not is_deleting(new):
            self.put(new.name)

    def _on_object(self, old: Stored | None, _: Stored | None) -> None:
        # A new object is no reason: that of this controller is good, and others are not its concern.
        if old is not None and old.name == self.object_name:
            self.put(old.namespace)

    async def work(self, key: tuple[str, ...]) -> bool:
        """Create or mend the object of a namespace."""
        (namespace,) = key
        within = self.registry.find("", "namespaces", "", namespace)
        if within is None or within.thaw().lifecycle().deletion_timestamp:
            return True
        resource = self.resource("", self.plural)
        stored = self.registry.collection(resource).get(resource.native, namespace, self.object_name)
        try:
            if stored is not None:
                await self.mend(resource, stored)
                return True
            body = {"apiVersion": "v1", "kind": resource.kind, **self.body()}
            body["metadata"] = {**self.metadata(), "name": self.object_name, "namespace": namespace}
            draft, _ = resource.native.decode(orjson.dumps(body), "json")
            write = self.write(resource, namespace, manager=MANAGER)
            await self.registry.create(resource, namespace, draft, write)
        except ApiError as e:
            # Another server was first, or the namespace is being deleted.
            if e.code not in (403, 404, 409):
                raise
        return True

    def metadata(self) -> dict[str, object]:
        """Return metadata of a new object, beside its name."""
        return {}

    @abstractmethod
    def body(self) -> dict[str, object]:
        """Return a new object, without metadata."""

    async def mend(self, resource: Resource, stored: Stored) -> None:
        """Correct a present object; by default it is good as it is."""


class DefaultAccounts(PerNamespace):
    """Keep a service account `default` in each active namespace."""

    name = "serviceaccount"
    user = service_account("service-account-controller")
    plural = "serviceaccounts"
    object_name = "default"

    def body(self) -> dict[str, object]:
        return {}


class RootCa(PerNamespace):
    """Keep a config map with the authority of the server's certificate in each active namespace."""

    name = "root-ca-cert-publisher"
    user = service_account("root-ca-cert-publisher")
    plural = "configmaps"
    object_name = ROOT_CA

    def __init__(self, runtime: Runtime, authority: Callable[[], bytes]) -> None:
        super().__init__(runtime)
        self._authority = authority

    def metadata(self) -> dict[str, object]:
        return {"annotations": {"kubernetes.io/description": DESCRIPTION}}

    def body(self) -> dict[str, object]:
        return {"data": {"ca.crt": self._authority().decode()}}

    async def mend(self, resource: Resource, stored: Stored) -> None:
        data = orjson.dumps(self.body()["data"])
        if orjson.loads(stored.json).get("data") == orjson.loads(data):
            return

        def change(old: Stored) -> Draft:
            draft = old.thaw()
            draft.set(["data"], data)
            return draft

        write = self.write(resource, stored.namespace, stored.name, manager=MANAGER)
        await self.registry.update(resource, stored.namespace, stored.name, change, write)

    def renewed(self) -> None:
        """Publish another authority in all namespaces."""
        for stored in self.registry.all(self.resource("", "namespaces")):
            self.put(stored.name)
