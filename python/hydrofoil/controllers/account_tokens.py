"""Secrets with tokens of service accounts (kube-controller-manager `serviceaccount/tokens_controller.go`)."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.controllers.base import Controller, Metadata, service_account
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.store import Registry
from hydrofoil.watch.hub import Hub

TYPE = "kubernetes.io/service-account-token"
NAME, UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
MANAGER = "kube-controller-manager"


class AccountSecrets(Controller):
    """Fill secrets of accounts with a token, and delete those whose account is gone."""

    name = "serviceaccount-token"
    user = service_account("tokens-controller")

    def __init__(
        self,
        registry: Registry,
        hub: Hub,
        token: Callable[[Stored, str], Awaitable[str]],
        authority: Callable[[], bytes],
    ) -> None:
        """Take `token` as the maker of a token of an account, for a secret of a name."""
        super().__init__(registry, hub)
        self._token = token
        self._authority = authority

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        return all(catalog.find("", "v1", plural) for plural in ("secrets", "serviceaccounts"))

    def resources(self) -> Iterable[Resource]:
        return [self.resource("", "serviceaccounts"), self.resource("", "secrets")]

    def event(self, resource: Resource, kind: str, metadata: Metadata) -> None:
        namespace, name = str(metadata["namespace"]), str(metadata["name"])
        if resource.plural == "serviceaccounts":
            # A secret may be older than its account.
            if kind != "MODIFIED":
                self.put(namespace)
            return
        annotations = metadata.get("annotations")
        if kind != "DELETED" and isinstance(annotations, dict) and NAME in annotations:
            self.put(namespace, name)

    async def work(self, key: tuple[str, ...]) -> bool:
        """Bring one secret, or all of a namespace, in step with the accounts."""
        namespace, *name = key
        resource = self.resource("", "secrets")
        if not name:
            async for stored in self.registry.walk(resource, namespace):
                if TYPE.encode() in stored.json:
                    self.put(namespace, stored.name)
            return True
        found = self.registry.collection(resource).get(resource.native, namespace, name[0])
        if found is None:
            return True
        secret: dict[str, Any] = orjson.loads(found.json)
        if secret.get("type") != TYPE or secret["metadata"].get("deletionTimestamp"):
            return True
        try:
            await self._sync(resource, found, secret)
        except ApiError as e:
            if e.code not in (403, 404, 409):
                raise
        return True

    async def _sync(self, resource: Resource, stored: Stored, secret: dict[str, Any]) -> None:
        annotations: dict[str, str] = secret["metadata"].get("annotations") or {}
        account = self.registry.find("", "serviceaccounts", stored.namespace, annotations.get(NAME, ""))
        uid = annotations.get(UID, "")
        write = self.write(resource, stored.namespace, stored.name, manager=MANAGER)
        if account is None or (uid and uid != account.uid):
            options = DeleteOptions(uid=stored.uid)
            await self.registry.delete(resource, stored.namespace, stored.name, options, write)
            return
        data: dict[str, str] = dict(secret.get("data") or {})
        if authority := self._authority():
            data["ca.crt"] = base64.b64encode(authority).decode()
        data["namespace"] = base64.b64encode(stored.namespace.encode()).decode()
        if not data.get("token"):
            data["token"] = base64.b64encode((await self._token(account, stored.name)).encode()).decode()
        if data == secret.get("data") and uid == account.uid:
            return

        def change(old: Stored) -> Draft:
            if old.revision != stored.revision:
                raise errors.conflict("", "secrets", stored.name, errors.MODIFIED)
            draft = old.thaw()
            draft.set(["data"], orjson.dumps(data))
            draft.set(["metadata", "annotations"], orjson.dumps({**annotations, UID: account.uid}))
            return draft

        await self.registry.update(resource, stored.namespace, stored.name, change, write)
