"""The checks of an encryption configuration (apiserver `pkg/apis/apiserver/validation/validation_encryption.go`)."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

import orjson

from hydrofoil.errors import aggregate
from hydrofoil.go_text import quote
from hydrofoil.storage.encryption.document import Object, decode_document

PROVIDERS = {"AESGCM": "aesgcm", "AESCBC": "aescbc", "Secretbox": "secretbox", "Identity": "identity", "KMS": "kms"}
"""The providers by the names of Go's members, in their order."""
SIZES = {"aesgcm": (16, 24, 32), "aescbc": (16, 24, 32), "secretbox": (32,)}
"""The sizes of keys in bytes."""
ANY = ("*", "*")
LIMIT = 3.0
"""The time in seconds that a plug-in has for an answer by default."""
OLD = (
    "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set"
    " --feature-gates=KMSv1=true to use the deprecated KMSv1 feature."
)
_URL = re.compile(r"(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?://[^/?#]*)?([^?#]*)")


def settings(data: bytes, path: str, server: str = "", *, reload: bool = False) -> str:
    """Return the settings of the engine for a configuration. `reload`: it may be replaced later.

    Raise ValueError with upstream's message in one line, without keys.
    """
    try:
        whole = decode_document(data, path)
        entries = whole.get("resources") or []
        problems = _problems(entries, reload)
        if problems:
            raise ValueError(aggregate(problems))
    except ValueError as e:
        raise ValueError(f"error while parsing file: {e}") from None
    if any((each.get("kms") or {}).get("apiVersion", "v1") == "v1" for each in _providers(entries) if each.get("kms")):
        raise ValueError(f"error while building transformers: {OLD}")
    made = [
        {"resources": entry["resources"], "providers": [_setting(provider) for provider in entry["providers"]]}
        for entry in entries
    ]
    return orjson.dumps({"server": server, "resources": made}).decode()


def _providers(entries: list[Object]) -> list[Object]:
    return [provider for entry in entries for provider in entry.get("providers") or []]


def _setting(provider: Object) -> Any:
    """Return one provider as the engine reads it."""
    name = next(name for name in PROVIDERS.values() if provider.get(name) is not None)
    given = provider[name]
    if name == "identity":
        return name
    if name != "kms":
        # As in Go, lines of a text of base64 may be broken.
        keys = given["keys"]
        return {name: [{**key, "secret": re.sub(r"[\r\n]", "", key["secret"])} for key in keys]}
    _, path = _url(given["endpoint"])
    timeout = given.get("timeout")
    return {
        name: {
            "name": given["name"],
            # A socket in the abstract namespace of Linux has no file.
            "path": path.removeprefix("/") if path.startswith("/@") else path,
            "timeout": LIMIT if timeout is None else timeout,
        }
    }


def _url(endpoint: str) -> tuple[str, str]:
    """Return scheme and path. Raise ValueError with Go's message."""
    if any(ord(c) < 32 or ord(c) == 127 for c in endpoint):
        raise ValueError(f"parse {quote(endpoint)}: net/url: invalid control character in URL")
    if endpoint.startswith(":"):
        raise ValueError(f"parse {quote(endpoint)}: missing protocol scheme")
    if bad := re.search(r"%(?![0-9a-fA-F]{2}).{0,2}", endpoint):
        raise ValueError(f"parse {quote(endpoint)}: invalid URL escape {quote(bad[0])}")
    found = _URL.match(endpoint)
    assert found is not None, "every part may be empty"
    return (found[1] or "").lower(), re.sub(r"%([0-9a-fA-F]{2})", lambda m: chr(int(m[1], 16)), found[2])


def _group_resource(text: str) -> tuple[str, str]:
    """Return group and resource of `deployments.apps` (`schema.ParseGroupResource`)."""
    resource, _, group = text.partition(".")
    return group, resource


def _problems(entries: list[Object], reload: bool) -> list[str]:
    if not entries:
        return ["resources: Required value: at least one resources is required"]
    found: list[str] = []
    plugins: set[str] = set()
    for at, entry in enumerate(entries):
        resources, providers = (f"resources[{at}].{part}" for part in ("resources", "providers"))
        names = [name or "" for name in (entry or {}).get("resources") or []]
        if not names:
            found.append(f"{resources}: Required value: at least one {resources} is required")
        found += _overlaps(names, resources)
        for place, name in enumerate(names):
            if why := _name_problem(name):
                found.append(f"{resources}[{place}]: Invalid value: {quote(name)}: {why}")
        given = (entry or {}).get("providers") or []
        if not given:
            found.append(f"{providers}: Required value: at least one {providers} is required")
        for place, provider in enumerate(given):
            found += _provider_problems(provider or {}, f"{providers}[{place}]", plugins, reload)
    return found


def _overlaps(names: list[str], path: str) -> list[str]:
    """Return the problems of resources beside each other."""
    parsed = [_group_resource(name) for name in names]
    pairs = [(one, other) for i, one in enumerate(parsed) for j, other in enumerate(parsed) if i != j]
    # The first pair of equal resources is seen once, and its mirror image as an overlap.
    twice = [pair for pair in pairs if pair[0] == pair[1]]
    others = [pair for pair in pairs if pair[0] != pair[1]] + twice[1:]
    overlap = any(one == ANY or (one[0] == other[0] and "*" in (one[1], other[1])) for one, other in others)
    shown = f"{path}: Invalid value: {orjson.dumps(names).decode()}: "
    found = []
    if twice:
        found.append(f"{shown}the same resource cannot be specified multiple times")
    if overlap:
        text = "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as"
        found.append(f"{shown}{text} they will be masked")
    return found


