"""Writers of one object on a server whose writes take a while."""

from __future__ import annotations

from pathlib import Path

from hydrofoil import Server
from tests.cluster.conftest import BEGIN
from tests.cluster.objects import deployment, phases


def test_an_owner_goes_after_its_pods_whatever_is_written_meanwhile(tmp_path: Path) -> None:
    """The status of a set is written while its finalizer is removed: a conflict, and no event that tells of it."""
    with Server.in_thread(cluster=3, clock=BEGIN, data_dir=str(tmp_path / "data")) as server:
        server.apply(deployment("web", 2, {"stop-after": "1s"}))
        server.delete("deployments/web", propagation="Foreground")
        assert list(phases(server).values()) == ["Running!"] * 2
        server.clock.advance("1s")
        assert server.list("deployments") == server.list("replicasets") == server.list("pods") == []


def test_nodes_are_whole_at_the_start_whatever_is_written_meanwhile(tmp_path: Path) -> None:
    """Other controllers annotate and label a node while its kubelet writes the first status."""
    with Server.in_thread(cluster=3, clock=BEGIN, data_dir=str(tmp_path / "data")) as server:
        nodes = [
            (n["status"].get("allocatable", {}).get("pods"), n["spec"].get("taints")) for n in server.list("nodes")
        ]
    assert nodes == [("110", None)] * 3
