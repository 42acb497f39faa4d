"""The admission of writes."""

from __future__ import annotations

from typing import Any

from hydrofoil.admission.chain import Chain
from hydrofoil.admission.order import plugins, plugins_of_disabled_gates
from hydrofoil.admission.plugin_dependencies import PluginDependencies
from hydrofoil.authorization.service import Authorization
from hydrofoil.server.config import Config
from hydrofoil.server.part import Core, Part
from hydrofoil.server.parts.access import needs_credentials


def admission(core: Core, authorization: Authorization) -> Part[Chain]:
    """Return the plug-ins in their order. Raise ValueError with one line."""
    config = core.config
    given: dict[str, Any] = {}
    if config.admission_control_config_file:
        from hydrofoil.admission.configuration import read

        given = read(config.admission_control_config_file)
    deps = PluginDependencies(core.registry, core.hub, core.services, configuration=given, rehearses=config.rehearses)
    on, off = select_plugins(config)
    chain = Chain(plugins(deps, on, off | plugins_of_disabled_gates(core.gates)), authorization.authorizer)
    return Part(feature=chain, close=chain.close, collectors=lambda: [chain.phases, deps.metrics])


def select_plugins(config: Config) -> tuple[frozenset[str], frozenset[str]]:
    """Return the admission plug-ins that are switched on, and those off. Raise ValueError with one line."""
    on, off = config.selected()
    if "ServiceAccount" in on or (needs_credentials(config) and config.controls("serviceaccount")):
        return on, off
    # Without its controller no namespace has the account that pods need; without credentials no pod needs a token.
    return on, off | {"ServiceAccount"}
