"""Aggregated ClusterRoles (kube-controller-manager `pkg/controller/clusterroleaggregation`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.controllers.runtime.controller import Controller, Watch
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.engine import Draft, Selector, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.label_selector import format_label_selector
from hydrofoil.registry.session import apply_here
from hydrofoil.request import ALWAYS_ALLOW

GROUP, PLURAL = "rbac.authorization.k8s.io", "clusterroles"
MANAGER = "clusterrole-aggregation-controller"
Rule = dict[str, Any]
EVERY = "every"
"""The key of all aggregated roles: any role may be part of any other."""


class RoleAggregation(Controller):
    """Keep the rules of ClusterRoles that consist of others."""

    name = "clusterrole-aggregation"
    user = service_account(MANAGER)

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether ClusterRoles are served."""
        return catalog.collected(GROUP, PLURAL) is not None

    def _roles(self) -> Resource | None:
        """Return the resource of ClusterRoles, if it is served."""
        return self.registry.catalog.collected(GROUP, PLURAL)

    def watches(self) -> list[Watch]:
        resource = self._roles()
        return [] if resource is None else [(resource, lambda *_: self.put(EVERY))]

    async def work(self, key: tuple[str, ...]) -> bool:
        """Queue every aggregated role, or bring the rules of one in step with its parts."""
        resource = self._roles()
        if resource is None:
            return True
        if key == (EVERY,):
            for each in self._all(resource, ""):
                if b'"aggregationRule"' in each.json:
                    self.put("role", each.name)
            return True
        stored = self.registry.collection(resource).get(resource.native, "", key[1])
        if stored is None:
            return True
        role = orjson.loads(stored.json)
        aggregation = role.get("aggregationRule")
        if aggregation is None:
            return True
        wanted = self._rules(resource, role["metadata"]["name"], aggregation.get("clusterRoleSelectors") or [])
        if wanted == (role.get("rules") or []):
            return True
        return await self._apply(resource, stored.name, wanted)

    def _all(self, resource: Resource, labels: str) -> list[Stored]:
        selector = Selector(resource.native, "", labels, "")
        return self.registry.collection(resource).list(resource.native, selector, "json", 0, 0, "").versions(2**31)

    def _rules(self, resource: Resource, name: str, selectors: list[dict[str, Any]]) -> list[Rule]:
        """Return the rules of all selected roles by name, each once."""
        found: list[Rule] = []
        for selector in selectors:
            for stored in sorted(self._all(resource, format_label_selector(selector)), key=lambda s: s.name):
                if stored.name != name:
                    found += [r for r in orjson.loads(stored.json).get("rules") or () if r not in found]
        return found

    async def _apply(self, resource: Resource, name: str, rules: list[Rule]) -> bool:
        body: dict[str, Any] = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": name}}
        data = orjson.dumps(body | ({"rules": rules} if rules else {}))

        def change(present: Stored) -> Draft:
            return apply_here(resource.native.apply(self.registry.clock.native, present, data, MANAGER, "", True))[0]

        write = self.write(resource, "", name)
        # It is part of the server: whichever authorizers there are, the sum of roles grants nothing new.
        write.authorizer = ALWAYS_ALLOW
        try:
            await self.registry.update(resource, "", name, change, write)
        except ApiError as e:
            if e.code not in (404, 409):
                raise
            return e.code == 404
        return True
