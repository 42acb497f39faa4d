"""Pods: what the admission plug-ins that are on by default make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from hydrofoil import errors
from hydrofoil.engine import limit_refusal
from hydrofoil.registry.strategies.base import Strategy, Undo, nothing

if TYPE_CHECKING:
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.engine import Draft, Stored
    from hydrofoil.registry.store import DeleteOptions

DEFAULT_TOLERATIONS: tuple[dict[str, Any], ...] = tuple(
    {
        "key": f"node.kubernetes.io/{condition}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for condition in ("not-ready", "unreachable")
)
"""What the DefaultTolerationSeconds admission plug-in adds."""
SPEC = ["spec"]


def _tolerates(given: dict[str, Any], key: str) -> bool:
    return given.get("key", "") in (key, "") and given.get("effect", "") in ("NoExecute", "")


class PodStrategy(Strategy):
    """Pods get a priority and tolerations, what their runtime class asks for, and on a node time to stop."""

    async def before_create(self, resource: Resource, draft: Draft, *, dry_run: bool) -> Undo:
        self.registry.limits.fill(draft)
        self._priority(draft)
        self._tolerations(draft)
        self._runtime(draft)
        return nothing

    def admit_valid(self, resource: Resource, old: Stored | None, draft: Draft, subresource: str) -> None:
        # What containers ask for changes only when they are resized.
        if old is None or subresource == "resize":
            self.registry.limits.check(resource, old, draft, lambda range_: limit_refusal(draft, range_, claim=False))

    def admit_update(self, old: Stored, draft: Draft, subresource: str) -> None:
        if subresource == "resize":
            self.registry.limits.fill(draft)
        if subresource:
            return
        self._tolerations(draft)
        before = None
        for member in ("priority", "preemptionPolicy"):
            if draft.get([*SPEC, member]) is None:
                before = before or old.thaw()
                draft.set([*SPEC, member], before.get([*SPEC, member]))

    def _tolerations(self, draft: Draft) -> None:
        tolerations = orjson.loads(draft.get([*SPEC, "tolerations"]) or b"[]")
        added = [t for t in DEFAULT_TOLERATIONS if not any(_tolerates(given, t["key"]) for given in tolerations)]
        if added:
            draft.set([*SPEC, "tolerations"], orjson.dumps(tolerations + added))

    def _priority(self, draft: Draft) -> None:
        """The Priority admission plug-in: a class gives the number, its default is the class marked so."""
        classes = self.registry.catalog.find("scheduling.k8s.io", "v1", "priorityclasses")
        if classes is None:
            return
        name = orjson.loads(draft.get([*SPEC, "priorityClassName"]) or b'""')
        value, policy = 0, "PreemptLowerPriority"
        if name:
            found = self.registry.collection(classes).get(classes.native, "", name)
            if found is None:
                raise _refused(draft, f"no PriorityClass with name {name} was found")
            raw = orjson.loads(found.json)
            value, policy = raw["value"], raw.get("preemptionPolicy", policy)
        elif raw := self._default_class(classes):
            value, policy = raw["value"], raw.get("preemptionPolicy", policy)
            draft.set([*SPEC, "priorityClassName"], orjson.dumps(raw["metadata"]["name"]))
        tail = f"must not be provided in pod spec; priority admission controller computed {{}} from the given {CLASS}"
        given = draft.get([*SPEC, "priority"])
        if given is not None and int(given) != value:
            raise _refused(draft, f"the integer value of priority ({int(given)}) " + tail.format(value))
        draft.set([*SPEC, "priority"], b"%d" % value)
        given = draft.get([*SPEC, "preemptionPolicy"])
        if given is not None and orjson.loads(given) != policy:
            text = f"the string value of PreemptionPolicy ({orjson.loads(given)}) "
            raise _refused(draft, text + tail.format(policy))
        draft.set([*SPEC, "preemptionPolicy"], orjson.dumps(policy))

    def _default_class(self, classes: Resource) -> dict[str, Any] | None:
        """The class of pods that name none: of several that say so the lowest."""
        marked: list[dict[str, Any]] = [
            orjson.loads(c.json) for c in self.registry.all(classes) if b'"globalDefault":true' in c.json
        ]
        return min(marked, key=lambda raw: raw["value"], default=None)

    def _runtime(self, draft: Draft) -> None:
        """The RuntimeClass admission plug-in: the overhead and the scheduling of the class become the pod's."""
        name = draft.get([*SPEC, "runtimeClassName"])
        overhead = draft.get([*SPEC, "overhead"])
        raw: dict[str, Any] = {}
        if name is not None:
            wanted = orjson.loads(name)
            classes = self.registry.catalog.find("node.k8s.io", "v1", "runtimeclasses")
            found = classes and self.registry.collection(classes).get(classes.native, "", wanted)
            if not found:
                raise _refused(draft, f'pod rejected: RuntimeClass "{wanted}" not found')
            raw = orjson.loads(found.json)
        if "overhead" in raw:
            fixed = raw["overhead"].get("podFixed", {})
            if overhead not in (None, b"{}") and orjson.loads(overhead) != fixed:
                raise _refused(draft, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
            draft.set([*SPEC, "overhead"], orjson.dumps(fixed))
        elif overhead is not None:
            text = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
            raise _refused(draft, text)
        scheduling = raw.get("scheduling", {})
        if selector := scheduling.get("nodeSelector"):
            own = orjson.loads(draft.get([*SPEC, "nodeSelector"]) or b"{}")
            for key, value in selector.items():
                if own.get(key, value) != value:
                    text = f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                    raise _refused(draft, text + f"pod.spec.nodeSelector[{key}] = {own[key]}")
            draft.set([*SPEC, "nodeSelector"], orjson.dumps({**own, **selector}, option=orjson.OPT_SORT_KEYS))
        if added := scheduling.get("tolerations"):
            own = orjson.loads(draft.get([*SPEC, "tolerations"]) or b"[]")
            draft.set([*SPEC, "tolerations"], orjson.dumps(own + [t for t in added if t not in own]))

    def grace_period(self, draft: Draft, options: DeleteOptions) -> int | None:
        if not draft.get([*SPEC, "nodeName"]):
            return 0
        if draft.get(["status", "phase"]) in (b'"Failed"', b'"Succeeded"'):
            return 0
        if options.grace is not None:
            return 1 if options.grace < 0 else options.grace
        return int(draft.get([*SPEC, "terminationGracePeriodSeconds"]) or b"30")


CLASS = "PriorityClass name"


def _refused(draft: Draft, why: str) -> errors.ApiError:
    return errors.forbidden("", "pods", draft.head()[2], why)
