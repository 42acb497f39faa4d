"""Refusals at start (kubeapiserver `options/authorization.go`, reference `access.md`)."""

from __future__ import annotations

import re

import pytest

from hydrofoil.authorization.options import AuthorizationOptions, check, modes
from hydrofoil.options import Texts


def options(mode: str = "", webhook: str = "", config: str = "") -> AuthorizationOptions:
    named = Texts(filter(None, mode.split(",")))
    return AuthorizationOptions(
        authorization_mode=named, authorization_webhook_config_file=webhook, authorization_config=config
    )


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (options("RBAC,RBAC"), 'authorization-mode ["RBAC" "RBAC"] has mode specified more than once'),
        (options("Strange"), 'authorization-mode "Strange" is not a valid mode'),
        (options("rbac"), 'authorization-mode "rbac" is not a valid mode'),
        (options("Webhook"), "authorization-mode Webhook's authorization config file not passed"),
        (options("RBAC", "f"), "cannot specify --authorization-webhook-config-file without mode Webhook"),
        (
            options("RBAC", config="f"),
            "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags"
            " are defined",
        ),
        (
            options("Nope,Nope"),
            '[authorization-mode "Nope" is not a valid mode, authorization-mode ["Nope" "Nope"] has mode specified more'
            " than once]",
        ),
    ],
)
def test_flags_that_do_not_fit_are_refused(given: AuthorizationOptions, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        check(given)


@pytest.mark.parametrize("given", [options(), options("Node,RBAC"), options("Webhook,RBAC", "f"), options(config="f")])
def test_others_are_accepted(given: AuthorizationOptions) -> None:
    check(given)


def test_the_default_mode_depends_on_credentials() -> None:
    assert modes(options(), True) == ("RBAC",)
    assert modes(options(), False) == ("AlwaysAllow",)
    assert modes(options(config="f"), True) == ()
    assert "AlwaysAllow" not in modes(options(), True)
    assert "AlwaysAllow" in modes(options("RBAC,AlwaysAllow"), True)
