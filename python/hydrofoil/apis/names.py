"""Forms of names (apimachinery `util/validation`)."""

from __future__ import annotations

import re

from hydrofoil.go_text import quote

LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{LABEL}(\.{LABEL})*"
PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_LABEL, _SUBDOMAIN, _PATH = re.compile(LABEL), re.compile(SUBDOMAIN), re.compile(PATH)
NO_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and"
    f" end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{SUBDOMAIN}')"
)


def label(name: str) -> bool:
    """Report whether a name is a DNS label, as the names of namespaces."""
    return len(name) <= 63 and _LABEL.fullmatch(name) is not None


def subdomain(name: str) -> bool:
    """Report whether a name is a DNS subdomain, as most names of objects."""
    return len(name) <= 253 and _SUBDOMAIN.fullmatch(name) is not None


NODE, ACCOUNT = "system:node:", "system:serviceaccount:"
NODE_OF_ACCOUNT = "authentication.kubernetes.io/node-name"
"""The extra field with the node that a service account's token is bound to."""


def account_of(name: str) -> tuple[str, str] | None:
    """Return namespace and name of a service account's user (`serviceaccount.SplitUsername`)."""
    parts = name.removeprefix(ACCOUNT).split(":")
    if not name.startswith(ACCOUNT) or len(parts) != 2 or not label(parts[0]) or not subdomain(parts[1]):
        return None
    return parts[0], parts[1]


def node_of(name: str) -> str | None:
    """Return the node of a node's user."""
    node = name.removeprefix(NODE)
    return node if name.startswith(NODE) and subdomain(node) else None


def domain_prefixed(path: str, field: str) -> list[str]:
    """Return the errors of a field that should be a path with a domain in front (`IsDomainPrefixedPath`)."""

    def invalid(value: str, why: str) -> str:
        return f"{field}: Invalid value: {quote(value)}: {why}"

    host, _, rest = path.partition("/")
    if not host or not rest:
        return [invalid(path, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    found = []
    if len(host) > 253:
        found.append(invalid(host, "must be no more than 253 characters"))
    if _SUBDOMAIN.fullmatch(host) is None:
        found.append(invalid(host, NO_SUBDOMAIN))
    if _PATH.fullmatch(rest) is None:
        found.append(invalid(rest, f"Invalid path (regex used for validation is '{PATH}')"))
    return found
