"""Controller revisions: the templates of stateful sets and daemon sets so far (`k8s.io/api/apps/v1`)."""

from __future__ import annotations

from functools import lru_cache

import orjson
from msgspec import Raw, Struct

from hydrofoil.controllers.objects.meta import ObjectMeta
from hydrofoil.controllers.objects.templates import PodTemplate, equal_templates

REVISION_HASH = "controller-revision-hash"
"""The label of pods that says of which revision they are."""


class ControllerRevision(Struct, frozen=True):
    """A revision, whose data is a patch that restores a template."""

    metadata: ObjectMeta
    revision: int = 0
    data: Raw = Raw(b"null")

    @property
    def template(self) -> PodTemplate:
        """Return the template that it restores, without content if its data has none."""
        return _template(bytes(self.data))

    def restores(self, template: PodTemplate) -> bool:
        """Report whether it restores a template that means the same (`EqualRevision`)."""
        return equal_templates(self.template, template)

    @property
    def order(self) -> tuple[int, str, str]:
        """Return what orders revisions, the oldest first (`SortControllerRevisions`)."""
        return self.revision, self.metadata.creation_timestamp, self.metadata.name


@lru_cache(256)
def _template(data: bytes) -> PodTemplate:
    """Return the template in a patch. It is asked for again in each look at the pods of its owner."""
    value = orjson.loads(data)
    for name in ("spec", "template"):
        value = value.get(name) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        return PodTemplate()
    return PodTemplate(value.get("metadata") or {}, Raw(orjson.dumps(value.get("spec") or {})))


def patch_of(template: PodTemplate) -> bytes:
    """Return the patch that restores a template (`getPatch`).

    Its members are sorted, as those of any object that was patched: data may not change, and its bytes are compared.
    """
    value = {"$patch": "replace", "metadata": template.metadata, "spec": orjson.loads(bytes(template.spec))}
    return orjson.dumps({"spec": {"template": value}}, option=orjson.OPT_SORT_KEYS)
