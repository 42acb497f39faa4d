"""The feature gates of a release (component-base `featuregate`)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from hydrofoil.apis.releases.data import load, minors

LOG = logging.getLogger("hydrofoil")
ALL = {"AllAlpha": "ALPHA", "AllBeta": "BETA"}
"""Gates that set every other gate of a stage that is not named itself."""
WARNED = {"": "GA", "DEPRECATED": "deprecated"}


class GateError(Exception):
    """An invalid setting of a feature gate, with upstream's message."""


class Gates:
    """The states of all features. Raise GateError for an invalid setting."""

    def __init__(self, given: Mapping[str, bool], minor: int | None = None) -> None:
        """`minor`: the version whose defaults count, if it is not the newest."""
        self._minor = minors()[-1] if minor is None else minor
        data = load(self._minor)
        self._known = data.gates
        self._set: dict[str, bool] = {}
        if given:
            self._apply(given, data.dependencies)

    def enabled(self, name: str) -> bool:
        """Report whether a feature is on."""
        found = self._set.get(name)
        return self._known[name][1] if found is None else found

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
                versions = f"emulated version 1.{self._minor}, min compatibility version 1.{self._minor - 1}"
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
