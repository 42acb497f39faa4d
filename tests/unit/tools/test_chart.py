"""The chart of README."""

from __future__ import annotations

from xml.etree import ElementTree

from tools.chart import CASES, METRIC, Pair, draw, pairs, short


def document() -> dict[str, object]:
    """Return the figures of a run in which kube-apiserver was first."""
    rows = [
        {"case": "writes", "metric": METRIC, "values": [1687.0, 243.0]},
        {"case": "list", "metric": METRIC, "values": [266_071.0, 34_145.0]},
        {"case": "list", "metric": "rss_mb_peak", "values": [900.0, 100.0]},
        {"case": "pages", "metric": METRIC, "values": [None, 2.0]},
    ]
    return {"runs": [{"label": "kube-apiserver v1.36.1"}, {"label": "hydrofoil"}], "rows": rows}


def test_each_server_has_its_own_figure() -> None:
    found = pairs(document())
    assert found == [Pair(CASES["list"], 34_145.0, 266_071.0), Pair(CASES["writes"], 243.0, 1687.0)]


def test_the_picture_has_every_figure_and_its_conditions() -> None:
    picture = draw(pairs(document()), {"cores": 2, "cpu": "A <chip>"}, "2026-11-28")
    text = " ".join(ElementTree.fromstring(picture).itertext())
    for part in ("34.1 ms, 7.8 times less", "266 ms", "243 us, 6.9 times less", "2 cores (A <chip>)"):
        assert part in text
    assert short(1000) == "1 ms"
