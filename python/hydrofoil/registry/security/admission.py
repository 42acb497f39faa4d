"""Whether a namespace takes a pod (`admission/admission.go`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from hydrofoil import errors
from hydrofoil.registry.security.checks import containers, detail, findings
from hydrofoil.registry.security.policy import LEVELS, Policy, Standard, policy

if TYPE_CHECKING:
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.engine import Draft, Stored
    from hydrofoil.registry.store import Registry

TEMPLATE = ("spec", "template")
TEMPLATES: dict[tuple[str, str], tuple[str, ...]] = {
    ("", "pods"): (),
    ("", "replicationcontrollers"): TEMPLATE,
    ("", "podtemplates"): ("template",),
    ("apps", "deployments"): TEMPLATE,
    ("apps", "replicasets"): TEMPLATE,
    ("apps", "daemonsets"): TEMPLATE,
    ("apps", "statefulsets"): TEMPLATE,
    ("batch", "jobs"): TEMPLATE,
    ("batch", "cronjobs"): ("spec", "jobTemplate", *TEMPLATE),
}
"""Where a kind has its pod."""
LOOKED_AT = ("", "ephemeralcontainers", "resize")
"""Subresources through which a pod can change what is looked at; empty: itself."""
MOST_PODS = 3000
"""How many pods of a namespace are looked at when its level rises."""


class PodSecurity:
    """Checks pods by the labels of their namespace; what a version of a namespace asks for is remembered."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._namespaces = registry.catalog.find("", "v1", "namespaces")
        self._seen: dict[str, tuple[int, Policy]] = {}

    async def check(self, resource: Resource, draft: Draft, old: Stored | None, subresource: str) -> list[str]:
        """The warnings on an object. Raises 403 for a pod that its namespace refuses, 422 for bad labels of one."""
        kind = (resource.group, resource.plural)
        if kind == ("", "namespaces"):
            return await self._namespace(draft, old) if not subresource else []
        path = TEMPLATES.get(kind)
        if path is None or subresource not in (LOOKED_AT if not path else ("",)):
            return []
        asked = self._policy(draft.head()[4])
        if asked is None or asked.idle or (path and asked.warn.level == "privileged"):
            return []
        pod: Any = orjson.loads(draft.json())
        name = pod["metadata"].get("name", "")
        for step in path:
            pod = pod.get(step)
            if pod is None:
                return []
        if not path and old is not None and not _significant(pod["spec"], orjson.loads(old.json)["spec"]):
            return []
        meta, spec = pod.get("metadata") or {}, pod.get("spec") or {}
        if not path and (found := findings(asked.enforce, meta, spec)):
            text = f'violates PodSecurity "{asked.enforce}": {detail(found)}'
            raise errors.forbidden("", "pods", name, text)
        found = findings(asked.warn, meta, spec)
        return [f'would violate PodSecurity "{asked.warn}": {detail(found)}'] if found else []

    def forget(self, namespace: str) -> None:
        """Let go of what is remembered of a namespace that has gone."""
        self._seen.pop(namespace, None)

    def _policy(self, namespace: str) -> Policy | None:
        if self._namespaces is None:
            return None
        stored = self._registry.collection(self._namespaces).get(self._namespaces.native, "", namespace)
        if stored is None:
            return None
        seen = self._seen.get(namespace)
        if seen is None or seen[0] != stored.revision:
            seen = self._seen[namespace] = (stored.revision, policy(_labels(stored.json)))
        return seen[1]

    async def _namespace(self, draft: Draft, old: Stored | None) -> list[str]:
        asked = policy(orjson.loads(draft.get(["metadata", "labels"]) or b"{}"))
        before = policy(_labels(old.json)) if old is not None else Policy()
        name = draft.head()[2]
        if asked.causes and (old is None or asked.causes != before.causes):
            raise errors.invalid("", "Namespace", name, asked.causes)
        new, was = asked.enforce, before.enforce
        if old is None or new == was or new.level == "privileged":
            return []
        if new.minor == was.minor and LEVELS.index(new.level) <= LEVELS.index(was.level):
            return []
        return await self._existing(name, new)

    async def _existing(self, namespace: str, standard: Standard) -> list[str]:
        """What the pods that are there violate, by violation."""
        pods = self._registry.catalog.find("", "v1", "pods")
        if pods is None:
            return []
        violations: dict[str, list[str]] = {}
        count = 0
        async for one in self._registry.walk(pods, namespace):
            count += 1
            if count > MOST_PODS:
                continue
            pod = orjson.loads(one.json)
            if found := findings(standard, pod["metadata"], pod["spec"]):
                violations.setdefault(", ".join(reason for reason, _ in found), []).append(one.name)
        out = []
        if count > MOST_PODS:
            text = f"only checked against the first {MOST_PODS} of {count} existing pods"
            out.append(f"new PodSecurity enforce level {text}")
        if violations:
            text = f'existing pods in namespace "{namespace}" violate the new PodSecurity enforce level "{standard}"'
            out.append(text)
        return out + sorted(_counted(reason, sorted(names)) for reason, names in violations.items())


def _counted(reason: str, names: list[str]) -> str:
    others = len(names) - 1
    more = f" (and {others} other pod{'s' if others > 1 else ''})" if others else ""
    return f"{names[0]}{more}: {reason}"


def _labels(json: bytes) -> dict[str, str]:
    found: dict[str, str] = orjson.loads(json)["metadata"].get("labels", {})
    return found


def _significant(new: Any, old: Any) -> bool:
    """Whether an update brings containers or images that were not looked at (`isSignificantPodUpdate`)."""

    def images(spec: Any) -> list[tuple[str, str]]:
        return [(c["name"], c.get("image", "")) for c in containers(spec)]

    return images(new) != images(old)
