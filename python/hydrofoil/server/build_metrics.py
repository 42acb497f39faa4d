"""Metrics of the build, versions and feature gates of a server (component-base `metrics/prometheus`)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.apis.gates import Gates

BUILD = {
    "major": "major",
    "minor": "minor",
    "git_version": "gitVersion",
    "git_commit": "gitCommit",
    "git_tree_state": "gitTreeState",
    "build_date": "buildDate",
    "go_version": "goVersion",
    "compiler": "compiler",
    "platform": "platform",
}
"""The members of `/version` by label."""
STAGE = re.compile(r"\[(\w+)\](?: \(Deprecated since ([\d.]+)\))?")
NOTHING = (
    ("disabled_metrics", "[BETA] The count of disabled metrics."),
    (
        "apiserver_validation_declarative_validation_mismatch",
        "[BETA] Number of times declarative validation results differed from handwritten validation results for core "
        "types.",
    ),
    (
        "apiserver_validation_declarative_validation_panic",
        "[BETA] Number of times declarative validation has panicked during validation.",
    ),
    (
        "apiserver_validation_duplicate_validation_error",
        "[INTERNAL] Number of duplicate validation errors during validation.",
    ),
    (
        "cardinality_enforcement_unexpected_categorizations",
        "[ALPHA] The count of unexpected categorizations during cardinality enforcement.",
    ),
    (
        "aggregator_discovery_peer_aggregated_cache_hits",
        "[ALPHA] Counter of number of times discovery was served from peer-aggregated cache",
    ),
    (
        "aggregator_discovery_peer_aggregated_cache_misses",
        "[ALPHA] Counter of number of times discovery was aggregated across all API servers",
    ),
)
"""Counters of events that never happen here: no family is disabled, no label is restricted, each rule is written once,
and no discovery asks other servers."""


class BuildMetrics(Collector):
    """Facts of one server, which a reset of the metrics removes, as upstream."""

    def __init__(self, version: Mapping[str, str], gates: Gates, hidden: int) -> None:
        """Take `version` as the document of `/version`, `hidden` as the number of families that are not shown."""
        self._version = version
        self._gates = gates
        self._hidden = hidden
        self.forgotten = False

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        for name, text in NOTHING:
            yield CounterMetricFamily(name, text, 0)
        hidden = 0 if self.forgotten else self._hidden
        yield CounterMetricFamily("hidden_metrics", "[BETA] The count of hidden metrics.", hidden)
        if self.forgotten:
            return
        version = self._version
        text = (
            "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree "
            "state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is "
            "running."
        )
        build = GaugeMetricFamily("kubernetes_build_info", text, labels=tuple(BUILD))
        build.add_metric([version[member] for member in BUILD.values()], 1)
        yield build
        text = (
            "[ALPHA] Provides the compatibility version info of the component. The component label is the name of the "
            "component, usually kube, but is relevant for aggregated-apiservers."
        )
        info = GaugeMetricFamily("version_info", text, labels=("component", "binary", "emulation", "min_compat"))
        emulated = f"{version['emulationMajor']}.{version['emulationMinor']}"
        oldest = f"{version['minCompatibilityMajor']}.{version['minCompatibilityMinor']}"
        info.add_metric(("kube", version["gitVersion"].removeprefix("v"), emulated, oldest), 1)
        yield info
        text = "[BETA] This metric records the data about the stage and enablement of a k8s feature."
        features = GaugeMetricFamily("kubernetes_feature_enabled", text, labels=("name", "stage"))
        for name, stage, on in self._gates.states():
            features.add_metric((name, stage), on)
        yield features


def families_by_stability(families: Iterable[Metric]) -> CounterMetricFamily:
    """Return the numbers of families by the stability that their texts begin with."""
    text = "[BETA] The count of registered metrics broken by stability level and deprecation version."
    found = CounterMetricFamily("registered_metrics", text, labels=("stability_level", "deprecated_version"))
    stages = Counter(match.groups("") for f in families if (match := STAGE.match(f.documentation)))
    # It counts itself.
    stages["BETA", ""] += 1
    for stage, count in sorted(stages.items()):
        found.add_metric(stage, count)
    return found
