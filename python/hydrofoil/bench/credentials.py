"""Credentials from a program (client-go `exec` plug-ins)."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from hydrofoil.outbound.kubeconfig import Access

PATIENCE = 60.0
"""Seconds that a plug-in may take."""


def execute_plugin(access: Access) -> Access:
    """Return the server with the credentials that its plug-in prints, if it has one. Raise ValueError with one line."""
    plugin: dict[str, Any] = access.plugin
    if not plugin:
        return access
    command = str(plugin.get("command", ""))
    if "/" in command:
        command = str(access.folder / command)
    variables = {str(v.get("name")): str(v.get("value", "")) for v in plugin.get("env") or ()}
    info = {"kind": "ExecCredential", "apiVersion": plugin.get("apiVersion"), "spec": {"interactive": False}}
    environment = {**os.environ, "KUBERNETES_EXEC_INFO": json.dumps(info), **variables}
    try:
        line = [command, *map(str, plugin.get("args") or ())]
        done = subprocess.run(line, env=environment, stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
        status = json.loads(done.stdout)["status"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as e:
        raise ValueError(
            f"the plug-in {command!r} of the kubeconfig gives no credentials: {type(e).__name__}"
        ) from None
    certificate, key = status.get("clientCertificateData", ""), status.get("clientKeyData", "")
    header = f"Bearer {status['token']}" if status.get("token") else access.authorization
    return access._replace(
        certificate=certificate.encode() or access.certificate, key=key.encode() or access.key, authorization=header
    )
