"""The audiences for which a kubelet may request tokens (`ServiceAccountNodeAudienceRestriction`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.rights import allows
from hydrofoil.go_text import quote
from hydrofoil.registry.objects import Objects

Object = dict[str, Any]
VERB = "request-serviceaccounts-token-audience"


async def check_audience(objects: Objects, a: Attributes, pod: Object, audiences: Sequence[str]) -> None:
    """Check that a pod uses the audience of a token, or that its kubelet has a right to it. Raise ApiError 403."""
    if len(audiences) > 1:
        raise a.forbidden("node may only request 0 or 1 audiences")
    audience = audiences[0] if audiences else ""
    if audience in set(_audiences_of_pod(objects, pod)):
        return
    allowed = await allows(a, VERB, "", audience, version="v1", namespace=a.namespace, name=a.name)
    if not allowed:
        text = f"audience {quote(audience)} not found in pod spec volume, {a.user.name}"
        raise a.forbidden(f"{text} is not authorized to request tokens for this audience")


def _audiences_of_pod(objects: Objects, pod: Object) -> Iterator[str]:
    """Yield the audiences of a pod: of its projected tokens, and of the drivers of its volumes."""
    namespace, name = pod["metadata"].get("namespace", ""), pod["metadata"]["name"]
    for volume in pod.get("spec", {}).get("volumes") or ():
        for source in volume.get("projected", {}).get("sources") or ():
            if "serviceAccountToken" in source:
                yield source["serviceAccountToken"].get("audience", "")
        if "ephemeral" in volume:
            driver = _driver(objects, namespace, f"{name}-{volume['name']}")
        elif "persistentVolumeClaim" in volume:
            driver = _driver(objects, namespace, volume["persistentVolumeClaim"].get("claimName", ""))
        else:
            driver = volume.get("csi", {}).get("driver", "")
        if driver:
            spec = _spec(objects, "storage.k8s.io", "csidrivers", "", driver)
            for request in spec.get("tokenRequests") or ():
                yield request.get("audience", "")


def _driver(objects: Objects, namespace: str, claim: str) -> str:
    """Return the driver of the volume of a claim; empty if it has none."""
    volume = _spec(objects, "", "persistentvolumeclaims", namespace, claim).get("volumeName")
    if not volume:
        return ""
    found: str = _spec(objects, "", "persistentvolumes", "", volume).get("csi", {}).get("driver", "")
    return found


def _spec(objects: Objects, group: str, plural: str, namespace: str, name: str) -> Object:
    stored = objects.find(group, plural, namespace, name)
    found: Object = {} if stored is None else orjson.loads(stored.json).get("spec", {})
    return found
