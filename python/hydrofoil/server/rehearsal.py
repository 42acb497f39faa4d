"""A server to try changes on: the objects of a dump, in memory, and nobody else who learns of its writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import orjson

from hydrofoil import engine
from hydrofoil.apis.catalog import Catalog
from hydrofoil.apis.registration import GROUP as REGISTRATION
from hydrofoil.apis.releases.release import Release
from hydrofoil.clock import Chance, Clock
from hydrofoil.dumps.object import DumpedObject
from hydrofoil.dumps.order import NAMESPACE, DumpIndex
from hydrofoil.engine import View
from hydrofoil.server.config import Config
from hydrofoil.server.dumped_log import Contents, Filling
from hydrofoil.storage.local import LocalLog, first_revision

WEBHOOKS = ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")
"""The plug-ins that call others."""
CONTROLLERS = "serviceaccount,root-ca-cert-publisher,clusterrole-aggregation,resourcequota"
"""Those that make what other objects need. None deletes: a dump may lack owners."""


class RehearsalConfig(Config):
    """The settings of such a server."""

    calls_webhooks: bool = False
    """Whether admission and conversion may call webhooks: with dry runs, as nothing of it is kept."""

    @property
    def rehearses(self) -> bool:
        return True

    @property
    def calls_services(self) -> bool:
        return False

    @property
    def calls_converters(self) -> bool:
        return self.calls_webhooks


class RehearsalLog(LocalLog):
    """The objects of a dump, and the namespaces that they need."""

    def __init__(self, contents: Contents, release: Release, chance: Chance) -> None:
        super().__init__()
        self._contents = contents
        self._release = release
        self._chance = chance
        self.problems: list[str] = []
        """A line on each object, or each kind of objects, that cannot be taken."""

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        start = max(first_revision(clock), self._contents.revision)
        self._native = engine.Local(view, start)
        self._view = view
        self._advanced = advanced
        filling = Filling(view, Catalog({"api/all": True}, self._release), clock, self._chance, start)
        contents = self._contents._replace(objects=complete_index(self._contents.objects))
        self.problems = await asyncio.to_thread(filling.fill, contents, None)


def complete_index(index: DumpIndex) -> DumpIndex:
    """Return the objects with the namespaces that a dump lacks, without services that others answer."""
    found = DumpIndex()
    needed: dict[str, None] = {}
    for one in index.objects():
        if (one.group, one.kind) == (REGISTRATION, "APIService") and (one.content().get("spec") or {}).get("service"):
            continue
        found.add(one)
        needed |= {one.namespace: None} if one.namespace else {}
    present = {one.name for one in found.objects() if (one.group, one.kind) == NAMESPACE}
    for name in needed:
        if name not in present:
            content = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            found.add(DumpedObject("", 0, "v1", "Namespace", "", name, "", 0, (), orjson.dumps(content)))
    return found
