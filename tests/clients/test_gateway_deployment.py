"""The chart and the kustomize base of a gateway: rendered by their own tools, and accepted by a server."""

from __future__ import annotations

import subprocess

import pytest

from tests.clients.programs import built
from tests.conftest import ROOT, Process

CHART = ROOT / "deploy" / "helm" / "hydrofoil-gateway"
BASE = ROOT / "deploy" / "kustomize" / "gateway"
PARTS = {
    "serviceaccount",
    "clusterrole",
    "clusterrolebinding",
    "configmap",
    "deployment",
    "service",
    "poddisruptionbudget",
    "networkpolicy",
}


def accepted(process: Process, manifests: str) -> set[str]:
    """Apply manifests to a server; return their kinds."""
    line = ["kubectl", "--kubeconfig", str(process[2]), "apply", "-f", "-", "-o", "name"]
    done = subprocess.run(line, input=manifests, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr
    return {name.partition("/")[0].partition(".")[0] for name in done.stdout.split()}


@pytest.mark.program("kubectl")
def test_the_base_is_accepted(process: Process) -> None:
    made = subprocess.run(["kubectl", "kustomize", str(BASE)], capture_output=True, text=True, check=True, timeout=60)
    assert accepted(process, made.stdout) >= PARTS | {"namespace"}


@pytest.mark.program("go")
@pytest.mark.program("kubectl")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("values", "more"),
    [
        ({}, {"secret"}),
        ({"clientCA.configMap": "ca", "tls.secretName": "own", "cache": "on-demand"}, set()),
        ({"cache": "pods,deployments.apps", "identity": "impersonate", "networkPolicy.enabled": "false"}, {"secret"}),
    ],
    ids=["default", "certificates", "some"],
)
def test_the_chart_is_accepted(
    process: Process, tmp_path_factory: pytest.TempPathFactory, values: dict[str, str], more: set[str]
) -> None:
    program = built("helm", tmp_path_factory)
    line = [str(program), "-template", str(CHART), *(f"{key}={value}" for key, value in values.items())]
    made = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert made.returncode == 0, made.stderr
    absent = {"networkpolicy"} if "networkPolicy.enabled" in values else set()
    assert accepted(process, made.stdout) == (PARTS - absent) | more
    assert ("impersonate" in made.stdout) == ("clientCA.configMap" in values or "identity" in values)


def test_the_base_has_the_flags_of_the_chart() -> None:
    """What one of them sets, the other one has as well, as far as it needs no value."""
    chart = (CHART / "templates" / "deployment.yaml").read_text()
    for line in (BASE / "deployment.yaml").read_text().splitlines():
        if line.strip().startswith("- --"):
            assert line.strip() in {found.strip() for found in chart.splitlines()}, line
