"""The PodSecurity admission plug-in: pods against the standard of their namespace (its `admission/admission.go`)."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.pod_security.checks import containers, detail, findings
from hydrofoil.admission.pod_security.configuration import parse_configuration
from hydrofoil.admission.pod_security.policy import LEVELS, PREFIX, Policy, Standard, policy
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Operation

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
"""The path of the pod in each kind."""
LOOKED_AT = ("", "ephemeralcontainers", "resize")
"""Subresources through which a checked part of a pod can change; empty: the pod itself."""
MOST_PODS = 3000
"""The greatest number of pods of a namespace that are checked when its level rises."""

ENFORCED = PREFIX + "enforce-policy"
"""The annotation of an audit record with the standard that a pod was held to."""
EXEMPTED = PREFIX + "exempt"
"""The annotation of an audit record with the reason why a pod was held to none."""
ALLOWED = str(Standard())


class PodSecurity(Plugin):
    """Check pods by the labels of their namespace."""

    def __init__(self, objects: Objects, given: Mapping[str, Any] | None = None) -> None:
        """Take the configuration of the plug-in. Raise ValueError with one line."""
        self._objects = objects
        self._configured = parse_configuration(given or {})
        found = objects.catalog.find("", "v1", "namespaces")
        self._namespaces = None if found is None else (objects.collection(found), found.native)

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        if operation == "DELETE":
            return False
        kind = (resource.group, resource.plural)
        if kind == ("", "namespaces"):
            return not subresource
        path = TEMPLATES.get(kind)
        return path is not None and subresource in (("",) if path else LOOKED_AT)

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Add warnings, and annotations to the audit record.

        Raise ApiError 403 for a pod that its namespace refuses, 422 for invalid labels of a namespace.
        """
        kind = (a.resource.group, a.resource.plural)
        if kind == ("", "namespaces"):
            return self._namespace(a)
        path = TEMPLATES[kind]
        if exemption := self._exempt(a):
            a.annotate(EXEMPTED, exemption)
            return None
        asked = self._policy(a.namespace)
        if asked.idle:
            if not path:
                a.annotate(ENFORCED, ALLOWED)
            return None
        if path and not asked.causes and asked.warn.level == asked.audit.level == "privileged":
            return None
        pod: Any = orjson.loads(a.object.json())
        name = pod["metadata"].get("name", "")
        for step in path:
            pod = pod.get(step)
            if pod is None:
                return None
        if not path and a.old is not None and not _significant(pod["spec"], orjson.loads(a.old.json)["spec"]):
            return None
        meta, spec = pod.get("metadata") or {}, pod.get("spec") or {}
        if spec.get("runtimeClassName") in self._configured.runtime_classes:
            a.annotate(EXEMPTED, "runtimeClass")
            return None
        if a.audit is not None:
            _record(a, asked, meta, spec, enforced=not path)
        if not path and (found := findings(asked.enforce, meta, spec)):
            text = f'violates PodSecurity "{asked.enforce}": {detail(found)}'
            raise errors.forbidden("", "pods", name, text)
        if found := findings(asked.warn, meta, spec):
            a.warn(_would(asked.warn, found))
        return None

    def _exempt(self, a: Attributes) -> str:
        """Return why no policy concerns a request; empty if one does."""
        if a.namespace in self._configured.namespaces:
            return "namespace"
        return "user" if a.user.name in self._configured.usernames else ""

    def _policy(self, namespace: str) -> Policy:
        """Return the policy of a namespace."""
        default = self._configured.default
        if self._namespaces is None:
            return default
        collection, native = self._namespaces
        stored = collection.get(native, "", namespace)
        # Most namespaces have no such label.
        if stored is None or PREFIX.encode() not in (text := stored.json):
            return default
        return policy(_labels(text), default)

    def _namespace(self, a: Attributes) -> Awaitable[None] | None:
        default = self._configured.default
        asked = policy(orjson.loads(a.object.get(["metadata", "labels"]) or b"{}"), default)
        before = policy(_labels(a.old.json), default) if a.old is not None else Policy()
        name = a.object.metadata().name
        if asked.causes and (a.old is None or asked.causes != before.causes):
            raise errors.invalid("", "Namespace", name, asked.causes)
        new, was = asked.enforce, before.enforce
        if name in self._configured.namespaces:
            if not asked.idle and asked != default:
                text = f"and the policy ({asked.compact()}) will be ignored"
                a.warn(f'namespace "{name}" is exempt from Pod Security, {text}')
            return None
        if a.old is None or new == was or new.level == "privileged":
            return None
        if new.minor == was.minor and LEVELS.index(new.level) <= LEVELS.index(was.level):
            return None
        return self._warn(a, name, new)

    async def _warn(self, a: Attributes, name: str, standard: Standard) -> None:
        for text in await self._existing(name, standard):
            a.warn(text)

    async def _existing(self, namespace: str, standard: Standard) -> list[str]:
        """Return what the existing pods violate, by violation."""
        pods = self._objects.catalog.find("", "v1", "pods")
        if pods is None:
            return []
        violations: dict[str, list[str]] = {}
        count = 0
        async for one in self._objects.walk(pods, namespace):
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
        return out + sorted(_count_text(reason, sorted(names)) for reason, names in violations.items())


def _record(a: Attributes, asked: Policy, meta: Any, spec: Any, *, enforced: bool) -> None:
    """Annotate the audit record: errors in the labels, the enforced standard, violations of that for audit."""
    if asked.causes:
        each = ", ".join(f"{where}: {text}" for _, text, where in asked.causes)
        a.annotate(PREFIX + "error", f"Failed to parse policy: {each if len(asked.causes) == 1 else f'[{each}]'}")
    if enforced:
        a.annotate(ENFORCED, str(asked.enforce))
    if found := findings(asked.audit, meta, spec):
        a.annotate(PREFIX + "audit-violations", _would(asked.audit, found))


def _would(standard: Standard, found: Any) -> str:
    return f'would violate PodSecurity "{standard}": {detail(found)}'


def _count_text(reason: str, names: list[str]) -> str:
    others = len(names) - 1
    more = f" (and {others} other pod{'s' if others > 1 else ''})" if others else ""
    return f"{names[0]}{more}: {reason}"


def _labels(json: bytes) -> dict[str, str]:
    found: dict[str, str] = orjson.loads(json)["metadata"].get("labels", {})
    return found


def _significant(new: Any, old: Any) -> bool:
    """Report whether an update adds containers or images that were not checked (`isSignificantPodUpdate`)."""

    def images(spec: Any) -> list[tuple[str, str]]:
        return [(c["name"], c.get("image", "")) for c in containers(spec)]

    return images(new) != images(old)
