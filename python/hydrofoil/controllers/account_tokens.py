"""Secrets with tokens of service accounts (kube-controller-manager `serviceaccount/tokens_controller.go`)."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.controllers.runtime.controller import Controller, Watch, all_served
from hydrofoil.controllers.runtime.fields import metadata_json
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.delete_options import DeleteOptions

TYPE = "kubernetes.io/service-account-token"
NAME, UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
MANAGER = "kube-controller-manager"


class AccountSecrets(Controller):
    """Fill secrets of accounts with a token, and delete those whose account is gone."""

    name = "serviceaccount-token"
    user = service_account("tokens-controller")

    def __init__(
        self, runtime: Runtime, token: Callable[[Stored, str], Awaitable[str]], authority: Callable[[], bytes]
    ) -> None:
        """Take `token` as the maker of a token of an account, for a secret of a name."""
        super().__init__(runtime)
        self._token = token
        self._authority = authority

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        return all_served(catalog, ("", "secrets"), ("", "serviceaccounts"))

    def watches(self) -> list[Watch]:
        return [
            (self.resource("", "serviceaccounts"), self._on_account),
            (self.resource("", "secrets"), self._on_secret),
        ]

    def _on_account(self, old: Stored | None, new: Stored | None) -> None:
        # A secret may be older than its account, so new accounts count too.
        if old is None or new is None:
            self.put((new or old).namespace)  # type: ignore[union-attr] # one of them is an object

    def _on_secret(self, _: Stored | None, new: Stored | None) -> None:
        if new is not None and NAME.encode() in metadata_json(new):
            self.put(new.namespace, new.name)

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
