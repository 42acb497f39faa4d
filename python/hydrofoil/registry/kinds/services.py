"""Services: allocation of cluster IPs and node ports from ranges."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from functools import partial
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.allocation.allocated import Allocated, Held, held_by, node_ports
from hydrofoil.registry.allocation.cluster_ips import ClusterIPs, Spec, cause, matches
from hydrofoil.registry.allocation.networks import Network, ServiceNetworks
from hydrofoil.registry.allocation.port_records import PortRecords
from hydrofoil.registry.allocation.ranges import Ports, Refused, canonical
from hydrofoil.registry.allocation.records import AddressRecords
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.outcome import Finish
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategy import Strategy
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import StorageError
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub

LOG = logging.getLogger("hydrofoil")
PORTED = ("NodePort", "LoadBalancer")


class ServiceStrategy(Strategy):
    """Allocate values that a service omits, and refuse those in use."""

    def __init__(self, registry: Registry, hub: Hub, networks: str, ports: Ports) -> None:
        """`networks` are those of the flag for cluster IPs."""
        super().__init__(registry)
        self._registry = registry
        self.records = AddressRecords(registry)
        self.ips = ClusterIPs(networks, registry.chance, self.records.present)
        self.ports = ports
        self.port_records = PortRecords(registry, ports, self._held_ports)
        self._hub = hub
        self._followed: Followed[Allocated] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    def creates_through_status(self, resource: Resource) -> bool:
        return True

    def held(self) -> Followed[Allocated]:
        """Return the addresses and ports in use, brought up to the view when read."""
        if self._followed is None:
            services = self.objects.catalog.find("", "v1", "services")
            assert services is not None
            ranges = Allocated(self.ips, self.ports)
            self._followed = Followed(self.objects.collection(services), services.native, ranges, self._hub)
            self._follow_networks()
        return self._followed

    def _held_ports(self) -> Iterable[int]:
        return self.held().state.held_ports()

    def _follow_networks(self) -> None:
        """Draw addresses from the networks of ServiceCIDR objects, too."""
        resource = self.objects.catalog.find("networking.k8s.io", "v1", "servicecidrs")
        if resource is None:
            return
        followed = Followed(self.objects.collection(resource), resource.native, ServiceNetworks(), self._hub)
        for family, addresses in self.ips.families.items():
            addresses.further = partial(_networks, followed, family)

    async def begin(self, write: Write, draft: Draft, old: Stored | None) -> Finish | None:
        """Allocate as `beginCreate` and `beginUpdate` of `pkg/registry/core/service/storage/storage.go`."""
        if write.subresource:
            return None
        if old is not None:
            draft.keep_allocated(old)
        followed = self.held()
        state = await followed.fresh()
        taken: Held = ([], set())
        kept: list[str] = []
        try:
            await self._allocate(write, draft, old, taken, kept)
        except BaseException:
            state.release(taken)
            await self._forget(kept, taken[1])
            raise

        async def finish(stored: bool) -> None:
            # After a successful write, the view has a service that uses it.
            followed.state.release(taken)
            if not stored:
                await self._forget(kept, taken[1])

        return finish

    async def _forget(self, addresses: Iterable[str], ports: Iterable[int]) -> None:
        """Delete the records of addresses and ports."""
        for address in addresses:
            await self.records.remove(address)
        if self.port_records.needed:
            await self.port_records.release(ports)

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        """Release what a service no longer has, with its endpoints (`afterDelete`), also after a cancellation."""
        if old is not None:
            ending = asyncio.create_task(self._released(old, new))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
            await asyncio.shield(ending)

    async def _released(self, old: Stored, new: Stored | None) -> None:
        before = held_by(orjson.loads(old.json)["spec"])
        after: Held = held_by(orjson.loads(new.json)["spec"]) if new is not None else ([], set())
        try:
            unused = [str(canonical(ip)) for ip in before[0] if ip != "None" and ip not in after[0]]
            await self._forget(unused, before[1] - after[1])
            endpoints = self.objects.catalog.find("", "v1", "endpoints")
            if new is None and endpoints is not None and self.objects.find("", "endpoints", old.namespace, old.name):
                await self._registry.delete(endpoints, old.namespace, old.name, DeleteOptions(), Write())
        except (errors.ApiError, StorageError) as e:
            # The service is gone or changed all the same; what is left over is found later.
            if not (isinstance(e, errors.ApiError) and e.code == 404):
                LOG.warning("cannot release what service %s/%s had: %s", old.namespace, old.name, e)

    async def _allocate(self, write: Write, draft: Draft, old: Stored | None, taken: Held, kept: list[str]) -> None:
        """Allocate the addresses and ports of a service (`allocateCreate` and `allocateUpdate` of `alloc.go`).

        Those taken are in `taken` at once, and addresses with an object in `kept`. Raise ApiError.
        """
        spec: Spec = orjson.loads(draft.get(["spec"]) or b"{}")
        before: Spec = orjson.loads(old.json)["spec"] if old is not None else {}
        meta, dry_run = draft.metadata(), write.dry_run
        name = meta.name
        if spec.get("clusterIP") and not spec.get("clusterIPs"):
            spec["clusterIPs"] = [spec["clusterIP"]]
            draft.set(["spec", "clusterIPs"], orjson.dumps(spec["clusterIPs"]))

        async def keep(address: str) -> bool:
            # Before the write, which may be under way when the caller has left.
            kept.append(address)
            if await self.records.add(address, meta.namespace, name):
                return True
            kept.remove(address)
            return False

        if spec.get("type") != "ExternalName" and not (before and matches(spec, before)):
            self.ips.settle(draft, old, spec, before, name)
            await self.ips.allocate(spec, before, name, keep, taken[0], dry_run=dry_run)
        await self._allocate_ports(spec, before, name, taken[1], dry_run=dry_run)
        ported = ("ports", "healthCheckNodePort") if spec.get("type") in PORTED else ()
        for member in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", *ported):
            if member in spec:
                draft.set(["spec", member], orjson.dumps(spec[member]))

    async def _allocate_ports(self, spec: Spec, before: Spec, name: str, taken: set[int], *, dry_run: bool) -> None:
        """Choose ports, until no other server has one of them. Raise ApiError."""
        shared = self.port_records.needed and not dry_run
        given = orjson.dumps(spec) if shared else b""
        others: set[int] = set()
        try:
            while True:
                ports: list[int] = []
                try:
                    self._choose_ports(spec, before, name, ports, dry_run=dry_run)
                finally:
                    if not dry_run:
                        taken.update(ports)
                used = await self.port_records.take(ports) if shared else set[int]()
                if not used:
                    return
                # Their services are not in the view yet.
                self.ports.hold(used)
                others |= used
                taken.difference_update(ports)
                self.ports.release(ports)
                chosen_before = orjson.loads(given)
                for member in ("ports", "healthCheckNodePort"):
                    if member in chosen_before:
                        spec[member] = chosen_before[member]
                    else:
                        spec.pop(member, None)
        finally:
            self.ports.release(others)

    def _choose_ports(self, spec: Spec, before: Spec, name: str, ports: list[int], *, dry_run: bool) -> None:
        if spec.get("type") in PORTED:
            if not before:
                self._new_ports(spec, name, ports, dry_run=dry_run)
            else:
                self._changed_ports(spec, before, name, ports, dry_run=dry_run)
        if _checked(spec) and not (_checked(before) and before.get("healthCheckNodePort")):
            self._health_port(spec, ports, dry_run=dry_run)

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
                    wanted = self._free_port(taken, dry_run=dry_run)
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
                given = port["nodePort"] = self._free_port(taken, dry_run=dry_run)
                held.add(given)
            key = (port.get("protocol", "TCP"), given)
            if key in seen:
                raise errors.ApiError(500, "", f"duplicate nodePort: {{{key[0]} {given}}}")
            seen.add(key)

    def _claim_port(self, wanted: int, shown: int, i: int, name: str, taken: list[int], *, dry_run: bool) -> None:
        try:
            self.ports.claim(wanted, dry_run=dry_run, among=taken)
        except Refused as e:
            raise _invalid(name, f"spec.ports[{i}].nodePort", shown, str(e)) from None
        taken.append(wanted)

    def _free_port(self, taken: list[int], *, dry_run: bool) -> int:
        try:
            port = self.ports.guess(taken) if dry_run else self.ports.free()
        except Refused as e:
            text = f"Internal error occurred: failed to allocate a nodePort: {e}"
            raise errors.ApiError(500, "InternalError", text) from None
        taken.append(port)
        return port

    def _health_port(self, spec: Spec, taken: list[int], *, dry_run: bool) -> None:
        given = spec.get("healthCheckNodePort", 0)
        if not given:
            spec["healthCheckNodePort"] = self._free_port(taken, dry_run=dry_run)
            return
        try:
            self.ports.claim(given, dry_run=dry_run, among=taken)
        except Refused as e:
            text = f"failed to allocate requested HealthCheck NodePort {given}: {e}"
            raise errors.ApiError(500, "InternalError", f"Internal error occurred: {text}") from None
        taken.append(given)


def _networks(followed: Followed[ServiceNetworks], family: str) -> list[Network]:
    return followed.state.of(family)


def _allocates(spec: Spec) -> bool:
    return spec.get("type") == "NodePort" or spec.get("allocateLoadBalancerNodePorts", True) is not False


def _checked(spec: Spec) -> bool:
    """Report whether a service needs a port for health checks."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _invalid(name: str, field: str, value: Any, text: str) -> errors.ApiError:
    return errors.invalid("", "Service", name, [cause(field, value, text)])
