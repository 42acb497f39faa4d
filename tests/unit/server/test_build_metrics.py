"""The build, versions and feature gates of a server as metrics."""

from __future__ import annotations

from prometheus_client.core import GaugeMetricFamily, Metric

from hydrofoil.apis.gates import Gates
from hydrofoil.server.build_metrics import BUILD, NOTHING, BuildMetrics, families_by_stability
from hydrofoil.server.metrics import exposition

VERSION = {member: f"the {member}" for member in BUILD.values()} | {
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
}


def test_a_reset_removes_the_facts_of_a_server() -> None:
    found = BuildMetrics(VERSION, Gates({}), 4)
    families: list[Metric] = list(found.collect())
    text = exposition(families, ()).decode()
    assert 'go_version="the goVersion"' in text
    assert "hidden_metrics_total 4\n" in text
    assert 'version_info{binary="the gitVersion",component="kube",emulation="1.36",min_compat="1.35"} 1\n' in text
    found.forgotten = True
    assert {family.name for family in found.collect()} == {"hidden_metrics", *(name for name, _ in NOTHING)}


def test_families_are_counted_by_their_stability() -> None:
    families = [
        GaugeMetricFamily("a", "[STABLE] one"),
        GaugeMetricFamily("b", "[STABLE] (Deprecated since 1.34.0) two"),
        GaugeMetricFamily("c", "of a library"),
    ]
    counts = {tuple(sample.labels.values()): sample.value for sample in families_by_stability(families).samples}
    assert counts == {("STABLE", ""): 1, ("STABLE", "1.34.0"): 1, ("BETA", ""): 1}
