"""Values of flags that do not fit together (kubeapiserver `options/authentication.go`, `Validate`)."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from hydrofoil.authentication.options import AccountOptions, AuthenticationOptions, CredentialOptions
from hydrofoil.go_text import quote

LEAST_LONGEST, MOST_LONGEST = 3600.0, float(1 << 32)
"""Bounds in seconds of the longest life of a token."""


def check(options: AuthenticationOptions) -> None:
    """Raise ValueError with one line for the first value that is not allowed."""
    _check_proxies(options)
    _check_accounts(options)


def _check_proxies(options: CredentialOptions) -> None:
    values: dict[str, Sequence[str]] = {
        "requestheader-username-headers": options.requestheader_username_headers,
        "requestheader-uid-headers": options.requestheader_uid_headers,
        "requestheader-group-headers": options.requestheader_group_headers,
        "requestheader-extra-headers-prefix": options.requestheader_extra_headers_prefix,
        "requestheader-allowed-names": options.requestheader_allowed_names,
    }
    for name, given in values.items():
        if not all(value.strip() for value in given):
            raise ValueError(f"empty value in {quote(name)}")


def _check_accounts(options: AccountOptions) -> None:
    seen = set()
    for issuer in options.service_account_issuers:
        if not issuer:
            raise ValueError("service-account-issuer should not be an empty string")
        if issuer in seen:
            raise ValueError(f"service-account-issuer {quote(issuer)} is already specified")
        seen.add(issuer)
    longest = options.service_account_max_token_expiration
    if longest and not LEAST_LONGEST <= longest <= MOST_LONGEST:
        raise ValueError("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds")
    if (uri := options.service_account_jwks_uri) and urlsplit(uri).scheme != "https":
        raise ValueError(f"service-account-jwks-uri requires https scheme, parsed as: {uri}")
