"""The definition that a dump of objects does not have: people dump what they look at."""

from __future__ import annotations

from collections import Counter
from typing import Any

import orjson

from hydrofoil.dumps.object import DumpedObject
from hydrofoil.dumps.order import DEFINITION, DumpIndex
from hydrofoil.server.dumped_log import Contents

Object = dict[str, Any]
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
"""The schema that allows everything."""


def assume_definition(contents: Contents, new: Object) -> Contents:
    """Return the objects with a definition that allows them as they are, if they have none.

    It has the versions of the objects, and stores the one that most of them are in.
    """
    spec = new.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(names, dict):
        return contents
    name, group, kind = new["metadata"]["name"], spec.get("group"), names.get("kind")
    objects = contents.objects.objects()
    if any((one.group, one.kind) == DEFINITION and one.name == name for one in objects):
        return contents
    versions = Counter(one.api_version.rpartition("/")[2] for one in objects if (one.group, one.kind) == (group, kind))
    if not versions:
        return contents
    stored = versions.most_common(1)[0][0]
    listed = [
        {"name": version, "served": True, "storage": version == stored, "schema": {"openAPIV3Schema": OPEN}}
        for version in versions
    ]
    api_version = f"{DEFINITION[0]}/v1"
    content = {
        "apiVersion": api_version,
        "kind": DEFINITION[1],
        "metadata": {"name": name},
        "spec": {"group": group, "scope": spec.get("scope"), "names": names, "versions": listed},
    }
    index = DumpIndex()
    index.add(DumpedObject("", 0, api_version, DEFINITION[1], "", name, "", 0, (), orjson.dumps(content)))
    for one in objects:
        index.add(one)
    return contents._replace(objects=index)
