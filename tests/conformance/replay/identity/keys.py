"""Keys and certificates, made with openssl."""

from __future__ import annotations

import base64
import hashlib
import subprocess
from pathlib import Path

from tests.conformance.replay.identity.people import CERTIFICATES, CSRS, Validity

UID = "1.3.6.1.4.1.57683.2"
"""The attribute of a subject that has a user's uid."""
AUTHORITIES = ("client-ca", "other-ca", "front-ca", "helper-ca")


def openssl(*args: str, data: bytes | None = None) -> bytes:
    """Run openssl and return its output; raises RuntimeError with its message."""
    done = subprocess.run(["openssl", *args], input=data, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"openssl {' '.join(args)}: {done.stderr.decode()}")
    return done.stdout


def make(folder: Path) -> None:
    """Make every key and certificate in a folder."""
    for name in AUTHORITIES:
        _authority(folder, name)
    _key(folder, "inter-ca")
    _certify(folder, "inter-ca", "client-ca", "/CN=inter-ca", "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign")
    for name in ("helper", "serving", "second"):
        _key(folder, name)
        extensions = "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth"
        _certify(folder, name, "helper-ca", f"/CN={name}", extensions)
    for name, (ca, subject, usage, valid, chain) in CERTIFICATES.items():
        _key(folder, name)
        extensions = "basicConstraints=CA:FALSE" + (f"\nextendedKeyUsage={usage}" if usage else "")
        _certify(folder, name, ca, subject, extensions, valid)
        if chain:
            with (folder / f"{name}.crt").open("a") as file:
                file.write((folder / f"{ca}.crt").read_text())
    for name in ("sa", "jwt", "stray"):
        openssl("genrsa", "-out", str(folder / f"{name}.key"), "2048")
        openssl("rsa", "-in", str(folder / f"{name}.key"), "-pubout", "-out", str(folder / f"{name}.pub"))
    openssl("pkey", "-in", _key(folder, "ec"), "-pubout", "-out", str(folder / "ec.pub"))
    for name, subject in CSRS.items():
        request = str(folder / f"{name}.csr")
        openssl("req", "-new", "-key", str(folder / "alice.key"), "-subj", subject, "-out", request)


def _key(folder: Path, name: str) -> str:
    path = str(folder / f"{name}.key")
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)
    return path


def _authority(folder: Path, name: str) -> None:
    certificate = str(folder / f"{name}.crt")
    key = _key(folder, name)
    openssl("req", "-x509", "-new", "-key", key, "-days", "30", "-subj", f"/CN={name}", "-out", certificate)


def _certify(folder: Path, name: str, ca: str, subject: str, extensions: str, valid: Validity = 30) -> None:
    """Make NAME.crt for NAME.key by `openssl ca`, the only command that takes a past or future time."""
    index = folder / "ca.index"
    index.write_text("")
    config = folder / "ca.cnf"
    config.write_text(
        f"oid_section=o\n[o]\nuserUid={UID}\n[ca]\ndefault_ca=c\n[c]\ndatabase={index}\nnew_certs_dir={folder}\n"
        "rand_serial=yes\ndefault_md=sha256\npolicy=p\n"
        f"unique_subject=no\npreserve=yes\n[p]\ncommonName=optional\n[e]\n{extensions}\n[req]\ndistinguished_name=d\n[d]\n"
    )
    request, key = folder / f"{name}.csr", str(folder / f"{name}.key")
    subjects = ["-config", str(config), "-key", key, "-subj", subject]
    openssl("req", "-new", "-utf8", *subjects, "-out", str(request))
    times = ["-days", str(valid)] if isinstance(valid, int) else ["-startdate", valid[0], "-enddate", valid[1]]
    files = ["-cert", str(folder / f"{ca}.crt"), "-keyfile", str(folder / f"{ca}.key"), "-in", str(request)]
    out = ["-out", str(folder / f"{name}.crt"), "-notext", "-batch", "-preserveDN", "-utf8"]
    openssl("ca", "-config", str(config), "-extensions", "e", *files, *times, *out)
    for path in [request, *folder.glob("*.pem"), *folder.glob("ca.*")]:
        path.unlink()


def encode(raw: bytes) -> str:
    """Return bytes as JWTs have them: base64 of URLs, without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def public(folder: Path, name: str) -> bytes:
    """Return the public part of a key, in DER."""
    return openssl("pkey", "-in", str(folder / f"{name}.key"), "-pubout", "-outform", "DER")


def modulus(folder: Path, name: str) -> bytes:
    """Return the modulus of an RSA key."""
    line = openssl("rsa", "-in", str(folder / f"{name}.key"), "-noout", "-modulus").decode()
    return bytes.fromhex(line.strip().partition("=")[2])


def key_id(folder: Path, name: str) -> str:
    """Return the id that kube-apiserver gives a key: the hash of its DER."""
    return encode(hashlib.sha256(public(folder, name)).digest())
