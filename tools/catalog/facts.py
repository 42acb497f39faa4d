"""All facts about one release, from the published modules."""

from __future__ import annotations

from .columns import printer_columns
from .gotypes import GoTypes
from .lifecycle import lifecycle_facts
from .model import Facts, read_json
from .modules import Modules
from .priorities import group_order, read_priorities
from .protofile import read_messages
from .resourcefacts import in_order, resource_facts
from .retired import retired
from .selectors import field_selectors
from .typefacts import TypeFacts


def read_facts(modules: Modules) -> Facts:
    go = GoTypes.read(modules)
    messages = read_messages((modules.api, modules.apimachinery, modules.apiextensions, modules.aggregator))
    definitions = read_json(modules.openapi_spec / "swagger.json")["definitions"]
    types = TypeFacts(go, messages, definitions).all()
    resources = resource_facts(modules.discovery, types)
    resources += list(retired(resources))
    groups = group_order(read_priorities(modules.kubernetes), {resource["group"] for resource in resources})
    return Facts(
        types=types,
        resources=in_order(resources, groups),
        printer_columns=printer_columns(modules),
        field_selectors=list(field_selectors(modules.kubernetes, modules.api)),
        lifecycle=lifecycle_facts(go),
        enums=go.enums,
        group_order=groups,
    )
