"""The kubeconfig of a user: a server adds its entries, and nothing is lost (client-go `tools/clientcmd/config.go`)."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from hydrofoil import engine

NAME = "hydrofoil"
"""The name of the cluster, the user and the context of a server."""
SECTIONS = ("clusters", "users", "contexts")
LOCK_TRIES, LOCK_SECONDS = 60, 0.05
"""How often a lock is tried, and the pause in between: as long as another program takes to write a file."""
Config = dict[str, Any]


def cluster_of(url: str, ca: bytes | None) -> Config:
    """Return the cluster of a server; `ca` is its authority, in PEM."""
    return {"server": url} if ca is None else {"server": url, "certificate-authority-data": b64encode(ca).decode()}


class Credentials(NamedTuple):
    """The token of a user, and the URL and the authority for its kubeconfig."""

    token: str
    url: str
    ca: str | None


def kubeconfig(cluster: Config, user: Config, name: str = NAME, **context: str) -> Config:
    """Return the kubeconfig of a server; `name` is that of the user, and `context` has more members of that.

    Cluster, user and context have one name in a user's own file, so that they replace no others.
    """
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": name, **context}}],
        "current-context": NAME,
    }


def write(path: Path, own: Config, *, set_context: bool = False) -> str:
    """Add cluster, user and context of a server to a file; return its current context.

    Raise OSError, and ValueError for a file that cannot be read as a kubeconfig: that stays as it is.
    """
    # A link stays one; what it leads to is replaced.
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    with lock(path):
        present = load(path)
        merged = merge(present, own, set_context=set_context)
        if merged != present:
            replace(path, engine.json_to_yaml(orjson.dumps(merged)), path.stat() if path.exists() else None)
    return str(merged["current-context"])


def load(path: Path) -> Config:
    """Return the content of a kubeconfig; nothing for one that is absent or empty. Raise OSError and ValueError."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ValueError("it is no regular file")
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    try:
        found = orjson.loads(engine.yaml_to_json(data)) if data.strip() else None
    except (ValueError, engine.DecodeError) as e:
        raise ValueError(f"it is no kubeconfig: {e}") from None
    if found is None:
        return {}
    if not isinstance(found, dict) or found.get("kind", "Config") != "Config":
        raise ValueError("it is no kubeconfig: it has another kind")
    for section in SECTIONS:
        entries = found.get(section) or []
        if not isinstance(entries, list) or not all(
            isinstance(e, dict) and isinstance(e.get("name"), str) for e in entries
        ):
            raise ValueError(f"it is no kubeconfig: {section} is no list of entries with names")
    return found


def merge(present: Config, own: Config, *, set_context: bool = False) -> Config:
    """Return a kubeconfig with the entries of a server in place of earlier ones of that name, and all others."""
    merged = {**present, "apiVersion": "v1", "kind": "Config"}
    for section in SECTIONS:
        others = [entry for entry in present.get(section) or [] if entry["name"] != NAME]
        merged[section] = [*others, *own[section]]
    if set_context or not present.get("current-context"):
        merged["current-context"] = NAME
    _remove_former_user(present, merged)
    return merged


def _remove_former_user(present: Config, merged: Config) -> None:
    """Remove the user that earlier versions named `admin`, unless a context of others has it."""
    users = {entry["name"]: _user_of(entry) for entry in present.get("contexts") or []}
    former = users.pop(NAME, None)
    if former not in (None, NAME) and former not in users.values():
        merged["users"] = [entry for entry in merged["users"] if entry["name"] != former]


def _user_of(entry: Config) -> Any:
    context = entry.get("context")
    return context.get("user") if isinstance(context, dict) else None


@contextlib.contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold the lock that kubectl takes: a file beside the kubeconfig. Raise OSError while another program has it."""
    place = path.with_name(f"{path.name}.lock")
    for left in reversed(range(LOCK_TRIES)):
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            break
        except FileExistsError:
            if not left:
                raise OSError(f"another program writes it, or has ended without removing {place}") from None
            threading.Event().wait(LOCK_SECONDS)
    try:
        yield
    finally:
        place.unlink(missing_ok=True)


def replace(path: Path, data: bytes, former: os.stat_result | None) -> None:
    """Replace a file in one step, with the mode and the owner of the former one; any other is its owner's alone."""
    # A file of that name is left from a process that has ended.
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if former is not None:
                # Only root may give a file away; others own it already.
                with contextlib.suppress(PermissionError):
                    os.fchown(file.fileno(), former.st_uid, former.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(former.st_mode))
                # There is something to lose in a crash.
                file.flush()
                os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def of_token(url: str, ca: str | None, name: str, token: str) -> dict[str, Any]:
    """Return the kubeconfig of a user with a token; `ca` is the authority of the server, in PEM."""
    cluster = cluster_of(url, None if ca is None else ca.encode())
    return kubeconfig(cluster, {"token": token}, name, namespace="default")
