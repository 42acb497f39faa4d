"""Kubeconfigs: of a server whose address needs no certificate of ours, and of a user with a token."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydrofoil.request import ADMIN
from hydrofoil.server.certificates import Certificates
from hydrofoil.server.config import Config
from hydrofoil.server.identity import write_private
from hydrofoil.server.listening import StartError, reason
from hydrofoil.server.part import Site

if TYPE_CHECKING:
    from hydrofoil.authentication.guests import Guests


class Kubeconfigs:
    """The kubeconfigs of one server."""

    def __init__(self, config: Config, site: Site, certificates: Certificates, guests: Guests | None) -> None:
        self._config = config
        self._site = site
        self._certificates = certificates
        self._guests = guests

    def reach(self, name: str) -> tuple[str, str | None]:
        """Return the URL and the authority in the kubeconfig of a user of a test."""
        assert self._guests is not None
        in_memory = self._certificates.in_memory
        if in_memory is None or (name == ADMIN.name and not self._guests.required):
            # Without credentials it is the same user.
            return reachable(self._site.url), self._site.root_ca.decode() or None
        return reachable(f"https://{self._site.authority}"), in_memory.authority

    def _admin(self) -> str:
        """Return the text of the kubeconfig of the administrator."""
        url, identity, given = reachable(self._site.address), self._certificates.identity, self._config.tls_cert_file
        if identity is not None:
            return identity.kubeconfig(url)
        if not self._config.kubeconfig or self._guests is None:
            return kubeconfig(url, given)
        # A server of a test knows its own users alone.
        token = self._guests.token(ADMIN.name, ADMIN.groups)
        secure, ca = self.reach(ADMIN.name)
        if self._certificates.in_memory is not None and ca:
            return json.dumps(of_token(secure, ca, ADMIN.name, token), indent=2) + "\n"
        return kubeconfig(url, given, token)

    async def write(self) -> str:
        """Write those that the flags ask for; return the path of the first one, empty if there is none.

        Raise StartError.
        """
        identity = self._certificates.identity
        places = [Path(self._config.kubeconfig)] if self._config.kubeconfig else []
        if identity is not None:
            places.append(identity.folder / "admin.conf")
        if not places:
            return ""
        text = self._admin()
        for place in places:
            try:
                await asyncio.to_thread(write_private, place, text)
            except OSError as e:
                raise StartError(
                    f"cannot write the kubeconfig {place}: {reason(e)} (--kubeconfig takes a file)"
                ) from None
        return str(places[0])


def kubeconfig(url: str, ca_file: str, token: str = "admin") -> str:
    """Return a kubeconfig with the address of a server, and its authority if it has one in a file.

    A server that asks for no credentials takes any token.
    """
    ca = f"    certificate-authority: {Path(ca_file).absolute()}\n" if ca_file else ""
    return (
        "apiVersion: v1\nkind: Config\nclusters:\n- name: hydrofoil\n  cluster:\n"
        f"    server: {url}\n{ca}"
        f"users:\n- name: admin\n  user:\n    token: {token}\n"
        "contexts:\n- name: hydrofoil\n  context:\n    cluster: hydrofoil\n    user: admin\n"
        "current-context: hydrofoil\n"
    )


def reachable(url: str) -> str:
    """Return the URL for clients, which do not connect to the address that stands for all."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def of_token(url: str, ca: str | None, name: str, token: str) -> dict[str, Any]:
    """Return the kubeconfig of a user with a token; `ca` is the authority of the server, in PEM."""
    cluster: dict[str, Any] = {"server": url}
    if ca is not None:
        cluster["certificate-authority-data"] = base64.b64encode(ca.encode()).decode()
    context = {"cluster": "hydrofoil", "user": name, "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "hydrofoil", "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": "hydrofoil", "context": context}],
        "current-context": "hydrofoil",
    }
