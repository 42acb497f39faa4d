"""A server of another environment: the test's own needs none of the libraries of servers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hydrofoil import Server, StartError
from tests.plugin.runs import run

ABSENT = """
import importlib.abc
import sys


class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        absent = "aiohttp", "uvloop", "click", "rich", "cryptography", "joserfc", "prometheus_client"
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
"""
SUITE = """
import urllib.request

import pytest

from hydrofoil import ApiError, WaitTimeout
from hydrofoil.testing import Account, Fault, Record, Requests, Snapshot, TestServer


@pytest.mark.hydrofoil(users=["alice"], crds="crd.yaml")
def test_all(hydrofoil: TestServer, hydrofoil_factory, hydrofoil_kubeconfig, hydrofoil_namespace):
    assert urllib.request.urlopen(hydrofoil.url + "/readyz").status == 200
    assert hydrofoil.users["alice"].headers and hydrofoil_kubeconfig.exists()
    before = hydrofoil.snapshot()
    hydrofoil.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
    assert hydrofoil.get("configmaps/a") and hydrofoil.watches == [] and len(hydrofoil.requests) == 1
    with pytest.raises(WaitTimeout, match="did not exist"):
        hydrofoil.wait_for("configmaps/b", timeout=0)
    with pytest.raises(ApiError, match="not found"):
        hydrofoil.get("configmaps/b")
    hydrofoil.restore(before)
    assert hydrofoil_factory(seed=1).url != hydrofoil.url


def test_a_report(hydrofoil):
    urllib.request.urlopen(hydrofoil.url + "/version")
    hydrofoil.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
    assert hydrofoil.requests.count() == 2
"""


def test_a_test_without_the_libraries_of_servers(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding 15."""
    monkeypatch.setenv("HYDROFOIL", f"{sys.executable} -m hydrofoil")
    pytester.makeconftest(ABSENT)
    pytester.makefile(".yaml", crd="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    pytester.makepyfile(SUITE)
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    assert "GET /version -> 200" in result.stdout.str() and "+ configmaps default/a" in result.stdout.str()


def test_an_environment_is_a_folder_a_command_or_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "hydrofoil"
    program.write_text(f'#!/bin/sh\n{sys.executable} -m hydrofoil "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("HYDROFOIL", str(tmp_path))
    with Server.in_process() as server:
        assert server.get("namespaces/default")
    for command, words in ((f"{tmp_path}/nowhere", "No such file or directory"), ("false", "has ended")):
        monkeypatch.setenv("HYDROFOIL", command)
        with pytest.raises(StartError, match=words):
            Server.in_process().start()


def test_another_version_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDROFOIL", f"{sys.executable} -m hydrofoil")
    monkeypatch.setattr("hydrofoil.testing.process.__version__", "0.0.9")
    with pytest.raises(
        StartError, match=r"HYDROFOIL is hydrofoil .*, and this environment has 0.0.9: install one in both"
    ):
        Server.in_process().start()
