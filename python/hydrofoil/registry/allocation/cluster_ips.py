"""The addresses of services: their IP families, and one address of each (`service/storage/alloc.go`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.clock import Chance
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.allocation.ranges import TAKEN, Addresses, Full, Refused, canonical

Spec = dict[str, Any]
Keep = Callable[[str], Awaitable[bool]]
"""Record an address, before a service has it; False if it is in use."""
OTHER = {"IPv4": "IPv6", "IPv6": "IPv4"}
PREFER, REQUIRE, SINGLE = "PreferDualStack", "RequireDualStack", "SingleStack"


class ClusterIPs:
    """The ranges of a cluster by family; the first is that of the default family."""

    def __init__(self, networks: str, chance: Chance, present: Callable[[str], bool] = lambda _: False) -> None:
        """`present` reports whether an IPAddress object exists."""
        ranges = [Addresses(network, chance, present) for network in networks.split(",")]
        self.families: dict[str, Addresses] = {r.family: r for r in ranges}
        self.default = ranges[0].family

    def hold(self, addresses: Iterable[str]) -> None:
        """Count the addresses of a service; those of families that the cluster lacks do not count."""
        for address in addresses:
            if (found := self.families.get(family_of(address))) is not None:
                found.hold([address])

    def release(self, addresses: Iterable[str]) -> None:
        """Release addresses."""
        for address in addresses:
            if (found := self.families.get(family_of(address))) is not None:
                found.release([address])

    def settle(self, draft: Draft, old: Stored | None, spec: Spec, before: Spec, name: str) -> None:
        """Set the families of a service (`initIPFamilyFields`). Raise ApiError."""
        headless = spec.get("clusterIP") == "None" and not spec.get("selector")
        if "ipFamilyPolicy" not in spec:
            usual = REQUIRE if headless else SINGLE
            spec["ipFamilyPolicy"] = before.get("ipFamilyPolicy") or usual
            draft.set(["spec", "ipFamilyPolicy"], orjson.dumps(spec["ipFamilyPolicy"]))
        if causes := draft.cluster_ip_causes(old):
            raise errors.invalid("", "Service", name, causes)
        found = self._changed(spec, before) if old is not None else []
        single = spec["ipFamilyPolicy"] == SINGLE
        families: list[str] = spec.setdefault("ipFamilies", [])
        if single:
            for member, what in (("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")):
                if len(spec.get(member) or ()) == 2:
                    text = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified"
                    found.append(cause("spec.ipFamilyPolicy", SINGLE, text))
        for i, ip in enumerate(spec.get("clusterIPs") or ()):
            if ip == "None":
                break
            family = family_of(ip)
            if i < len(families):
                continue
            if family in self.families:
                families.append(family)
            else:
                text = f"{family} is not configured on this cluster"
                found.append(cause(f"spec.clusterIPs[{i}]", spec["clusterIPs"], text))
        if found:
            raise errors.invalid("", "Service", name, found)
        if headless:
            if not families:
                families.append(self.default)
            if len(families) == 1 and not single:
                families.append(OTHER[families[0]])
            return
        if spec["ipFamilyPolicy"] == REQUIRE and len(self.families) < 2:
            text = "this cluster is not configured for dual-stack services"
            found.append(cause("spec.ipFamilyPolicy", REQUIRE, text))
        for i, family in enumerate(families):
            if family not in self.families:
                found.append(cause(f"spec.ipFamilies[{i}]", family, "not configured on this cluster"))
        if found:
            raise errors.invalid("", "Service", name, found)
        if not families:
            families.append(self.default)
        if not single and len(families) == 1 and len(self.families) == 2:
            families.append(OTHER[families[0]])

    @staticmethod
    def _changed(spec: Spec, before: Spec) -> list[errors.Cause]:
        """Release the second family of a service in an update that keeps the first one; return the errors."""
        found = []
        for member, what in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
            now, then = spec.get(member) or [], before.get(member) or []
            if spec["ipFamilyPolicy"] == SINGLE:
                # The policy alone decides about the second one.
                if now == then and len(now) > 1:
                    spec[member] = now[:1]
            elif now and len(now) < len(then):
                text = f"must be 'SingleStack' to release the secondary {what}"
                found.append(cause("spec.ipFamilyPolicy", spec["ipFamilyPolicy"], text))
        return found

    async def allocate(
        self, spec: Spec, before: Spec, name: str, keep: Keep, taken: list[str], *, dry_run: bool
    ) -> None:
        """Allocate the addresses that a service lacks (`allocClusterIPs`, `updateClusterIPs`).

        Each is added to `taken` at once. Raise ApiError.
        """
        if (spec.get("clusterIPs") or [""])[0] == "None":
            return
        families: Sequence[str] = spec.get("ipFamilies") or ()
        wanted = range(len(families))
        if before and before.get("type") != "ExternalName":
            held = before.get("clusterIPs") or [""]
            if held[0] == "None" or len(before.get("ipFamilies") or ()) != 1 or len(families) != 2:
                # The first address is immutable: validation refuses another one.
                return
            wanted = range(1, 2)
        ips: list[str] = list(spec.get("clusterIPs") or ())
        ips += [""] * (len(families) - len(ips))
        for i in wanted:
            addresses = self.families[families[i]]
            if dry_run:
                ips[i] = self._guess(addresses, ips, i, name)
            else:
                ips[i] = await self._one(addresses, ips, i, name, keep, taken)
        spec["clusterIP"], spec["clusterIPs"] = ips[0], ips

    @staticmethod
    def _guess(addresses: Addresses, ips: list[str], i: int, name: str) -> str:
        """Check a given address, or return one that stands for a free one."""
        if not ips[i]:
            return addresses.guess()
        try:
            addresses.claim(ips[i], dry_run=True)
        except Refused as e:
            raise _refusal(name, ips, ips[i], e) from None
        return ips[i]

    @staticmethod
    async def _one(addresses: Addresses, ips: list[str], i: int, name: str, keep: Keep, taken: list[str]) -> str:
        given = ips[i]
        try:
            while True:
                if given:
                    addresses.claim(given, dry_run=False)
                found = given or addresses.free()
                taken.append(found)
                if await keep(str(canonical(found))):
                    return found
                # Another server was faster.
                taken.remove(found)
                addresses.release([found])
                if given:
                    raise Refused(TAKEN.format("IP"))
        except Full as e:
            text = f'Internal error occurred: failed to allocate a serviceIP for Service "{name}": {e}'
            raise errors.ApiError(500, "InternalError", text) from None
        except Refused as e:
            raise _refusal(name, ips, given, e) from None


def _refusal(name: str, ips: list[str], given: str, why: Refused) -> errors.ApiError:
    text = f"failed to allocate IP {given}: {why}"
    return errors.invalid("", "Service", name, [cause("spec.clusterIPs", ips, text)])


def matches(spec: Spec, before: Spec) -> bool:
    """Report whether an update keeps the addresses of a service that prefers two families
    (`isMatchingPreferDualStackClusterIPFields`)."""
    kind = spec.get("type")
    return (
        kind == before.get("type")
        and kind in ("ClusterIP", "NodePort", "LoadBalancer")
        and spec.get("ipFamilyPolicy") == PREFER
        and before.get("ipFamilyPolicy") in (None, PREFER)
        and (spec.get("clusterIPs") or []) == (before.get("clusterIPs") or [])
        and (spec.get("ipFamilies") or []) == (before.get("ipFamilies") or [])
    )


def family_of(address: str) -> str:
    """Return the family of an address."""
    return "IPv6" if ":" in address else "IPv4"


def cause(field: str, value: Any, text: str) -> errors.Cause:
    """Return the cause for an invalid value of a service."""
    return ("FieldValueInvalid", f"Invalid value: {orjson.dumps(value).decode()}: {text}", field)
