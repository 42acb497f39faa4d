"""The AlwaysPullImages admission plug-in: a pod runs an image only if its own credentials can pull it."""

from __future__ import annotations

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation

KINDS = ("initContainers", "containers", "ephemeralContainers")


class AlwaysPullImages(Plugin):
    """Set the policy that all images are pulled."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "pods") and operation in ("CREATE", "UPDATE") and not subresource

    def mutate(self, a: Attributes) -> None:
        """Set the policy of each container, and of each volume that is an image."""
        if _only_known_images(a):
            return
        for kind in KINDS:
            containers = orjson.loads(a.object.get(["spec", kind]) or b"[]")
            if any(each.get("imagePullPolicy") != "Always" for each in containers):
                changed = [{**each, "imagePullPolicy": "Always"} for each in containers]
                a.object.set(["spec", kind], orjson.dumps(changed))
        volumes = orjson.loads(a.object.get(["spec", "volumes"]) or b"[]")
        if any("image" in volume for volume in volumes):
            for volume in volumes:
                if "image" in volume:
                    volume["image"] = {**volume["image"], "pullPolicy": "Always"}
            a.object.set(["spec", "volumes"], orjson.dumps(volumes))

    def validate(self, a: Attributes) -> None:
        """Check that nothing has changed the policies since. Raise ApiError 403."""
        if _only_known_images(a):
            return
        for kind in KINDS:
            for at, each in enumerate(orjson.loads(a.object.get(["spec", kind]) or b"[]")):
                if (policy := each.get("imagePullPolicy", "")) != "Always":
                    text = f'spec.{kind}[{at}].imagePullPolicy: Unsupported value: "{policy}"'
                    raise a.forbidden(f'{text}: supported values: "Always"')


def _only_known_images(a: Attributes) -> bool:
    """Report whether an update names no image that the pod did not have."""
    if a.old is None:
        return False
    old = orjson.loads(a.old.json).get("spec", {})
    known = {each.get("image") for kind in KINDS for each in old.get(kind) or ()}
    given = (each for kind in KINDS for each in orjson.loads(a.object.get(["spec", kind]) or b"[]"))
    return all(each.get("image") in known for each in given)
