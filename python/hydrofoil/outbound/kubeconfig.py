"""Kubeconfig files of webhooks (client-go `tools/clientcmd`)."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from hydrofoil import engine
from hydrofoil.outbound.target import Target
from hydrofoil.outbound.trust import Trust, Unreachable

LARGEST = 1 << 20
"""The greatest size in bytes of a file that a kubeconfig names, and of itself."""
UNSUPPORTED = ("exec", "auth-provider", "as", "as-uid", "as-groups", "as-user-extra")
Object = dict[str, Any]


class Access(NamedTuple):
    """A server as a kubeconfig names it."""

    url: str
    ca: bytes
    """The authorities to trust; empty for those of the machine."""
    insecure: bool
    certificate: bytes
    key: bytes
    authorization: str
    """The header; empty without one."""
    server_name: str
    """The name in the server's certificate, if it is not the host's."""
    plugin: Object
    """The program that prints the credentials; empty if there is none."""
    folder: Path
    """The folder of the kubeconfig."""


def access(path: str, context: str = "") -> Access:
    """Return the server of a context, or of the current one. Raise ValueError with one line. It blocks."""
    document = _document(path, current=not context)
    chosen = _entry_named(document, "contexts", "context", context or _text(document, "current-context"))
    cluster = _entry_named(document, "clusters", "cluster", _text(chosen, "cluster"))
    user = _entry_named(document, "users", "user", _text(chosen, "user")) if _text(chosen, "user") else {}
    folder, plugin = Path(path).parent, user.get("exec")
    plugin = plugin if isinstance(plugin, dict) else {}
    try:
        _check(cluster, {key: value for key, value in user.items() if key != "exec"})
        certificate, key = _content(folder, user, "client-certificate"), _content(folder, user, "client-key")
        if bool(certificate) != bool(key):
            raise ValueError("client-certificate and client-key must be specified together")
        ca, insecure = (
            _content(folder, cluster, "certificate-authority"),
            cluster.get("insecure-skip-tls-verify") is True,
        )
        header, name = _authorization(folder, user), _text(cluster, "tls-server-name")
        return Access(_text(cluster, "server"), ca, insecure, certificate, key, header, name, plugin, folder)
    except ValueError as e:
        raise ValueError(f"invalid configuration: {path}: {e}") from None


def read(path: str) -> Target:
    """Return the server that the current context of a kubeconfig names. Raise ValueError with one line.

    It blocks: read it at start, or off the loop.
    """
    document = _document(path)
    context = _entry_named(document, "contexts", "context", _text(document, "current-context"))
    cluster = _entry_named(document, "clusters", "cluster", _text(context, "cluster"))
    user = _entry_named(document, "users", "user", _text(context, "user")) if _text(context, "user") else {}
    try:
        return _target(Path(path).parent, cluster, user)
    except ValueError as e:
        raise ValueError(f"invalid configuration: {path}: {e}") from None


def users(path: str) -> dict[str, tuple[str, bytes, bytes]]:
    """Return header, certificate and key of each user of a kubeconfig. Raise ValueError with one line; it blocks."""
    folder = Path(path).parent
    listed = _document(path, current=False).get("users")
    found: dict[str, tuple[str, bytes, bytes]] = {}
    for entry in listed if isinstance(listed, list) else ():
        user = entry.get("user") if isinstance(entry, dict) else None
        if not isinstance(user, dict):
            continue
        if wrong := next((key for key in UNSUPPORTED if user.get(key)), None):
            raise ValueError(f"{wrong} is not supported for the user")
        certificate, key = _content(folder, user, "client-certificate"), _content(folder, user, "client-key")
        found[_text(entry, "name")] = (_authorization(folder, user), certificate, key)
    return found


def _target(folder: Path, cluster: Object, user: Object) -> Target:
    url = _check(cluster, user)
    insecure = cluster.get("insecure-skip-tls-verify") is True
    ca = _content(folder, cluster, "certificate-authority")
    if ca and insecure:
        raise ValueError("specifying a root certificates file with the insecure flag is not allowed")
    certificate, key = _content(folder, user, "client-certificate"), _content(folder, user, "client-key")
    if bool(certificate) != bool(key):
        raise ValueError("client-certificate and client-key must be specified together")
    trust = Trust(ca, insecure, certificate, key)
    try:
        # A pair or bundle that cannot be used refuses the start.
        trust.context()
    except Unreachable as e:
        raise ValueError(str(e)) from None
    return Target(url, trust, _authorization(folder, user), _text(cluster, "tls-server-name"))


def _check(cluster: Object, user: Object) -> str:
    """Return the URL of a cluster. Raise ValueError for a setting that is missing or not supported."""
    url = _text(cluster, "server")
    if not url:
        raise ValueError("no server found for the cluster")
    if not url.startswith(("https://", "http://")):
        raise ValueError("the server must be an https:// or http:// URL")
    if _text(cluster, "proxy-url"):
        raise ValueError("proxy-url is not supported")
    if found := next((key for key in UNSUPPORTED if user.get(key)), None):
        raise ValueError(f"{found} is not supported for the user")
    return url


def _authorization(folder: Path, user: Object) -> str:
    """Return the Authorization header; empty without one. The file of a token precedes the token, as upstream."""
    token, name = _text(user, "token"), _text(user, "username")
    if file := _text(user, "tokenFile"):
        token = _file(folder / file).decode(errors="replace").strip()
    if token and name:
        raise ValueError("more than one authentication method found; only one allowed")
    if name:
        pair = f"{name}:{_text(user, 'password')}".encode()
        return "Basic " + base64.b64encode(pair).decode()
    header = f"Bearer {token}" if token else ""
    if any(ord(c) < 32 or ord(c) == 127 for c in header):
        raise ValueError("the token has a control character")
    return header


def _document(path: str, *, current: bool = True) -> Object:
    try:
        data = _file(Path(path))
    except ValueError as e:
        raise ValueError(f"error loading config file {path}: {e}") from None
    try:
        document = orjson.loads(engine.yaml_to_json(data))
    except (engine.DecodeError, ValueError) as e:
        line = " ".join(str(e).split())
        raise ValueError(f'error loading config file "{path}": {line}') from None
    if not isinstance(document, dict) or document.get("kind") not in (None, "", "Config"):
        raise ValueError(f'error loading config file "{path}": not a Config')
    if current and not _text(document, "current-context"):
        raise ValueError(f"invalid configuration: {path}: no current-context is set")
    return document


def _entry_named(document: Object, plural: str, singular: str, name: str) -> Object:
    listed = document.get(plural)
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and entry.get("name") == name:
            found = entry.get(singular)
            return found if isinstance(found, dict) else {}
    if singular == "context":
        raise ValueError(f"invalid configuration: context was not found for specified context: {name}")
    raise ValueError(f'invalid configuration: {singular} "{name}" does not exist')


def _text(found: Object, key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""


def _content(folder: Path, found: Object, key: str) -> bytes:
    """Return what `key-data` or the file of `key` has; the data precedes."""
    if data := _text(found, f"{key}-data"):
        try:
            return base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            raise ValueError(f"{key}-data is not base64") from None
    if path := _text(found, key):
        try:
            return _file(folder / path)
        except ValueError as e:
            raise ValueError(f"unable to read {key} {path} due to {e}") from None
    return b""


def _file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as e:
        raise ValueError(f"open {path}: {(e.strerror or 'cannot be read').lower()}") from None
    if len(data) > LARGEST:
        raise ValueError(f"{path} is larger than {LARGEST} bytes")
    return data
