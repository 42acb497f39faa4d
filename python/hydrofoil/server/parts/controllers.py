"""The controllers of a server."""

from __future__ import annotations

from hydrofoil.admission.chain import Chain
from hydrofoil.authentication.service import Authentication
from hydrofoil.controllers.descriptor import Dependencies
from hydrofoil.server.controllers import ControllerManager
from hydrofoil.server.part import Core, Part, nothing
from hydrofoil.server.parts.extensions import Aggregation


def controllers(
    core: Core, admission: Chain, aggregation: Aggregation, authentication: Authentication, *, one_by_one: bool
) -> Part[ControllerManager]:
    """Return the controllers; `one_by_one`: each has settled before the next one starts."""
    deps = Dependencies(
        core.registry,
        core.hub,
        admission,
        aggregation.content,
        aggregation.documents,
        lambda: core.site.root_ca,
        authentication.legacy_token,
        core.config,
    )
    elects = core.config.elects
    manager = ControllerManager(core.config, deps, core.listeners, elects=elects, one_by_one=one_by_one)
    # Those of a server with workers run in the owner.
    start = nothing if core.config.read_only or core.worker is not None else manager.start
    return Part(feature=manager, start=start, close=manager.stop, controllers=manager.running)
