"""Who asks, and what they may do."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from hydrofoil.answer import Answer
from hydrofoil.authentication.accounts.openid import CONFIGURATION, HEAD, KEYS, Documents
from hydrofoil.authentication.service import Authentication
from hydrofoil.authorization.impersonation import Impersonation
from hydrofoil.authorization.service import Authorization
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.filters.authentication import Login
from hydrofoil.endpoints.filters.authentication import authentication as authenticate
from hydrofoil.endpoints.filters.authorization import authorization as authorize
from hydrofoil.endpoints.filters.impersonation import impersonation
from hydrofoil.endpoints.route import missing
from hydrofoil.endpoints.wire import is_own
from hydrofoil.errors import method_not_allowed, no_such_resource
from hydrofoil.headers import AUTHORIZATION
from hydrofoil.request import ADMIN, Incoming, User
from hydrofoil.server.chain import Place
from hydrofoil.server.config import Config
from hydrofoil.server.listening import is_local
from hydrofoil.server.login_metrics import Credentials, TokenUses
from hydrofoil.server.nonresource import complete_answer
from hydrofoil.server.part import Core, Part

if TYPE_CHECKING:
    from hydrofoil.audit.service import Audit


def needs_credentials(config: Config) -> bool:
    """Report whether requests need credentials: some are configured, or others than this machine reach the server."""
    configured = (
        config.client_ca_file,
        config.token_auth_file,
        config.requestheader_client_ca_file,
        config.oidc_issuer_url,
        config.authentication_config,
        config.authentication_token_webhook_config_file,
        config.enable_bootstrap_token_auth,
    )
    return any(configured) or not (config.unix_socket or is_local(config.host))


def authorization(core: Core) -> Part[Authorization]:
    """Return what decides on rights. Raise ValueError with one line."""
    found = Authorization(
        core.config,
        core.registry,
        core.hub,
        core.clock,
        core.files,
        secured=core.site.secured,
        distinguishes=core.guests is not None,
        changed=core.memos.forget,
    )
    acting = Impersonation(found.authorizer, constrained=core.gates.enabled("ConstrainedImpersonation"))
    return Part(
        feature=found,
        start=found.start,
        close=found.close,
        strategies=found.strategies,
        filters={
            Place.IMPERSONATION: impersonation(acting),
            Place.AUTHORIZATION: authorize(found.authorizer, found.others, core.metrics.decisions),
        },
        followed=found.followed,
        collectors=lambda: found.collectors,
    )


def authentication(core: Core, authorization: Authorization, audit: Audit | None) -> Part[Authentication]:
    """Return what finds the users of requests; a refusal is in the records of `audit`."""
    found = Authentication(
        core.config,
        core.registry,
        core.hub,
        core.clock,
        core.chance,
        core.files,
        secured=core.site.secured,
        issuer=f"{core.site.address}/",
        trusted=core.site.own_ca,
        guests=core.guests,
        # Upstream's `ApplyAuthorization`: a request without a credential never has every right.
        knows_all=core.site.secured and "AlwaysAllow" in authorization.modes,
        changed=core.memos.forget,
        signing_key=core.signing_key,
    )
    refused = None
    if audit is not None:
        from hydrofoil.endpoints.filters.audit import unauthenticated

        refused = unauthenticated(audit)

    async def answer(context: Context) -> Answer:
        return await answer_issuer(context, found.documents(core.site.authority))

    return Part(
        feature=found,
        start=found.start,
        close=found.close,
        filters={
            Place.AUTHENTICATION: authenticate(
                trust_own(found.login) if core.config.manifests else found.login,
                refused,
                core.metrics.attempts,
                found.standing,
            )
        },
        paths={"/.well-known/": answer, "/openid/": answer},
        collectors=lambda: [TokenUses(found.counts), *found.collectors],
        snapshots=[lambda: Credentials(*found.credentials())],
    )


def trust_own(login: Login) -> Login:
    """Return a login that takes requests of the server itself without credentials for the administrator's."""

    def identify(request: Incoming) -> User | Awaitable[User]:
        if isinstance(request, Context) and is_own(request) and not request.headers.get(AUTHORIZATION, ""):
            return ADMIN
        return login(request)

    return identify


async def answer_issuer(context: Context, issuer: Documents) -> Answer:
    """Return a document of the issuer, for verifiers of its tokens elsewhere. Raise ApiError 404 and 405."""
    path = context.info.path.rstrip("/")
    found = await issuer.document(path)
    if found is None:
        if issuer.served() and path.startswith((f"{CONFIGURATION}/", f"{KEYS}/")):
            raise no_such_resource()
        return await missing(context)
    if context.request.method != "GET":
        raise method_not_allowed()
    media, body = found
    return complete_answer(context, Answer(200, b"%sContent-Type: %s\r\n" % (HEAD, media.encode()), body))
