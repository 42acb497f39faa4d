"""The flags of authentication (kubeapiserver `options/authentication.go`)."""

from __future__ import annotations

import re

from hydrofoil.go_text import quote
from hydrofoil.options import Options, Refused, Texts, anything, boolean, flag, once, pairs, seconds, words

EVERY: Texts = Texts()


def claims(text: str) -> dict[str, str]:
    """Read `claim=value,...`. Raise ValueError."""
    found = {}
    for key, value in pairs(text):
        if value is None:
            raise ValueError(f"{key} must be formatted as key=value")
        found[key] = value
    return found


def issuer(text: str) -> Texts:
    """Read the issuer of tokens, checked if it has the form of a URL (kubeapiserver `options/authentication.go`)."""
    if ":" not in text:
        return Texts((text,))
    from urllib.parse import urlsplit

    why = ""
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text) and not text.startswith("/"):
        first = "missing protocol scheme" if text.startswith(":") else "first path segment in URL cannot contain colon"
        why = first
    elif any(ord(c) < 32 or ord(c) == 127 for c in text):
        why = "net/url: invalid control character in URL"
    else:
        try:
            _ = urlsplit(text).port
        except ValueError as e:
            why = str(e)
    if why:
        what = f"service-account-issuer {quote(text)} contained a ':' but was not a valid URL"
        raise Refused(f"{what}: parse {quote(text)}: {why}")
    return Texts((text,))


class CredentialOptions(Options):
    """Certificates, static tokens, bootstrap tokens, front proxies and anonymous requests."""

    client_ca_file: str = flag(
        "--client-ca-file", "", anything, "accept client certificates that these authorities signed", value="FILE"
    )
    token_auth_file: str = flag(
        "--token-auth-file", "", anything, "static tokens, a line each: token,user,uid,groups", value="FILE"
    )
    enable_bootstrap_token_auth: bool = flag(
        "--enable-bootstrap-token-auth",
        False,
        boolean,
        "accept the bootstrap tokens in secrets of kube-system",
        value="BOOL",
    )
    anonymous_auth: bool | None = flag(
        "--anonymous-auth",
        None,
        boolean,
        "accept requests without credentials as system:anonymous (default true)",
        value="BOOL",
    )
    requestheader_client_ca_file: str = flag(
        "--requestheader-client-ca-file",
        "",
        anything,
        "believe the headers of proxies whose certificates these authorities signed",
        value="FILE",
    )
    requestheader_allowed_names: Texts = flag(
        "--requestheader-allowed-names", EVERY, words, "common names of these proxies (default any)", value="NAMES"
    )
    requestheader_username_headers: Texts = flag(
        "--requestheader-username-headers", EVERY, words, "headers with the user's name", value="HEADERS"
    )
    requestheader_uid_headers: Texts = flag(
        "--requestheader-uid-headers", EVERY, words, "headers with the user's uid", value="HEADERS"
    )
    requestheader_group_headers: Texts = flag(
        "--requestheader-group-headers", EVERY, words, "headers with the user's groups", value="HEADERS"
    )
    requestheader_extra_headers_prefix: Texts = flag(
        "--requestheader-extra-headers-prefix", EVERY, words, "prefixes of headers with extra fields", value="PREFIXES"
    )


class AccountOptions(Options):
    """Tokens of service accounts."""

    service_account_issuers: Texts = flag(
        "--service-account-issuer",
        EVERY,
        issuer,
        "issuer of service account tokens; further ones are accepted only (default this server's URL)",
        value="URL",
    )
    service_account_key_files: Texts = flag(
        "--service-account-key-file",
        EVERY,
        once,
        "verify tokens of service accounts with the keys in this file; may be repeated",
        value="FILE",
    )
    service_account_signing_key_file: str = flag(
        "--service-account-signing-key-file",
        "",
        anything,
        "sign tokens of service accounts with this key (default one of its own)",
        value="FILE",
    )
    service_account_lookup: bool = flag(
        "--service-account-lookup",
        True,
        boolean,
        "refuse legacy tokens whose secret is gone (default true)",
        value="BOOL",
    )
    service_account_max_token_expiration: float = flag(
        "--service-account-max-token-expiration",
        0.0,
        seconds,
        "longest life of a requested token (default no limit)",
        value="DURATION",
    )
    service_account_extend_token_expiration: bool = flag(
        "--service-account-extend-token-expiration",
        True,
        boolean,
        "let tokens of pods live a year for clients that do not reread them (default true)",
        value="BOOL",
    )
    service_account_jwks_uri: str = flag(
        "--service-account-jwks-uri", "", anything, "where the discovery document says keys are", value="URL"
    )
    api_audiences: Texts = flag(
        "--api-audiences", EVERY, words, "audiences of this server (default the issuer)", value="AUDIENCES"
    )


class TokenOptions(Options):
    """Tokens of others: OpenID Connect, structured configuration, and a webhook."""

    oidc_issuer_url: str = flag("--oidc-issuer-url", "", anything, "issuer of OpenID tokens", value="URL")
    oidc_client_id: str = flag("--oidc-client-id", "", anything, "audience that an OpenID token must have", value="ID")
    oidc_ca_file: str = flag("--oidc-ca-file", "", anything, "authorities of the issuer's certificate", value="FILE")
    oidc_username_claim: str = flag(
        "--oidc-username-claim", "sub", anything, "claim with the user's name (default {})", value="CLAIM"
    )
    oidc_username_prefix: str = flag(
        "--oidc-username-prefix", "", anything, "prefix of users' names; '-': none", value="PREFIX"
    )
    oidc_groups_claim: str = flag("--oidc-groups-claim", "", anything, "claim with the user's groups", value="CLAIM")
    oidc_groups_prefix: str = flag("--oidc-groups-prefix", "", anything, "prefix of groups", value="PREFIX")
    oidc_signing_algs: Texts = flag(
        "--oidc-signing-algs", Texts(("RS256",)), words, "accepted signature algorithms (default RS256)", value="ALGS"
    )
    oidc_required_claim: dict[str, str] = flag(
        "--oidc-required-claim", {}, claims, "claims that a token must have; may be repeated", value="CLAIM=VALUE"
    )
    authentication_config: str = flag(
        "--authentication-config", "", anything, "issuers and anonymous requests in a file", value="FILE"
    )
    authentication_token_webhook_config_file: str = flag(
        "--authentication-token-webhook-config-file",
        "",
        anything,
        "kubeconfig of a webhook that reviews tokens",
        value="FILE",
    )
    authentication_token_webhook_version: str = flag(
        "--authentication-token-webhook-version",
        "v1beta1",
        anything,
        "version of its reviews (default {})",
        value="VERSION",
    )
    authentication_token_webhook_cache_ttl: float = flag(
        "--authentication-token-webhook-cache-ttl",
        120.0,
        seconds,
        "how long its answers are kept (default 2m0s)",
        value="DURATION",
    )


class AuthenticationOptions(CredentialOptions, AccountOptions, TokenOptions):
    """All flags of authentication."""


def oidc_given(options: TokenOptions) -> bool:
    """Report whether any of the `--oidc-*` flags has a value of its own."""
    declared = ((name, default) for name, default in TokenOptions.DEFAULTS.items() if name.startswith("oidc_"))
    return any(getattr(options, name) != default for name, default in declared)


def issuers_named(options: TokenOptions) -> bool:
    """Report whether any flag asks for issuers, or has to be refused."""
    return bool(options.authentication_config) or oidc_given(options)
