"""Services: allocation of cluster IPs and node ports from ranges."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.allocation.allocated import Allocated, Held, node_ports
from hydrofoil.registry.allocation.cluster_ips import ClusterIPs, Spec, cause, matches
from hydrofoil.registry.allocation.ranges import Ports, Refused
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.outcome import Finish
from hydrofoil.registry.strategy import Strategy
from hydrofoil.registry.write import Write
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub

PORTED = ("NodePort", "LoadBalancer")


class ServiceStrategy(Strategy):
    """Allocate values that a service omits, and refuse those in use."""

    def __init__(self, objects: Objects, hub: Hub, ips: ClusterIPs, ports: Ports) -> None:
        super().__init__(objects)
        self.ips = ips
        self.ports = ports
        self._hub = hub
        self._followed: Followed[Allocated] | None = None

    def held(self) -> Followed[Allocated]:
        """Return the addresses and ports in use, brought up to the view when read."""
        if self._followed is None:
            services = self.objects.catalog.find("", "v1", "services")
            assert services is not None
            ranges = Allocated(self.ips, self.ports)
            self._followed = Followed(self.objects.collection(services), services.native, ranges, self._hub)
        return self._followed

    async def begin(self, write: Write, draft: Draft, old: Stored | None) -> Finish | None:
        """Allocate as `beginCreate` and `beginUpdate` of `pkg/registry/core/service/storage/storage.go`."""
        if write.subresource:
            return None
        if old is not None:
            draft.keep_allocated(old)
        followed = self.held()
        state = await followed.fresh()
        taken = self._allocate(state, draft, old, dry_run=write.dry_run)

        async def finish(_: bool) -> None:
            # After a successful write, the view has a service that uses it.
            followed.state.release(taken)

        return finish

    def _allocate(self, state: Allocated, draft: Draft, old: Stored | None, *, dry_run: bool) -> Held:
        """Allocate the addresses and ports of a service (`allocateCreate` and `allocateUpdate` of `alloc.go`)."""
        spec: Spec = orjson.loads(draft.get(["spec"]) or b"{}")
        before: Spec = orjson.loads(old.json)["spec"] if old is not None else {}
        name = draft.metadata().name
        if spec.get("clusterIP") and not spec.get("clusterIPs"):
            spec["clusterIPs"] = [spec["clusterIP"]]
            draft.set(["spec", "clusterIPs"], orjson.dumps(spec["clusterIPs"]))
        ips: list[str] = []
        ports: list[int] = []
        try:
            if spec.get("type") != "ExternalName" and not (before and matches(spec, before)):
                self.ips.settle(draft, old, spec, before, name)
                self.ips.allocate(spec, before, name, ips, dry_run=dry_run)
            if spec.get("type") in PORTED:
                if old is None:
                    self._new_ports(spec, name, ports, dry_run=dry_run)
                else:
                    self._changed_ports(spec, before, name, ports, dry_run=dry_run)
            if _checked(spec) and not (_checked(before) and before.get("healthCheckNodePort")):
                self._health_port(spec, ports, dry_run=dry_run)
        except BaseException:
            state.release((ips, set(ports)))
            raise
        ported = ("ports", "healthCheckNodePort") if spec.get("type") in PORTED else ()
        for member in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", *ported):
            if member in spec:
                draft.set(["spec", member], orjson.dumps(spec[member]))
        return ips, set(ports)

    def _new_ports(self, spec: Spec, name: str, taken: list[int], *, dry_run: bool) -> None:
        """Allocate node ports (`initNodePorts`): ports of one number share a node port unless the spec differs."""
        chosen: dict[int, int] = {}
        ports = spec.get("ports") or []
        named: dict[int, int] = {}
        for port in ports:
            if port.get("nodePort"):
                named.setdefault(port.get("port", 0), port["nodePort"])
        for i, port in enumerate(ports):
            given, number = port.get("nodePort", 0), port.get("port", 0)
            if not given and not _allocates(spec):
                continue
            if number not in chosen:
                wanted = named.get(number, 0)
                if wanted:
                    self._claim_port(wanted, wanted, i, name, taken, dry_run=dry_run)
                else:
                    wanted = self._free_port(taken)
                chosen[number] = port["nodePort"] = wanted
            elif not given:
                port["nodePort"] = chosen[number]
            elif given != chosen[number]:
                self._claim_port(given, given, i, name, taken, dry_run=dry_run)

    def _changed_ports(self, spec: Spec, before: Spec, name: str, taken: list[int], *, dry_run: bool) -> None:
        """Allocate node ports of an update (`updateNodePorts`)."""
        held = node_ports(before) | set(taken)
        seen: set[tuple[str, int]] = set()
        for i, port in enumerate(spec.get("ports") or ()):
            given = port.get("nodePort", 0)
            if given:
                if given not in held:
                    self._claim_port(given, given, i, name, taken, dry_run=dry_run)
                    held.add(given)
            elif _allocates(spec):
                given = port["nodePort"] = self._free_port(taken)
                held.add(given)
            key = (port.get("protocol", "TCP"), given)
            if key in seen:
                raise errors.ApiError(500, "", f"duplicate nodePort: {{{key[0]} {given}}}")
            seen.add(key)

    def _claim_port(self, wanted: int, shown: int, i: int, name: str, taken: list[int], *, dry_run: bool) -> None:
        try:
            self.ports.claim(wanted, dry_run=dry_run)
        except Refused as e:
            raise _invalid(name, f"spec.ports[{i}].nodePort", shown, str(e)) from None
        taken.append(wanted)

    def _free_port(self, taken: list[int]) -> int:
        try:
            port = self.ports.free()
        except Refused as e:
            text = f"Internal error occurred: failed to allocate a nodePort: {e}"
            raise errors.ApiError(500, "InternalError", text) from None
        taken.append(port)
        return port

    def _health_port(self, spec: Spec, taken: list[int], *, dry_run: bool) -> None:
        given = spec.get("healthCheckNodePort", 0)
        if not given:
            spec["healthCheckNodePort"] = self._free_port(taken)
            return
        try:
            self.ports.claim(given, dry_run=dry_run)
        except Refused as e:
            text = f"failed to allocate requested HealthCheck NodePort {given}: {e}"
            raise errors.ApiError(500, "InternalError", f"Internal error occurred: {text}") from None
        taken.append(given)


def _allocates(spec: Spec) -> bool:
    return spec.get("type") == "NodePort" or spec.get("allocateLoadBalancerNodePorts", True) is not False


def _checked(spec: Spec) -> bool:
    """Report whether a service needs a port for health checks."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _invalid(name: str, field: str, value: Any, text: str) -> errors.ApiError:
    return errors.invalid("", "Service", name, [cause(field, value, text)])
