"""Types of kinds that no resource serves: old versions and reviews, which upstream's codecs still know."""

from __future__ import annotations

from .compact import compact_type, group_version_kind
from .model import Facts, Json
from .reach import reachable


def unserved(facts: Facts, catalog: Json) -> Json:
    """Return a catalog without resources, of the types that the served one lacks.

    Lists of old versions are left out: they differ from the served ones by the type of their items only.
    """
    served = catalog["types"]
    known = {tuple(type_["gvk"]) for type_ in served.values() if "gvk" in type_}
    kinds = (
        name
        for name, type_ in facts.types.items()
        if (gvk := group_version_kind(type_)) and tuple(gvk) not in known and not gvk[2].endswith("List")
    )
    missing = reachable(facts.types, kinds) - served.keys()
    return {"resources": [], "types": {name: compact_type(facts.types[name]) for name in sorted(missing)}}
