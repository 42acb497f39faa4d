"""Counts of answers, and the families that are made of them."""

from __future__ import annotations

from hydrofoil.server.metrics import exposition
from hydrofoil.server.request_metrics import Requests

PODS = ("LIST", "", "", "v1", "pods", "", "cluster", "apiserver")
DRY = ("POST", "All", "", "v1", "pods", "", "resource", "apiserver")


def lines(requests: Requests) -> list[str]:
    """Return the samples."""
    return [line for line in exposition((), [requests.taken()]).decode().splitlines() if not line.startswith("#")]


def test_one_row_is_many_families() -> None:
    requests = Requests()
    requests.observe(PODS, 200, 0.03, 5_000)
    requests.observe(PODS, 410, 0.7, 10)
    where = 'component="apiserver",dry_run="",group="",resource="pods",scope="cluster",subresource="",verb="LIST"'
    found = lines(requests)
    assert f'apiserver_request_total{{code="200",{where},version="v1"}} 1' in found
    assert f'apiserver_request_total{{code="410",{where},version="v1"}} 1' in found
    assert any(line.startswith("apiserver_request_duration_seconds_bucket{") and 'le="0.05"' in line for line in found)
    sli = [line for line in found if line.startswith("apiserver_request_sli_duration_seconds_bucket{")]
    assert [float(line.rpartition(" ")[2]) for line in sli][:5] == [1.0, 1.0, 1.0, 1.0, 1.0]
    assert float(sli[-1].rpartition(" ")[2]) == 2.0
    sizes = [line for line in found if line.startswith("apiserver_response_sizes_bucket{")]
    assert [float(line.rpartition(" ")[2]) for line in sizes][:3] == [1.0, 2.0, 2.0]
    assert 'le="1e+06"' in sizes[3]
    assert not any("slo" in line for line in found)


def test_dry_runs_are_no_objective_and_writes_have_no_size() -> None:
    requests = Requests(hidden=True)
    requests.observe(DRY, 201, 0.1, 100)
    found = lines(requests)
    assert not any(line.startswith(("apiserver_request_sli", "apiserver_response_sizes")) for line in found)
    requests.observe(PODS, 200, 0.1, 100)
    assert any(line.startswith("apiserver_request_slo_duration_seconds_count{") for line in lines(requests))


def test_bodies_and_validation() -> None:
    requests = Requests()
    requests.read("apps", "deployments", "create", 60_000)
    requests.validated("Strict")
    requests.validated("other")
    found = lines(requests)
    assert 'apiserver_request_body_size_bytes_count{group="apps",resource="deployments",verb="create"} 1' in found
    for level in ("Strict", "invalid"):
        assert f'field_validation_request_duration_seconds_count{{field_validation="{level}"}} 0' in found
    requests.reset()
    assert lines(requests) == []
