"""kubectl with credentials of its own, against a server with TLS and RBAC."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.access import Secured, secured

pytestmark = [pytest.mark.program("kubectl"), pytest.mark.timeout(180)]
Run = Callable[..., str]
READER = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """Yield a server over TLS with RBAC."""
    with secured(tmp_path_factory.mktemp("secured")) as running:
        yield running


@pytest.fixture(scope="module")
def kubectl(server: Secured, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs kubectl in a context, and checks its exit status."""
    home = {**os.environ, "HOME": str(tmp_path_factory.mktemp("home"))}

    def run(context: str, *args: str, stdin: str = "", status: int = 0) -> str:
        line = ["kubectl", "--kubeconfig", str(server.kubeconfig), "--context", context, *args]
        done = subprocess.run(line, input=stdin, capture_output=True, text=True, check=False, timeout=60, env=home)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    run("root", "auth", "reconcile", "-f", "-", stdin=READER)
    return run


@pytest.mark.parametrize("context", ["ann", "ann-token", "ann-exec"])
def test_certificates_tokens_and_plug_ins_log_in(kubectl: Run, context: str) -> None:
    found = json.loads(kubectl(context, "auth", "whoami", "-o", "json"))["status"]["userInfo"]
    assert found["username"] == "ann"
    assert "blue" in found["groups"]


def test_a_certificate_of_another_authority_is_refused(kubectl: Run) -> None:
    assert "ann" in kubectl("ann", "auth", "whoami")
    refused = kubectl("foreign", "get", "pods", status=1)
    assert "Unauthorized" in refused or "must be logged in" in refused


def test_can_i(kubectl: Run) -> None:
    assert kubectl("ann", "auth", "can-i", "list", "pods").strip() == "yes"
    assert kubectl("ann", "auth", "can-i", "delete", "pods", status=1).strip() == "no"
    assert kubectl("root", "auth", "can-i", "*", "*").strip() == "yes"
    listed = kubectl("ann", "auth", "can-i", "--list")
    assert "pods" in listed
    assert "selfsubjectreviews" in listed
    assert kubectl("root", "auth", "can-i", "list", "pods", "--as", "ann").strip() == "yes"


def test_rights_hold(kubectl: Run) -> None:
    assert "No resources found" in kubectl("ann", "get", "pods")
    text = 'pods "x" is forbidden: User "ann" cannot delete resource "pods" in API group "" in the namespace "default"'
    assert text in kubectl("ann", "delete", "pod", "x", status=1)


def test_reconcile_again_changes_nothing(kubectl: Run) -> None:
    again = kubectl("root", "auth", "reconcile", "-f", "-", stdin=READER)
    assert "clusterrole.rbac.authorization.k8s.io/reader reconciled" in again
    bound = json.loads(kubectl("root", "get", "clusterrolebinding", "reader", "-o", "json"))
    assert [s["name"] for s in bound["subjects"]] == ["ann"]


def test_as_another_user(kubectl: Run) -> None:
    found = kubectl("root", "auth", "whoami", "--as", "zed", "--as-group", "red", "-o", "json")
    user = json.loads(found)["status"]["userInfo"]
    assert (user["username"], user["groups"]) == ("zed", ["red", "system:authenticated"])
    refused = kubectl("ann", "get", "pods", "--as", "root", status=1)
    assert 'is forbidden: User "ann" cannot impersonate' in refused


def test_tokens_of_service_accounts(kubectl: Run, server: Secured) -> None:
    kubectl("root", "create", "serviceaccount", "robot")
    token = kubectl("root", "create", "token", "robot").strip()
    assert token.count(".") == 2
    ca = str(server.folder / "ca.crt")
    line = ["kubectl", "--kubeconfig=/dev/null", "--server", server.url, "--certificate-authority", ca]
    line += ["--token", token, "auth", "whoami", "-o", "json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"]["userInfo"]["username"] == "system:serviceaccount:default:robot"
    assert "cannot create resource" in kubectl("ann", "create", "token", "robot", status=1)


def request(name: str) -> str:
    """Return a certificate request for a client certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    encoded = base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()
    spec = {"signerName": "kubernetes.io/kube-apiserver-client", "request": encoded, "usages": ["client auth"]}
    body = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest"}
    return json.dumps({**body, "metadata": {"name": name}, "spec": spec})


def test_certificate_approve(kubectl: Run, tmp_path: Path) -> None:
    for name in ("first", "second"):
        file = tmp_path / f"{name}.json"
        file.write_text(request(name))
        kubectl("root", "apply", "-f", str(file))
    assert "forbidden" in kubectl("ann", "certificate", "approve", "first", status=1)
    kubectl("root", "certificate", "approve", "first")
    kubectl("root", "certificate", "deny", "second")
    found = json.loads(kubectl("root", "get", "csr", "-o", "json"))["items"]
    kinds = {item["metadata"]["name"]: item["status"]["conditions"][0]["type"] for item in found}
    assert kinds == {"first": "Approved", "second": "Denied"}
