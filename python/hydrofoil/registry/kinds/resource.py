"""Device claims: rights to admin access, to bindings and to reports on devices (`pkg/registry/resource`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.apis.names import NODE_OF_ACCOUNT, account_of, subdomain
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import Cause
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.rights import decision, exempt, refuse
from hydrofoil.registry.strategy import Strategy
from hydrofoil.registry.write import Write
from hydrofoil.request import User, attributes

GROUP, CLAIMS = "resource.k8s.io", "resourceclaims"
Status = dict[str, Any]
LABEL = "resource.kubernetes.io/admin-access"


class DeviceClaimStrategy(Strategy):
    """Check admin access (`AuthorizedForAdmin` of `pkg/registry/resource`)."""

    path: tuple[str, ...] = ("spec", "devices", "requests")

    def __init__(self, objects: Objects, *, granular: bool = True) -> None:
        """`granular`: parts of the status have rights of their own."""
        super().__init__(objects)
        self.granular = granular

    def extra_causes(self, resource: Resource, namespace: str, draft: Draft) -> list[Cause]:
        requests: list[dict[str, Any]] = orjson.loads(draft.get(list(self.path)) or b"[]")
        asked = (i for i, r in enumerate(requests) if r.get("exactly", r).get("adminAccess"))
        first = next(asked, None)
        if first is None or self._trusted(namespace):
            return []
        text = f"Forbidden: admin access to devices requires the `{LABEL}: true` label on the containing namespace"
        return [("FieldValueForbidden", text, f"spec.devices.requests[{first}].adminAccess")]

    async def further_causes(self, write: Write, draft: Draft, old: Stored | None) -> list[Cause]:
        if old is None or write.subresource != "status" or not self.granular or exempt(write):
            return []
        new = orjson.loads(draft.get(["status"]) or b"{}")
        before = orjson.loads(old.thaw().get(["status"]) or b"{}")
        causes = []
        if why := await self._unbound(write, new, before):
            causes.append(("FieldValueForbidden", f"Forbidden: {why}", "status.allocation"))
        if new.get("allocation"):
            causes += [
                ("FieldValueForbidden", f"Forbidden: {why}", "status.devices")
                for why in await self._unreported(write, new, before)
            ]
        return causes

    @staticmethod
    async def _unbound(write: Write, new: Status, old: Status) -> str:
        """Return the refusal of a change of the allocation (`AuthorizedForBinding`)."""
        if all((new.get(part) or None) == (old.get(part) or None) for part in ("allocation", "reservedFor")):
            return ""
        asked = attributes(write.verb, GROUP, CLAIMS, version="v1", subresource="binding")
        verdict = await decision(write, asked)
        if verdict.allowed:
            return ""
        what = "changing status.allocation or status.reservedFor requires"
        why = refuse(write, asked, verdict).message
        return f'{what} resource="resourceclaims/binding", verb="{write.verb}" permission: {why}'

    @staticmethod
    async def _unreported(write: Write, new: Status, old: Status) -> list[str]:
        """Return the refusals of changes of devices, by driver (`AuthorizedForDeviceStatus`)."""
        verbs = [f"arbitrary-node:{write.verb}"]
        if on_node(write.user, node_of_allocation(new["allocation"])):
            verbs.insert(0, f"associated-node:{write.verb}")
        found = []
        for driver in changed_drivers(new.get("devices") or [], old.get("devices") or []):
            first = ""
            for verb in verbs:
                asked = attributes(
                    verb, GROUP, CLAIMS, version="v1", subresource="driver", namespace=write.namespace, name=driver
                )
                verdict = await decision(write, asked)
                if verdict.allowed:
                    break
                first = first or refuse(write, asked, verdict).message
            else:
                what = 'changing status.devices requires resource="resourceclaims/driver"'
                found.append(f'{what}, verb="[{" ".join(verbs)}]" permission: {first}')
        return found

    def _trusted(self, namespace: str) -> bool:
        found = self.objects.find("", "namespaces", "", namespace)
        if not found:
            return False
        labels: dict[str, str] = orjson.loads(found.json)["metadata"].get("labels", {})
        return labels.get(LABEL) == "true"


class DeviceTemplateStrategy(DeviceClaimStrategy):
    """The same for claim templates; upstream's message has the same path."""

    path = ("spec", "spec", "devices", "requests")


def changed_drivers(new: list[Status], old: list[Status]) -> list[str]:
    """Return the drivers whose devices are added, changed or removed (`getModifiedDrivers`)."""

    def by_key(devices: list[Status]) -> dict[tuple[str, ...], Status]:
        return {tuple(d.get(part, "") for part in ("driver", "pool", "device", "shareID")): d for d in devices}

    now, before = by_key(new), by_key(old)
    return sorted({key[0] for key in {*now, *before} if now.get(key) != before.get(key)})


def node_of_allocation(allocation: Status) -> str:
    """Return the node that an allocation is limited to; empty if it is not limited to one."""
    terms = (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms") or []
    if len(terms) != 1 or terms[0].get("matchExpressions") or len(fields := terms[0].get("matchFields") or []) != 1:
        return ""
    values: list[str] = fields[0].get("values") or []
    found = fields[0].get("key") == "metadata.name" and fields[0].get("operator") == "In" and len(values) == 1
    return values[0] if found else ""


def on_node(user: User, node: str) -> bool:
    """Report whether a user is a service account with a token that is bound to a node."""
    bound = user.extra.get(NODE_OF_ACCOUNT, ())
    return bool(node) and account_of(user.name) is not None and tuple(bound) == (node,) and subdomain(node)
