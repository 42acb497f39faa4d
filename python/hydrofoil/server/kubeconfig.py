"""The kubeconfig for a server whose address needs no certificate of ours."""

from __future__ import annotations

from pathlib import Path


def kubeconfig(url: str, ca_file: str) -> str:
    """Return a kubeconfig with the address of a server, and its authority if it has one in a file."""
    ca = f"    certificate-authority: {Path(ca_file).absolute()}\n" if ca_file else ""
    return (
        "apiVersion: v1\nkind: Config\nclusters:\n- name: hydrofoil\n  cluster:\n"
        f"    server: {url}\n{ca}"
        "users:\n- name: admin\n  user:\n    token: admin\n"
        "contexts:\n- name: hydrofoil\n  context:\n    cluster: hydrofoil\n    user: admin\n"
        "current-context: hydrofoil\n"
    )
