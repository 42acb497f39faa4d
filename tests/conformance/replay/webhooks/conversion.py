"""Answers to ConversionReviews (v1, v1beta1); spec.host and spec.port of v2 are spec.hostPort of v1.

/convert                as it should be
/convert-fail           result Failed with a message
/convert-short          without the last object
/convert-order          objects in reverse order
/convert-version        objects with their old apiVersion
/convert-rename, -kind, -namespace, -object-uid     another value in that member of every object
/convert-labels         a label and an annotation more, and other finalizers, generation and ownerReferences
/convert-uid            with another uid
/convert-review         with another apiVersion of ConversionReview
/convert-500, /convert-garbage, /convert-slow       HTTP 500; not JSON; right, after a second
"""

from __future__ import annotations

import json
import time

from tests.conformance.replay.paths import Object

OTHER_UID = "00000000-0000-0000-0000-000000000000"


def convert(item: Object, version: str) -> Object:
    """Return an object in another version."""
    copy: Object = json.loads(json.dumps(item))
    spec = copy.get("spec")
    if isinstance(spec, dict) and copy.get("apiVersion") != version:
        if version.endswith("/v1") and "host" in spec:
            spec["hostPort"] = f"{spec.pop('host')}:{spec.pop('port', '')}"
        elif version.endswith("/v2") and "hostPort" in spec:
            spec["host"], _, spec["port"] = spec.pop("hostPort").partition(":")
    return {**copy, "apiVersion": version}


def change(mode: str, item: Object, version: str) -> None:
    """Change the metadata of an object, where the mode asks for it."""
    meta = item["metadata"]
    if mode == "rename":
        meta["name"] = "renamed"
    elif mode == "kind":
        item["kind"] = "Renamed"
    elif mode == "namespace":
        meta["namespace"] = "renamed"
    elif mode == "object-uid":
        meta["uid"] = OTHER_UID
    elif mode == "labels":
        meta["labels"] = {**meta.get("labels", {}), "converted": "yes"}
        meta["annotations"] = {**meta.get("annotations", {}), "converted-to": version.rpartition("/")[2]}
        meta["finalizers"] = ["hooked.example.com/added"]
        meta["generation"] = 99
        meta["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "added", "uid": OTHER_UID}]


def answer(mode: str, review: Object) -> Object:
    """Return the review that answers one."""
    request = review["request"]
    version = request["desiredAPIVersion"]
    items = [convert(item, version) for item in request["objects"]]
    uid, review_version, result = request["uid"], review["apiVersion"], {"status": "Success"}
    for item in items:
        change(mode, item, version)
    if mode == "fail":
        items, result = [], {"status": "Failed", "message": "hostPort could not be parsed"}
    elif mode == "short":
        items = items[:-1]
    elif mode == "order":
        items = items[::-1]
    elif mode == "version":
        items = request["objects"]
    elif mode == "uid":
        uid = OTHER_UID
    elif mode == "review":
        review_version = "apiextensions.k8s.io/v3"
    elif mode == "slow":
        time.sleep(1)
    response = {"uid": uid, "result": result, "convertedObjects": items}
    return {"apiVersion": review_version, "kind": "ConversionReview", "response": response}
