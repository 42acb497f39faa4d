"""The flags of authorization (kubeapiserver `options/authorization.go`)."""

from __future__ import annotations

from hydrofoil.errors import aggregate
from hydrofoil.go_text import quote
from hydrofoil.options import Options, Texts, anything, flag, flags, seconds, words

NONE: Texts = Texts()


class AuthorizationOptions(Options):
    """Authorizers, in their order."""

    authorization_mode: Texts = flag(
        "--authorization-mode",
        NONE,
        words,
        "AlwaysAllow, AlwaysDeny, RBAC, Node, Webhook, in their order"
        " (default RBAC with credentials or a public address, else AlwaysAllow)",
        value="MODES",
    )
    authorization_config: str = flag(
        "--authorization-config", "", anything, "authorizers in a file, instead of the mode", value="FILE"
    )
    authorization_webhook_config_file: str = flag(
        "--authorization-webhook-config-file", "", anything, "kubeconfig of a webhook that decides", value="FILE"
    )
    authorization_webhook_version: str = flag(
        "--authorization-webhook-version", "v1beta1", anything, "version of its reviews (default {})", value="VERSION"
    )
    authorization_webhook_cache_authorized_ttl: float = flag(
        "--authorization-webhook-cache-authorized-ttl",
        300.0,
        seconds,
        "how long a permission is kept (default 5m0s)",
        value="DURATION",
    )
    authorization_webhook_cache_unauthorized_ttl: float = flag(
        "--authorization-webhook-cache-unauthorized-ttl",
        30.0,
        seconds,
        "how long a refusal is kept (default 30s)",
        value="DURATION",
    )


_OF_WEBHOOK = [each for each in flags(AuthorizationOptions) if each.setting.startswith("authorization_webhook_")]
VERSIONS = ("v1", "v1beta1")
"""The versions of the reviews of a webhook."""
MODES = ("AlwaysAllow", "AlwaysDeny", "RBAC", "Node", "Webhook")


def modes(options: AuthorizationOptions, secured: bool) -> Texts:
    """Return the modes in their order; none where a file names the authorizers."""
    if options.authorization_config:
        return NONE
    return options.authorization_mode or Texts(("RBAC" if secured else "AlwaysAllow",))


def check(options: AuthorizationOptions) -> None:
    """Raise ValueError for flags that do not fit together (`BuiltInAuthorizationOptions.Validate`)."""
    named = options.authorization_mode
    webhook = options.authorization_webhook_config_file
    if options.authorization_config:
        if named or webhook or any(getattr(options, each.setting) != each.default for each in _OF_WEBHOOK):
            raise ValueError(
                "--authorization-config can not be specified when --authorization-mode or"
                " --authorization-webhook-* flags are defined"
            )
        return
    version = options.authorization_webhook_version
    why = []
    for mode in named:
        if mode not in MODES:
            why.append(f"authorization-mode {quote(mode)} is not a valid mode")
        if mode == "Webhook" and not webhook:
            why.append("authorization-mode Webhook's authorization config file not passed")
    if "Webhook" in named and version not in VERSIONS:
        known = ", ".join(map(quote, VERSIONS))
        why.append(f"unsupported webhook authorizer version {quote(version)}, supported versions are {known}")
    if webhook and "Webhook" not in named:
        why.append("cannot specify --authorization-webhook-config-file without mode Webhook")
    if len({*named}) < len(named):
        shown = " ".join(map(quote, named))
        why.append(f"authorization-mode [{shown}] has mode specified more than once")
    if why:
        raise ValueError(aggregate(why))
