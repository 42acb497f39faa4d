"""Services: cluster IPs and node ports come from ranges."""

from __future__ import annotations

import ipaddress
import random
from typing import TYPE_CHECKING, Any

import orjson

from hydrofoil import errors
from hydrofoil.registry.strategies.base import Strategy, Undo, nothing

if TYPE_CHECKING:
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.engine import Draft, Stored
    from hydrofoil.registry.store import Registry

PORT_RANGE = "The range of valid ports is {}-{}"


class ServiceStrategy(Strategy):
    """Allocates what a service does not name, and refuses what is taken."""

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry)
        self.network = ipaddress.ip_network("10.0.0.0/24")
        self.ports = (30000, 32767)
        self._ips: set[str] = set()
        self._ports: set[int] = set()

    def _free_ip(self) -> str:
        base, size = int(self.network.network_address), self.network.num_addresses
        for _ in range(64):
            ip = str(ipaddress.ip_address(base + random.randrange(1, size - 1)))
            if ip not in self._ips:
                return ip
        for offset in range(1, size - 1):
            ip = str(ipaddress.ip_address(base + offset))
            if ip not in self._ips:
                return ip
        raise errors.ApiError(
            500, "InternalError", "Internal error occurred: failed to allocate a serviceIP: range is full"
        )

    def _free_port(self) -> int:
        low, high = self.ports
        free = [p for p in range(low, high + 1) if p not in self._ports]
        if not free:
            raise errors.ApiError(
                500, "InternalError", "Internal error occurred: failed to allocate a nodePort: range is full"
            )
        return random.choice(free)

    async def before_create(self, resource: Resource, draft: Draft, *, dry_run: bool) -> Undo:
        return self._allocate(draft, {})

    async def before_update(
        self, resource: Resource, old: Stored, draft: Draft, subresource: str, *, dry_run: bool
    ) -> Undo:
        if subresource:
            return nothing
        before = orjson.loads(old.json).get("spec", {})
        self._drop_node_ports(draft, before)
        return self._allocate(draft, before)

    @staticmethod
    def _drop_node_ports(draft: Draft, before: dict[str, Any]) -> None:
        """A service that no longer needs node ports loses those it does not name anew (`dropTypeDependentFields`)."""
        spec = orjson.loads(draft.get(["spec"]) or b"{}")
        needed = ("NodePort", "LoadBalancer")
        if before.get("type") not in needed or spec.get("type") in needed:
            return
        if _node_ports(spec) != _node_ports(before):
            return
        ports = [{k: v for k, v in port.items() if k != "nodePort"} for port in spec.get("ports") or ()]
        draft.set(["spec", "ports"], orjson.dumps(ports))

    async def after_update(self, resource: Resource, old: Stored, stored: Stored) -> None:
        before, after = orjson.loads(old.json)["spec"], orjson.loads(stored.json)["spec"]
        self._ips -= set(before.get("clusterIPs", ())) - set(after.get("clusterIPs", ()))
        self._ports -= _node_ports(before) - _node_ports(after)

    async def after_delete(self, resource: Resource, old: Stored) -> None:
        spec = orjson.loads(old.json)["spec"]
        self._ips -= set(spec.get("clusterIPs", ()))
        self._ports -= _node_ports(spec)

    def _allocate(self, draft: Draft, before: dict[str, Any]) -> Undo:
        spec = orjson.loads(draft.get(["spec"]) or b"{}")
        kind = spec.get("type", "ClusterIP")
        name = draft.head()[2]
        taken_ips: set[str] = set()
        taken_ports: set[int] = set()

        def undo() -> None:
            self._ips.difference_update(taken_ips)
            self._ports.difference_update(taken_ports)

        try:
            if kind in ("ClusterIP", "NodePort", "LoadBalancer"):
                self._allocate_ip(draft, spec, before, name, taken_ips)
            if kind in ("NodePort", "LoadBalancer"):
                self._allocate_ports(draft, spec, before, name, taken_ports)
        except BaseException:
            undo()
            raise
        return undo

    def _allocate_ip(
        self, draft: Draft, spec: dict[str, Any], before: dict[str, Any], name: str, taken: set[str]
    ) -> None:
        given = spec.get("clusterIP") or next(iter(spec.get("clusterIPs", ())), "")
        old = before.get("clusterIP", "")
        if not given and old and before.get("type") != "ExternalName":
            given = old
        if not given:
            given = self._free_ip()
            taken.add(given)
            self._ips.add(given)
        elif given not in ("None", old):
            self._claim_ip(given, name, taken)
        draft.set(["spec", "clusterIP"], orjson.dumps(given))
        draft.set(["spec", "clusterIPs"], orjson.dumps([given]))
        if given != "None" or spec.get("selector") or not spec.get("ipFamilies"):
            family = "IPv6" if ":" in given else "IPv4"
            draft.set(["spec", "ipFamilies"], orjson.dumps(spec.get("ipFamilies") or [family]))
        if not spec.get("ipFamilyPolicy"):
            dual = given == "None" and not spec.get("selector")
            draft.set(["spec", "ipFamilyPolicy"], b'"RequireDualStack"' if dual else b'"SingleStack"')
            if dual:
                draft.set(["spec", "ipFamilies"], b'["IPv4","IPv6"]')

    def _claim_ip(self, given: str, name: str, taken: set[str]) -> None:
        field = "spec.clusterIPs"
        try:
            address = ipaddress.ip_address(given)
        except ValueError:
            return
        shown = f'Invalid value: ["{given}"]: failed to allocate IP {given}: '
        if address not in self.network:
            why = f"the provided IP ({given}) is not in the valid range. The range of valid IPs is {self.network}"
            raise errors.invalid("", "Service", name, [("FieldValueInvalid", shown + why, field)])
        if given in self._ips:
            raise errors.invalid(
                "", "Service", name, [("FieldValueInvalid", shown + "provided IP is already allocated", field)]
            )
        taken.add(given)
        self._ips.add(given)

    def _allocate_ports(
        self, draft: Draft, spec: dict[str, Any], before: dict[str, Any], name: str, taken: set[int]
    ) -> None:
        if spec.get("type") == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
            return
        old = {(p.get("protocol"), p["port"]): p.get("nodePort", 0) for p in before.get("ports") or ()}
        held = _node_ports(before)
        ports = spec.get("ports") or []
        low, high = self.ports
        for i, port in enumerate(ports):
            given = port.get("nodePort", 0)
            if not given:
                given = old.get((port.get("protocol", "TCP"), port["port"]), 0)
            if not given:
                given = self._free_port()
            elif given not in held and given not in taken:
                why = ""
                if not low <= given <= high:
                    why = f"provided port is not in the valid range. {PORT_RANGE.format(low, high)}"
                elif given in self._ports:
                    why = "provided port is already allocated"
                if why:
                    cause = ("FieldValueInvalid", f"Invalid value: {given}: {why}", f"spec.ports[{i}].nodePort")
                    raise errors.invalid("", "Service", name, [cause])
            if given not in held:
                taken.add(given)
                self._ports.add(given)
            port["nodePort"] = given
        draft.set(["spec", "ports"], orjson.dumps(ports))


def _node_ports(spec: dict[str, Any]) -> set[int]:
    ports = {p["nodePort"] for p in spec.get("ports") or () if p.get("nodePort")}
    if spec.get("healthCheckNodePort"):
        ports.add(spec["healthCheckNodePort"])
    return ports
