"""Kubeconfigs: of a server whose address needs no certificate of ours, and of a user with a token."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any


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
