"""The controls of a test on a server; only such servers load this module."""

from __future__ import annotations

from hydrofoil.controls.controls import Controls
from hydrofoil.controls.http import Asked, ControlApi
from hydrofoil.endpoints.context import Context, Handler
from hydrofoil.endpoints.filters.faults import faults, outage
from hydrofoil.endpoints.filters.journal import journal
from hydrofoil.endpoints.filters.sequence import in_sequence
from hydrofoil.endpoints.wire import transport_of
from hydrofoil.server.chain import Place
from hydrofoil.server.controlling import Controlling, Running
from hydrofoil.server.part import Core, Part


def test_controls(core: Core, found: Controls, running: Running) -> Part[Controlling | None]:
    """Return the acts of a test, and allow them over HTTP if a flag does."""
    records = found.journal
    acts = None if core.guests is None else Controlling(core, running, core.guests)
    paths: dict[str, Handler] = {}
    if acts is not None and core.config.test_controls:
        everywhere = core.config.test_controls == "all"

        def restart(asked: Asked) -> None:
            acts.restart(transport_of(asked) if isinstance(asked, Context) else None)

        api = ControlApi(
            found,
            acts.apply,
            acts.waits,
            acts.user,
            running.settle,
            acts.move,
            acts.check_resources,
            restart,
            acts.objects,
            everywhere=everywhere,
        )
        paths["/hydrofoil/"] = api.answer
    return Part(
        feature=acts,
        filters={
            Place.JOURNAL: journal(records, core.clock),
            Place.SEQUENCE: in_sequence(found),
            Place.OUTAGE: outage(found.faults),
            Place.FAULTS: faults(found.faults, records, core.clock, core.chance),
        },
        paths=paths,
    )
