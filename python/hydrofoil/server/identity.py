"""The certificates that a server makes for itself, in a folder: authority, server, and the admin's kubeconfig."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import socket
from base64 import b64encode
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from msgspec import Struct

from hydrofoil import engine
from hydrofoil.server import bootstrap
from hydrofoil.server.kubeconfig_file import cluster_of, kubeconfig, replace

ADMIN = ("kubernetes-admin", "system:masters")
"""Name and group of the admin's certificate."""
SERVICE = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
LOCAL = ("localhost", "127.0.0.1", "::1")
AUTHORITY_SECONDS = 9 * 365 * 86_400
"""Less than the life of an authority, ten years: one that began so long ago is usable."""
END = "-----END CERTIFICATE-----"


class Identity(Struct, frozen=True):
    """The files of one server."""

    folder: Path
    authority: bytes
    """The certificate of the authority, in PEM."""
    admin: tuple[str, str]
    """Certificate and key of the admin, in PEM."""

    @property
    def cert(self) -> str:
        """Return the path of the server's certificate."""
        return str(self.folder / "apiserver.crt")

    @property
    def key(self) -> str:
        """Return the path of its key."""
        return str(self.folder / "apiserver.key")

    def kubeconfig(self, url: str) -> dict[str, Any]:
        """Return a kubeconfig of the admin that needs no other file."""
        certificate, key = (b64encode(half.encode()).decode() for half in self.admin)
        return kubeconfig(
            cluster_of(url, self.authority), {"client-certificate-data": certificate, "client-key-data": key}
        )


def own_names(host: str, ranges: str) -> list[str]:
    """Return the names and addresses of a server's certificate; `ranges` are those of cluster IPs."""
    found = [*SERVICE, *LOCAL]
    for part in ranges.split(","):
        with contextlib.suppress(ValueError):
            found.append(str(ip_network(part.strip(), strict=False)[1]))
    found += [address for address in map(bootstrap.advertised_address, (4, 6)) if address not in bootstrap.EXAMPLES]
    if host not in ("", "0.0.0.0", "::"):
        found.append(host)
    own = socket.gethostname().lower()
    if re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", own):
        found.append(own)
    return list(dict.fromkeys(found))


def identity(place: Path, names: list[str], now: int, machine: int) -> Identity:
    """Return the identity in a folder; make whatever is absent, about to expire, or for other names.

    The admin's certificate is judged at the server's time, `now`, and the server's own by clients, at that of the
    machine; the authority is valid at both, if they are less than nine years apart. Several servers may do this at
    once. Raise OSError or ValueError.
    """
    begin = max(min(now, machine), machine - AUTHORITY_SECONDS)
    place.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        place.mkdir(mode=0o700)
    with _lock_folder(place / ".lock"):
        authority = _pair(place, "ca")
        if not all(engine.usable_certificate(*authority, b"", [], None, at) for at in (begin, machine)):
            authority = engine.new_authority(begin)
            _keep(place, "ca", authority)
        root, secret = (half.encode() for half in authority)
        server = _pair(place, "apiserver")
        if not engine.usable_certificate(*server, root, names, None, machine):
            server = engine.new_certificate(secret, names, None, machine)
        whole = chain(server[0], authority[0]), server[1]
        if whole != _pair(place, "apiserver"):
            _keep(place, "apiserver", whole)
        admin = _pair(place, "admin")
        if not engine.usable_certificate(*admin, root, [], ADMIN, now):
            admin = engine.new_certificate(secret, [], ADMIN, now)
            _keep(place, "admin", admin)
    return Identity(place, root, admin)


def chain(certificate: str, authority: str) -> str:
    """Return the first certificate of a text with its authority behind it, in PEM (client-go `util/cert/cert.go`).

    A client that takes the file as its authority then trusts the server.
    """
    first, end, _ = certificate.partition(END)
    return f"{first}{end}\n{authority}"


def given_pair(place: Path) -> tuple[str, str]:
    """Return the paths of a certificate and key that others put into the folder; empty if there are none.

    As upstream, `apiserver.crt` and `apiserver.key` are served as they are (`MaybeDefaultWithSelfSignedCerts`). In a
    folder with an authority of this server they are its own.
    """
    cert, key = place / "apiserver.crt", place / "apiserver.key"
    if (place / "ca.key").exists() or not (cert.exists() and key.exists()):
        return "", ""
    return str(cert), str(key)


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step by one that only its owner may read, at any moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, text.encode(), None)


@contextlib.contextmanager
def _lock_folder(path: Path) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _pair(place: Path, name: str) -> tuple[str, str]:
    """Return certificate and key; empty if one is absent or is no text."""
    try:
        key = place / f"{name}.key"
        found = (place / f"{name}.crt").read_text(), key.read_text()
        if key.stat().st_mode & 0o077:
            key.chmod(0o600)
    except (FileNotFoundError, UnicodeDecodeError):
        return "", ""
    return found


def _keep(place: Path, name: str, pair: tuple[str, str]) -> None:
    certificate, key = pair
    write_private(place / f"{name}.key", key)
    write_private(place / f"{name}.crt", certificate)
    # Clients need the certificates, which are no secret.
    (place / f"{name}.crt").chmod(0o644)
