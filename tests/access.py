"""A server over TLS that asks for credentials, with certificates, tokens and kubeconfigs of its own."""

from __future__ import annotations

import datetime
import ipaddress
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.conftest import command

TOKENS = "root-token,root,,system:masters\nann-token,ann,,blue\n"
TOOL = f"""#!{sys.executable}
import json
status = {{"token": "ann-token"}}
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}}))
"""
"""An exec plug-in."""


class Authority:
    """A certificate authority in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        basic = x509.BasicConstraints(ca=True, path_length=None)
        made = self._builder(self.name, self.key.public_key()).add_extension(basic, critical=True)
        self.file = self._write(f"{name}.crt", made.sign(self.key, hashes.SHA256()))

    def issue(self, file: str, name: str, groups: tuple[str, ...] = (), *, serving: bool = False) -> tuple[Path, Path]:
        """Return the files of a certificate and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        subject = x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, name)])
        usage = ExtendedKeyUsageOID.SERVER_AUTH if serving else ExtendedKeyUsageOID.CLIENT_AUTH
        made = self._builder(subject, key.public_key()).add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if serving:
            addresses = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            made = made.add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        made = made.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False
        )
        written = self.folder / f"{file}.key"
        written.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return self._write(f"{file}.crt", made.sign(self.key, hashes.SHA256())), written

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key)
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        builder = builder.serial_number(x509.random_serial_number())
        hour = datetime.timedelta(hours=1)
        return builder.not_valid_before(now - hour).not_valid_after(now + 24 * hour)

    def _write(self, name: str, made: x509.Certificate) -> Path:
        path = self.folder / name
        path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        return path


@dataclass
class Secured:
    """A running server over TLS with RBAC."""

    url: str
    folder: Path
    kubeconfig: Path
    """Contexts: root, ann and manager by certificate, root-token, ann-token, wrong-token, ann-exec, and foreign, whose
    certificate another authority signed."""


@contextmanager
def secured(folder: Path, *flags: str) -> Iterator[Secured]:
    """Run a server over TLS that knows one authority and two tokens."""
    ours, others = Authority(folder, "ca"), Authority(folder, "other")
    cert, key = ours.issue("serving", "localhost", serving=True)
    ours.issue("root", "root", ("system:masters",))
    ours.issue("ann", "ann", ("blue", "green"))
    ours.issue("manager", "system:kube-controller-manager")
    others.issue("foreign", "ann", ("system:masters",))
    tokens = folder / "tokens.csv"
    tokens.write_text(TOKENS)
    args = ["serve", "--port=0", f"--tls-cert-file={cert}", f"--tls-private-key-file={key}"]
    args += [f"--client-ca-file={ours.file}", f"--token-auth-file={tokens}", *flags]
    with subprocess.Popen(command(*args), stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().removeprefix("serving on ").strip()
        assert url.startswith("https://"), url
        try:
            yield Secured(url, folder, kubeconfig(folder, url, ours.file))
        finally:
            running.terminate()


def kubeconfig(folder: Path, url: str, ca: Path, current: str = "root") -> Path:
    """Write a kubeconfig with a context for each credential, of which one is current."""
    tool = folder / "credential"
    tool.write_text(TOOL)
    tool.chmod(0o700)
    users: dict[str, object] = {
        name: {"client-certificate": str(folder / f"{name}.crt"), "client-key": str(folder / f"{name}.key")}
        for name in ("root", "ann", "manager", "foreign")
    }
    users |= {"root-token": {"token": "root-token"}, "ann-token": {"token": "ann-token"}}
    users |= {"wrong-token": {"token": "wrong"}}
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(tool), "interactiveMode": "Never"}
    users["ann-exec"] = {"exec": plugin}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url, "certificate-authority": str(ca)}}],
        "users": [{"name": name, "user": user} for name, user in users.items()],
        "contexts": [{"name": name, "context": {"cluster": "c", "user": name}} for name in users],
        "current-context": current,
    }
    path = folder / f"{current}.kubeconfig"
    path.write_text(json.dumps(config))
    return path
