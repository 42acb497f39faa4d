"""The issuer that the `--oidc-*` flags name (kubeapiserver `options/authentication.go`)."""

from __future__ import annotations

from pathlib import Path

from hydrofoil.authentication.jwt.configuration import Authenticator, ClaimRule, Configuration, Issuer, Mapping
from hydrofoil.authentication.options import TokenOptions, oidc_given

ALGORITHMS = ("ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512")
"""The algorithms that are known to be safe: asymmetric ones only."""


def check(options: TokenOptions) -> None:
    """Refuse flags that do not fit together. Raise ValueError with one line."""
    if options.authentication_config:
        if oidc_given(options):
            raise ValueError("authentication-config file and oidc-* flags are mutually exclusive")
    elif oidc_given(options) and not (options.oidc_issuer_url and options.oidc_client_id):
        raise ValueError("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set")
    for algorithm in options.oidc_signing_algs:
        if algorithm not in ALGORITHMS:
            raise ValueError(f'oidc: unsupported signing alg: "{algorithm}"')


def configuration(options: TokenOptions) -> Configuration:
    """Return the configuration that the flags amount to. Raise ValueError with one line."""
    authority = ""
    if options.oidc_ca_file:
        try:
            authority = Path(options.oidc_ca_file).read_text(errors="replace")
        except OSError as e:
            raise ValueError(f"open {options.oidc_ca_file}: {(e.strerror or str(e)).lower()}") from None
    prefix = options.oidc_username_prefix
    if not prefix and options.oidc_username_claim != "email":
        prefix = f"{options.oidc_issuer_url}#"
    elif prefix == "-":
        prefix = ""
    groups = Mapping()
    if options.oidc_groups_claim:
        groups = Mapping(options.oidc_groups_claim, options.oidc_groups_prefix)
    found = Authenticator(
        Issuer(options.oidc_issuer_url, "", authority, (options.oidc_client_id,)),
        tuple(ClaimRule(claim, value) for claim, value in options.oidc_required_claim.items()),
        Mapping(options.oidc_username_claim, prefix),
        groups,
    )
    return Configuration((found,))
