"""The feature gates of this release (component-base `featuregate`)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from importlib.resources import files

import orjson

from hydrofoil.apis.emulation import ALPHA_BEFORE, BETA_OFF_BEFORE, BINARY

LOG = logging.getLogger("hydrofoil")
ALL = {"AllAlpha": "ALPHA", "AllBeta": "BETA"}
"""Gates that set every other gate of a stage that is not named itself."""
WARNED = {"": "GA", "DEPRECATED": "deprecated"}


RESOURCES = {
    ("certificates.k8s.io", "clustertrustbundles"): "ClusterTrustBundle",
    ("certificates.k8s.io", "podcertificaterequests"): "PodCertificateRequest",
    ("scheduling.k8s.io", "podgroups"): "GenericWorkload",
    ("scheduling.k8s.io", "workloads"): "GenericWorkload",
    ("storagemigration.k8s.io", "storageversionmigrations"): "StorageVersionMigrator",
}
"""By group and plural: the gates that resources require (kubernetes `pkg/registry/*/rest`)."""


class GateError(Exception):
    """An invalid setting of a feature gate, with upstream's message."""


class Gates:
    """The states of all features. Raise GateError for an invalid setting."""

    def __init__(self, given: Mapping[str, bool], minor: int = BINARY) -> None:
        """`minor`: the version whose defaults count."""
        raw = orjson.loads((files("hydrofoil.apis") / "data" / "gates.json").read_bytes())
        self._known: dict[str, tuple[str, bool, bool]] = raw["gates"]
        for stage, since in (("ALPHA", ALPHA_BEFORE), ("BETA", BETA_OFF_BEFORE)):
            self._known |= {name: (stage, False, False) for name, version in since.items() if minor < version}
        self._set: dict[str, bool] = {}
        if given:
            self._apply(given, raw["dependencies"])

    def enabled(self, name: str) -> bool:
        """Report whether a feature is on."""
        found = self._set.get(name)
        return self._known[name][1] if found is None else found

    def serves(self, group: str, plural: str) -> bool:
        """Report whether a resource may be served, if its version is on."""
        gate = RESOURCES.get((group, plural))
        return gate is None or self.enabled(gate)

    def states(self) -> Iterable[tuple[str, str, bool]]:
        """Yield name, stage (empty: generally available) and state of each."""
        for name, (stage, _, _) in self._known.items():
            yield name, stage, self.enabled(name)

    def _apply(self, given: Mapping[str, bool], dependencies: Mapping[str, list[str]]) -> None:
        found = []
        for name, value in given.items():
            if name not in self._known:
                raise GateError(f"unrecognized feature gate: {name}")
            stage, default, locked = self._known[name]
            if locked and value != default:
                shown = f"{str(value).lower()}, feature is locked to {str(default).lower()}"
                found.append(f"cannot set feature gate {name} to {shown}")
            elif name in ALL:
                wide = {n: value for n, (s, _, _) in self._known.items() if s == ALL[name] and n not in ALL}
                self._set = wide | self._set | {name: value}
            elif stage == "PRE-ALPHA":
                versions = "emulated version 1.36, min compatibility version 1.35"
                shown = f"{str(value).lower()}, feature is PreAlpha at {versions}"
                found.append(f"cannot set feature gate {name} to {shown}")
        self._set |= {name: value for name, value in given.items() if name not in ALL}
        if not found:
            for name, needed in dependencies.items():
                off = [n for n in needed if not self.enabled(n)]
                if off and self.enabled(name):
                    found.append(f"{name} is enabled, but depends on features that are disabled: [{' '.join(off)}]")
        if found:
            raise GateError(found[0] if len(found) == 1 else f"[{', '.join(found)}]")
        for name, value in given.items():
            if (what := WARNED.get(self._known[name][0])) is not None:
                text = f"Warning: setting {what} feature gate. It will be removed in a future release."
                LOG.warning('"%s" featureGate="%s" value=%s', text, name, str(value).lower())
