"""The order of an import: definitions, namespaces, then what others need; owners before their dependants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hydrofoil.dumps.object import DumpedObject, Owner

DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
NAMESPACE = ("", "Namespace")
RANKS = {
    DEFINITION: 0,
    NAMESPACE: 1,
    ("scheduling.k8s.io", "PriorityClass"): 2,
    ("node.k8s.io", "RuntimeClass"): 2,
    ("storage.k8s.io", "StorageClass"): 2,
    ("", "ServiceAccount"): 2,
    ("", "Node"): 2,
    ("", "Secret"): 3,
    ("", "ConfigMap"): 3,
    ("", "PersistentVolumeClaim"): 3,
    # A service makes its own, and finds one that is there taken.
    ("networking.k8s.io", "IPAddress"): 6,
    # What limits or changes other objects comes behind them: they were accepted without it.
    ("", "ResourceQuota"): 6,
    ("", "LimitRange"): 6,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): 7,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): 8,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): 7,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): 8,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): 8,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): 8,
    ("apiregistration.k8s.io", "APIService"): 8,
}
OTHERS = 5


class DumpIndex:
    """The objects of a dump, each once, found by uid and by name."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[str, str, str, str], DumpedObject] = {}
        self._by_uid: dict[str, DumpedObject] = {}
        self.repeated = 0
        """The number of objects that are in the dump more than once."""

    def add(self, found: DumpedObject) -> None:
        """Add an object; of two with the same name the newer one is kept, or the first one."""
        known = self._by_key.get(found.key)
        if known is not None:
            self.repeated += 1
            if found.version <= known.version:
                return
        self._by_key[found.key] = found
        if found.uid:
            self._by_uid[found.uid] = found

    def __len__(self) -> int:
        return len(self._by_key)

    def objects(self) -> Sequence[DumpedObject]:
        """Return all objects, in the order in which they were found."""
        return tuple(self._by_key.values())

    def owner(self, reference: Owner, dependant: DumpedObject) -> DumpedObject | None:
        """Return the owner that a reference means; None if the dump has none.

        An owner is known by its uid, or by its name if the dump does not say which uid it had.
        """
        found = self._by_uid.get(reference.uid)
        if found is not None:
            return found if (found.kind, found.name) == (reference.kind, reference.name) else None
        group = reference.api_version.rpartition("/")[0]
        for namespace in (dependant.namespace, ""):
            found = self._by_key.get((group, reference.kind, namespace, reference.name))
            if found is not None:
                return found if not found.uid else None
        return None


def order_objects(index: DumpIndex, objects: Iterable[DumpedObject]) -> list[DumpedObject]:
    """Return objects in the order of their creation. Circles of owners are broken where they are met."""
    ranked = sorted(objects, key=lambda o: RANKS.get((o.group, o.kind), OTHERS))
    taken = {id(one) for one in ranked}
    done: set[int] = set()
    found: list[DumpedObject] = []
    for first in ranked:
        # Without recursion: chains of owners may be as long as a dump.
        waiting = [(first, False)]
        while waiting:
            one, is_ready = waiting.pop()
            if is_ready:
                found.append(one)
                continue
            if id(one) in done or id(one) not in taken:
                continue
            done.add(id(one))
            if not one.owners:
                found.append(one)
                continue
            waiting.append((one, True))
            for reference in reversed(one.owners):
                owner = index.owner(reference, one)
                if owner is not None and id(owner) not in done:
                    waiting.append((owner, False))
    return found
