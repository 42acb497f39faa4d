"""The ImagePolicyWebhook admission plug-in: another server decides on images (plugin/pkg/admission/imagepolicy)."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.plugin_dependencies import PluginDependencies
from hydrofoil.apis.catalog import Resource
from hydrofoil.outbound import kubeconfig
from hydrofoil.outbound.trust import Unreachable
from hydrofoil.registry.write import Operation

SECONDS = 30.0
BOUND = 1 << 20
"""The greatest size of an answer, in bytes."""
KEPT = 1024
"""The greatest number of answers that are kept."""
FAILED_OPEN = "alpha.image-policy.k8s.io/failed-open"
TYPE = {"apiVersion": "imagepolicy.k8s.io/v1alpha1", "kind": "ImageReview"}


class ImagePolicyWebhook(Plugin):
    """Ask about the images of a pod."""

    repeats = False

    def __init__(self, deps: PluginDependencies) -> None:
        """Raise ValueError for an invalid configuration."""
        given: Any = deps.configuration.get("ImagePolicyWebhook") or {}
        settings = given.get("imagePolicy") or {}
        path = settings.get("kubeConfigFile", "")
        if not path:
            raise ValueError("no kubeconfig file is configured for ImagePolicyWebhook")
        self._target = kubeconfig.read(path)
        self._allow, self._deny = (float(settings.get(name) or 300) for name in ("allowTTL", "denyTTL"))
        self._open = bool(settings.get("defaultAllow"))
        self._clock = deps.registry.clock
        self._kept: dict[bytes, tuple[float, bool, str]] = {}

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        pods = resource.storage == ("", "pods") and operation in ("CREATE", "UPDATE")
        return pods and subresource in ("", "ephemeralcontainers")

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Raise ApiError 403."""
        return self._check(a)

    async def _check(self, a: Attributes) -> None:
        pod = orjson.loads(a.object.json())
        spec = pod.get("spec", {})
        kinds = ("ephemeralContainers",) if a.subresource else ("containers", "initContainers")
        images = [{"image": each.get("image", "")} for kind in kinds for each in spec.get(kind) or ()]
        annotations = pod["metadata"].get("annotations") or {}
        about: dict[str, Any] = {"containers": images, "namespace": a.namespace}
        if chosen := {key: value for key, value in annotations.items() if ".image-policy.k8s.io/" in key}:
            about["annotations"] = chosen
        try:
            allowed, reason = await self._ask(orjson.dumps(about, option=orjson.OPT_SORT_KEYS))
        except (Unreachable, ValueError) as e:
            if not self._open:
                raise a.forbidden(str(e)) from None
            a.annotate("imagepolicywebhook.image-policy.k8s.io/failed-open", "true")
            return
        if not allowed:
            denied = f"image policy webhook backend denied one or more images: {reason}"
            raise a.forbidden(denied if reason else "one or more images rejected by webhook backend")

    async def _ask(self, about: bytes) -> tuple[bool, str]:
        """Return the decision on images. Raise Unreachable, and ValueError for an answer that is no review."""
        now = self._clock.seconds()
        found = self._kept.get(about)
        if found is not None and found[0] > now:
            return found[1:]
        body = orjson.dumps({**TYPE, "metadata": {}, "spec": orjson.Fragment(about), "status": {"allowed": False}})
        reply = await self._target.post(body, SECONDS, BOUND)
        if not 200 <= reply.status < 300:
            raise ValueError(f"Error contacting webhook: {reply.status}")
        review = orjson.loads(reply.body)
        status = review.get("status") if isinstance(review, dict) else None
        if not isinstance(status, dict) or not isinstance(status.get("allowed", False), bool):
            raise ValueError("the webhook did not answer with an ImageReview")
        allowed, reason = bool(status.get("allowed")), str(status.get("reason") or "")
        if len(self._kept) >= KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[about] = (now + (self._allow if allowed else self._deny), allowed, reason)
        return allowed, reason

    async def close(self) -> None:
        await self._target.close()