def _name_problem(name: str) -> str:
    """Return why a resource cannot be encrypted; empty if it can."""
    group, resource = _group_resource(name)
    if name.lower() != name:
        return "resource name should not contain capital letters"
    if name == "*":
        return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
    if name in ("apiserveripinfo", "serviceipallocations", "servicenodeportallocations"):
        return "resources which do not have REST API/s cannot be encrypted"
    if group == "events.k8s.io":
        text = "'*.events.k8s.io' objects are stored using the 'events' API group in etcd."
        return f"{text} Use 'events' instead in the config file"
    if group == "extensions":
        return "'extensions' group has been removed and cannot be used for encryption"
    if group == "*" and resource != "*":
        return "encrypting the same resource across groups is not supported"
    return ""


def _provider_text(provider: Object) -> str:
    """Return a provider as upstream shows it, but without its keys."""
    found: Object = {}
    for shown, name in PROVIDERS.items():
        given = provider.get(name)
        if given is not None and name in SIZES:
            keys = [{"Name": key.get("name") or "", "Secret": "REDACTED"} for key in given.get("keys") or []]
            found[shown] = {"Keys": keys}
        else:
            found[shown] = None if given is None else {}
    return orjson.dumps(found).decode()


def _provider_problems(provider: Object, path: str, plugins: set[str], reload: bool) -> list[str]:
    given = [name for name in PROVIDERS.values() if provider.get(name) is not None]
    found = []
    if not given:
        text = "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"
        return [f"{path}: Invalid value: {_provider_text(provider)}: {text}"]
    if len(given) > 1:
        text = "more than one provider specified in a single element, should split into different list elements"
        found.append(f"{path}: Invalid value: {_provider_text(provider)}: {text}")
    # Of several ones, upstream looks at the first in this order.
    name = next(name for name in ("kms", "aesgcm", "aescbc", "secretbox", "identity") if name in given)
    if name == "kms":
        found += _kms_problems(provider[name], f"{path}.kms", plugins, reload)
    elif name != "identity":
        found += _key_problems(provider[name].get("keys") or [], f"{path}.{name}.keys", SIZES[name])
    return found


def _key_problems(keys: list[Object | None], path: str, sizes: tuple[int, ...]) -> list[str]:
    if not keys:
        return [f"{path}: Required value: at least one keys is required"]
    found = []
    for at, key in enumerate(keys):
        name, secret = ((key or {}).get(member) or "" for member in ("name", "secret"))
        if not name:
            found.append(f"{path}[{at}].name: Required value: name is a mandatory field for a key")
        where = f"{path}[{at}].secret"
        if not secret:
            found.append(f"{where}: Required value: secret is a mandatory field for a key")
            continue
        try:
            size = len(base64.b64decode(secret.replace("\r", "").replace("\n", ""), validate=True))
        except (binascii.Error, ValueError):
            found.append(f'{where}: Invalid value: "REDACTED": secrets must be base64 encoded')
            continue
        if size not in sizes:
            text = f"secret is not of the expected length, got {size}, expected one of [{' '.join(map(str, sizes))}]"
            found.append(f'{where}: Invalid value: "REDACTED": {text}')
    return found


def _kms_problems(given: Object, path: str, plugins: set[str], reload: bool) -> list[str]:
    name, endpoint = given.get("name") or "", given.get("endpoint") or ""
    version, cache, timeout = given.get("apiVersion") or "v1", given.get("cachesize"), given.get("timeout")
    found = []
    if not name:
        found.append(f"{path}.name: Required value: name is a mandatory field for a provider")
    if version != "v1" and ":" in name:
        text = f"invalid KMS provider name {name}, must not contain ':'"
        found.append(f"{path}.name: Invalid value: {quote(name)}: {text}")
    if (reload or version != "v1") and name in plugins:
        text = f"duplicate KMS provider name {name}, names must be unique"
        found.append(f"{path}.name: Invalid value: {quote(name)}: {text}")
    plugins.add(name)
    if timeout is not None and timeout <= 0:
        shown = quote(f"{timeout:g}s")
        found.append(f"{path}.timeout: Invalid value: {shown}: timeout should be a positive value")
    if not endpoint:
        found.append(f'{path}.endpoint: Invalid value: "": endpoint is a mandatory field for a kms')
    else:
        where = f"{path}.endpoint: Invalid value: {quote(endpoint)}: "
        try:
            scheme, _ = _url(endpoint)
        except ValueError as e:
            found.append(f"{where}invalid endpoint for kms provider, error: {e}")
        else:
            if scheme != "unix":
                found.append(f"{where}unsupported scheme {quote(scheme)} for KMS provider, only unix is supported")
    if version != "v1" and cache is not None:
        found.append(f"{path}.cachesize: Invalid value: {cache}: cachesize is not supported in v2")
    if version == "v1" and cache == 0:
        text = "cachesize should be a positive value, or negative to disable"
        found.append(f"{path}.cachesize: Invalid value: 0: {text}")
    if version not in ("v1", "v2"):
        text = "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported"
        found.append(f"{path}.apiVersion: Invalid value: {quote(version)}: {text}")
    return found
