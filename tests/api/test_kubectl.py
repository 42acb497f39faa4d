"""kubectl against a live server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.api.conftest import Kubectl

pytestmark = [pytest.mark.program("kubectl"), pytest.mark.timeout(180)]


def test_configmap_by_all_its_outputs(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "c", "--from-literal=k=v")
    assert re.search(r"^c +1 +\d+s$", kubectl("get", "configmaps"), re.M)
    assert json.loads(kubectl("get", "configmap", "c", "-o", "json"))["data"] == {"k": "v"}
    assert "k: v" in kubectl("get", "configmap", "c", "-o", "yaml")
    assert kubectl("get", "configmap", "c", "-o", "name") == "configmap/c\n"
    assert kubectl("get", "configmap", "c", "-o", "jsonpath={.data.k}") == "v"
    assert "default" in kubectl("get", "configmaps", "-A", "--chunk-size=1")
    assert "k:" in kubectl("describe", "configmap", "c")
    kubectl("label", "configmap", "c", "a=b")
    kubectl("annotate", "configmap", "c", "x=y")
    assert "configmap/c" in kubectl("get", "configmaps", "-l", "a=b", "-o", "name")
    kubectl("delete", "configmap", "c", "--cascade=foreground")
    assert "NotFound" in kubectl("get", "configmap", "c", status=1)


def test_workload(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=nginx", "--replicas=2")
    assert re.search(r"^d +0/2 ", kubectl("get", "deployments"), re.M)
    assert "nginx" in kubectl("get", "deployments", "-o", "wide")
    kubectl("scale", "deployment", "d", "--replicas=5")
    assert kubectl("get", "deployment", "d", "-o", "jsonpath={.spec.replicas}") == "5"
    assert "Replicas:" in kubectl("describe", "deployment", "d")
    kubectl("delete", "deployment", "d", "--cascade=orphan")


def test_runs_a_pod_and_watches_it_go(kubectl: Kubectl) -> None:
    kubectl("run", "p", "--image=nginx")
    assert re.search(r"^p +0/1 +Pending ", kubectl("get", "pods"), re.M)
    kubectl("delete", "pod", "p")
    assert "NotFound" in kubectl("get", "pod", "p", status=1)


def test_waits(kubectl: Kubectl) -> None:
    if int(json.loads(kubectl("version", "--client", "-o", "json"))["clientVersion"]["minor"].rstrip("+")) < 23:
        pytest.skip("this kubectl waits for conditions only")
    kubectl("create", "deployment", "w", "--image=nginx", "--replicas=5")
    kubectl("wait", "deployment/w", "--for=jsonpath={.spec.replicas}=5", "--timeout=5s")
    kubectl("delete", "deployment", "w")
    kubectl("wait", "deployment/w", "--for=delete", "--timeout=5s")


def test_discovery(kubectl: Kubectl) -> None:
    assert re.search(r"^deployments +deploy +apps/v1 +true +Deployment", kubectl("api-resources"), re.M)
    assert "apps/v1\n" in kubectl("api-versions")
    assert "replicas" in kubectl("explain", "deployment.spec")
    assert "v1.36" in kubectl("version")


def test_create_from_a_file_with_a_typo(kubectl: Kubectl, tmp_path: Path) -> None:
    """FV-12."""
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: typo\ndatum: {}\n"
    assert 'unknown field "datum"' in kubectl("create", "-f", "-", stdin=text, status=1)
    kubectl("create", "-f", "-", "--validate=false", stdin=text)


def test_namespace(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "n")
    kubectl("-n", "n", "create", "secret", "generic", "s", "--from-literal=a=b")
    kubectl("delete", "namespace", "n")
    assert "NotFound" in kubectl("get", "namespace", "n", status=1)
