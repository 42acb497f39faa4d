"""The folder of keys: made once, changed by steps, restored at the end of a run; and the flags of a server for it.

DIR has, with `${dir}` for its place in the flags of a scenario:

    client-ca.crt       the CA of client certificates, NAME.crt and NAME.key (see CERTIFICATES)
    front-ca.crt        the CA of front proxies, for --requestheader-client-ca-file
    serving.crt, second.crt     serving certificates of the server, with their keys
    tokens.csv          static tokens
    NAME.csr            certificate requests (see CSRS), in base64 as ${csr_NAME} (and ${crt_alice})
    sa.key, sa.pub      the key of service account tokens; jwt.key is that of the issuers; stray.key belongs to nothing
    ec.key, ec.pub      an elliptic key for either; the issuers have it as their second one
    authentication.yaml, authorization.yaml, *.kubeconfig       configurations that point to the helper
    authentication-paths.yaml, authorization-brief.yaml         second ones
    NAME.kept           NAME as it was before a step `write` changed it
    port                the port of the helper
"""

from __future__ import annotations

import json
import socket
from pathlib import Path

from tests.conformance.replay.identity import configuration, keys
from tests.conformance.replay.identity.people import TOKENS
from tests.conformance.replay.paths import Object

ALWAYS = (
    "--allow-privileged --service-cluster-ip-range=10.0.0.0/24 --service-account-issuer=https://kubernetes.default.svc "
    "--service-account-signing-key-file=${dir}/sa.key --token-auth-file=${dir}/tokens.csv"
)
"""Flags beside those of a scenario's first line."""


def make(folder: Path, port: int = 0) -> None:
    """Write everything to a folder; `port` is that of the helper, a free one if 0."""
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    if not port:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    keys.make(folder)
    (folder / "tokens.csv").write_text(TOKENS)
    configuration.make(folder, f"https://127.0.0.1:{port}")
    (folder / "port").write_text(str(port))


def write(folder: Path, wanted: Object) -> None:
    """Give a file new content, in one move: {file, body}, {file, from: [FILE...]}, or {file}, which removes it.

    A body that is not text is written as JSON; `from` joins files as they were made.
    """
    path, kept, new = (folder / f"{wanted['file']}{suffix}" for suffix in ("", ".kept", ".new"))
    if not kept.exists():
        kept.write_bytes(path.read_bytes())
    if "from" in wanted:
        originals = [folder / f"{name}.kept" for name in wanted["from"]]
        text = b"".join((file if file.exists() else file.with_suffix("")).read_bytes() for file in originals)
    elif "body" in wanted:
        body = wanted["body"]
        text = (body if isinstance(body, str) else json.dumps(body, indent=1)).encode()
    else:
        path.unlink()
        return
    new.write_bytes(text)
    new.replace(path)


def restore(folder: Path) -> None:
    """Undo what steps have written."""
    for kept in folder.glob("*.kept"):
        kept.replace(kept.with_suffix(""))


def flags(folder: Path, scenarios: list[Path]) -> list[str]:
    """Return the flags of a server for scenarios whose first lines name the same ones; raises ValueError otherwise."""
    folder = folder.resolve()
    restore(folder)
    lines = {path.read_text("utf-8").splitlines()[0].partition("kube-apiserver flags: ")[2] for path in scenarios}
    if len(lines) != 1 or lines == {""}:
        raise ValueError(f"not one set of flags: {sorted(lines)}")
    line = f"{ALWAYS} {lines.pop()}"
    if "--service-account-key-file" not in line:
        line += " --service-account-key-file=${dir}/sa.pub"
    port = (folder / "port").read_text()
    return line.replace("${dir}", str(folder)).replace("${helper}", f"https://127.0.0.1:{port}").split()
