"""Authentication of one server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from msgspec import Struct
from multidict import CIMultiDict
from prometheus_client.registry import Collector

from hydrofoil.authentication import compact
from hydrofoil.authentication.accounts.issue import Issue
from hydrofoil.authentication.accounts.keys import Keys, private_key, public_keys
from hydrofoil.authentication.accounts.legacy import ISSUER as LEGACY_ISSUER
from hydrofoil.authentication.accounts.legacy import LegacyTokens
from hydrofoil.authentication.accounts.openid import Documents
from hydrofoil.authentication.accounts.tokens import AccountTokens, Counts
from hydrofoil.authentication.bearer import bearer, is_websocket, subprotocols
from hydrofoil.authentication.bootstrap_tokens import BootstrapTokens
from hydrofoil.authentication.cache import Fetches
from hydrofoil.authentication.checks import check
from hydrofoil.authentication.client_certificates import BUCKETS, Authorities, ClientCertificates
from hydrofoil.authentication.front_proxy import FrontProxy, HeaderNames
from hydrofoil.authentication.login import FOREVER, Login, Rejected, RequestAuthenticator, StandingLogin
from hydrofoil.authentication.options import AuthenticationOptions, issuers_named
from hydrofoil.authentication.published import Published
from hydrofoil.authentication.static_tokens import load
from hydrofoil.authentication.union import Known, Tokens, add_group
from hydrofoil.clock import Chance, Clock
from hydrofoil.counting import Histogram
from hydrofoil.engine import Stored
from hydrofoil.errors import ApiError
from hydrofoil.files import Files
from hydrofoil.headers import AUTHORIZATION
from hydrofoil.registry.store import Registry
from hydrofoil.request import ADMIN, ANONYMOUS, Incoming, User
from hydrofoil.watch.hub import Hub

if TYPE_CHECKING:
    from hydrofoil.authentication.guests import Guests

    # Most servers have neither issuers nor a webhook, and start without their modules.
    from hydrofoil.authentication.jwt.build import JwtTokens
    from hydrofoil.authentication.jwt.configuration import Anonymous
    from hydrofoil.authentication.webhook import TokenWebhook


class Conditions:
    """The paths that anonymous requests may have: any, none, or those that a configuration lists."""

    def __init__(self, *, enabled: bool, said: Anonymous | None = None) -> None:
        """Follow the flag, `enabled`, unless the configuration has a part for it."""
        self.enabled = enabled if said is None else said.enabled
        self._paths = frozenset(said.paths) if said is not None else frozenset()
        self.allows_every_path = self.enabled and not self._paths

    def allows(self, path: str) -> bool:
        """Report whether an anonymous request may have a decoded path; method and query do not matter."""
        return self.enabled and (not self._paths or path in self._paths)


PROTOCOLS = "Sec-WebSocket-Protocol"


class Reviewed(Struct):
    """The outcome of a TokenReview."""

    login: Login | None
    error: str = ""


class Authentication:
    """The union of the authenticators that the flags name (kubeapiserver `authenticator/config.go`).

    Certificates count before tokens; a refusal of one credential does not end the search for another, but leaves no
    room for an anonymous request.
    """

    def __init__(
        self,
        options: AuthenticationOptions,
        registry: Registry,
        hub: Hub,
        clock: Clock,
        chance: Chance,
        files: Files,
        *,
        secured: bool,
        issuer: str = "",
        trusted: bytes = b"",
        guests: Guests | None = None,
        knows_all: bool = False,
        changed: Callable[[], None] = lambda: None,
        signing_key: bytes = b"",
    ) -> None:
        """Without `secured` every request is the admin's, except those with a token of a service account.

        `issuer` is the URL of this server, in tokens where flags name no issuer. `trusted` are further authorities of
        client certificates, in PEM, and `guests` users that a test made.
        `knows_all`: a request without credentials is refused, whatever flags and configuration allow.
        `changed` is called when logins of before may no longer be accepted.
        `signing_key` is one in PEM that all processes of this server have, for tokens where no file has a key.
        """
        self.secured = secured
        self.issuers = tuple(options.service_account_issuers) or (issuer,)
        """The issuers of service account tokens; the first one is this server."""
        self.anonymous = options.anonymous_auth is not False
        """Whether requests without credentials are accepted."""
        self._options = options
        self._registry = registry
        self._clock = clock
        self._files = files
        self._tokens = Tokens(clock)
        self._by_request: list[RequestAuthenticator] = []
        self._clients: ClientCertificates | None = None
        self._proxied: HeaderNames | None = None
        self._published: Published | None = None
        self._nameless = Conditions(enabled=self.anonymous)
        self._jwt: JwtTokens | None = None
        self._webhook: TokenWebhook | None = None
        self.counts = Counts()
        self._chance = chance
        self.issue: Issue
        """The issue of service account tokens; set at the start."""
        self._signing_key = signing_key
        self._keys = Keys(None, ())
        self._trusted = trusted
        self._guests = guests
        self._strict = guests is not None and guests.strict
        """Whether an unknown token is refused where a request needs none."""
        self._knows_all = knows_all
        self._changed = changed
        if guests is not None:
            self._tokens.known.append(Known(guests))

    @property
    def audiences(self) -> tuple[str, ...]:
        """Return the audiences of this server."""
        return tuple(self._options.api_audiences) or self.issuers

    def forget(self) -> None:
        """Look at every token anew: the objects that logins rest on are those of another state."""
        self._tokens.forget()
        self._changed()

    def standing(self, request: Incoming) -> StandingLogin | None:
        """Return how long later requests of a client have the login that `login` just returned for one of them.

        None if another of them may have another login, or loses headers by it.
        """
        value = request.headers.get(AUTHORIZATION, "")
        if not self.secured:
            return None if value.count(".") == 2 or self._strict else FOREVER
        if self._proxied is not None:
            return None
        if request.certificates:
            return None if self._clients is None else self._clients.standing(request.certificates)
        if value:
            life = self._tokens.presented_life(value)
            return None if life is None else StandingLogin(life, (self._tokens.count_hits,))
        return FOREVER if self._nameless.allows_every_path and not is_websocket(request.headers) else None

    def login(self, request: Incoming) -> User | Awaitable[User]:
        """Return the user of a request; an awaitable only if it has to wait. Raise ApiError 401.

        The headers of the request lose what only this step may see.
        """
        value = request.headers.get(AUTHORIZATION, "")
        if not self.secured:
            return ADMIN if value.count(".") != 2 and not self._strict else self._open(request, value)
        failed = False
        if request.certificates:
            login, failed = self._certified(request)
            if login is not None:
                return self._accepted(request, login)
        if value:
            if (kept := self._tokens.presented(value)) is not None:
                return self._accepted(request, kept)
            if token := bearer(value, request.warnings):
                return self._waiting(request, token)
        if is_websocket(request.headers):
            return self._waiting(request, "", failed=failed)
        return self._nobody(request, failed=failed)

    def _open(self, request: Incoming, value: str) -> User | Awaitable[User]:
        """Return the admin, or the user of an account's token, where no credential is asked for. Raise ApiError 401.

        A token that this server has issued and that is no longer good gives no rights here, either.
        """
        token = bearer(value, request.warnings)
        if not token:
            return ADMIN
        if (kept := self._tokens.kept(token)) is not None:
            return self._accepted(request, kept)
        if self._guests is not None and (guest := self._guests.find(token)) is not None:
            return add_group(guest)
        if self._strict:
            return self._waiting(request, token)
        found = compact.read(token)
        if found is None or found.issuer not in (*self.issuers, LEGACY_ISSUER):
            return ADMIN
        return self._waiting(request, token)

    def _certified(self, request: Incoming) -> tuple[Login | None, bool]:
        """Return the login of a certificate, and whether one was refused."""
        failed = False
        for authenticator in self._by_request:
            try:
                login = authenticator.authenticate(request)
            except Rejected:
                failed = True
                continue
            if login is not None:
                return Login(add_group(login.user)), False
        return None, failed

    async def _waiting(self, request: Incoming, token: str, *, failed: bool = False) -> User:
        """Return the user of a token, else of one among the subprotocols. Raise ApiError 401.

        `failed`: a certificate was refused before.
        """
        try:
            if token:
                return self._accepted(request, await self._tokens.authenticate(token))
        except Rejected:
            if not is_websocket(request.headers):
                raise unauthorized() from None
        try:
            among, others = subprotocols(request.headers)
            if not among:
                return self._nobody(request, failed=failed or bool(token))
            login = await self._tokens.authenticate(among)
        except Rejected:
            raise unauthorized() from None
        headers = CIMultiDict(request.headers.items())
        headers[PROTOCOLS] = ",".join(others)
        request.headers = headers
        return self._accepted(request, login)

    def _accepted(self, request: Incoming, login: Login) -> User:
        """Return the user of a login, and remove the headers of proxies."""
        if login.warnings:
            request.warnings.extend(login.warnings)
        if self._proxied is not None:
            self._strip(request, self._proxied)
        return login.user

    def _nobody(self, request: Incoming, *, failed: bool) -> User:
        """Return the user of a request without credentials. Raise ApiError 401."""
        if failed or not self._nameless.allows(request.info.path):
            raise unauthorized()
        if self._proxied is not None:
            self._strip(request, self._proxied)
        return ANONYMOUS

    @staticmethod
    def _strip(request: Incoming, names: HeaderNames) -> None:
        """Remove the headers with a proxy's user (`ClearAuthenticationHeaders`)."""
        if any(names.marked(name.lower()) for name, _ in request.headers.items()):
            kept = ((name, value) for name, value in request.headers.items() if not names.marked(name.lower()))
            request.headers = CIMultiDict(kept)

    async def review(self, token: str, audiences: Sequence[str]) -> Reviewed:
        """Return the user of a token (TokenReview), as if it came in a header; without audiences for this server."""
        warnings: list[str] = []
        presented = bearer(f"Bearer {token}", warnings)
        wanted = tuple(audiences) or self._tokens.audiences
        if not presented:
            return Reviewed(Login(ANONYMOUS, wanted)) if self.anonymous else Reviewed(None)
        try:
            return Reviewed(await self._tokens.authenticate(presented, wanted))
        except Rejected as e:
            return Reviewed(None, str(e))

    def documents(self, address: str) -> Documents:
        """Return the documents of the issuer, for a server at an address (`host:port`)."""
        uri, own = self._options.service_account_jwks_uri, not self._options.service_account_issuers
        return Documents(self._keys, self.issuers[0], uri, address, own=own)

    async def legacy_token(self, account: Stored, secret: str) -> str:
        """Return the token of an account for a secret, from the start on."""
        return await self.issue.legacy(account, secret)

    async def start(self) -> None:
        """Load keys and begin to follow what changes. Raise ValueError with one line."""
        options = self._options
        check(options)
        self._tokens.audiences = self.audiences
        proxies = clients = None
        if options.requestheader_client_ca_file:
            proxies = Authorities(options.requestheader_client_ca_file, self._files)
            names = self._proxied = HeaderNames.of(options)
            allowed = frozenset(options.requestheader_allowed_names)
            self._by_request.append(FrontProxy(proxies, names, allowed, self._clock))
        if options.client_ca_file or self._trusted:
            clients = Authorities(options.client_ca_file, self._files, self._trusted)
            self._clients = ClientCertificates(clients, self._clock)
            clients.on_change(self._changed)
            self._by_request.append(self._clients)
        if clients is not None or proxies is not None:
            self._published = Published(options, clients, proxies, self._registry, self._clock)
            self._published.write()
        known = self._tokens.known
        if options.token_auth_file:
            try:
                known.append(Known(load(options.token_auth_file)))
            except OSError as e:
                raise ValueError(f"open {options.token_auth_file}: {(e.strerror or str(e)).lower()}") from None
        known += self._of_accounts()
        if options.enable_bootstrap_token_auth:
            known.append(Known(BootstrapTokens(self._registry, self._clock)))
        known += await self._others()
        if self._knows_all:
            # After the configuration, which may allow requests without credentials.
            self.anonymous = False
            self._nameless = Conditions(enabled=False)

    def _of_accounts(self) -> list[Known]:
        """Return the authenticators of service account tokens, with the keys in files. Raise ValueError."""
        options, registry, clock = self._options, self._registry, self._clock
        signing = (
            private_key(options.service_account_signing_key_file) if options.service_account_signing_key_file else None
        )
        verifying = [key for path in options.service_account_key_files for key in public_keys(path)]
        keys = self._keys = Keys(signing, verifying, self._signing_key)
        implied, counts = self.audiences, self.counts
        self.issue = Issue(options, keys, self.issuers[0], implied, clock, self._chance)
        legacy = LegacyTokens(keys, implied, counts, registry, clock, lookup=options.service_account_lookup)
        bound = AccountTokens(keys, self.issuers, implied, counts, registry, clock)
        return [Known(legacy, agnostic=False), Known(bound, agnostic=False)]

    async def _others(self) -> list[Known]:
        """Return the authenticators of JWT issuers and of the webhook, in this order. Raise ValueError."""
        options, found = self._options, []
        if issuers_named(options):
            # Its modules take longer to load than a turn of the loop.
            await asyncio.to_thread(import_module, "hydrofoil.authentication.jwt.build")
            from hydrofoil.authentication.jwt.build import JwtTokens

            jwt = self._jwt = JwtTokens(options, self.issuers, self._clock, self._files, self.forget)
            await jwt.start()
            found.append(Known(jwt))
            if jwt.anonymous is not None:
                self._nameless = Conditions(enabled=True, said=jwt.anonymous)
                self.anonymous = self._nameless.enabled
        if options.authentication_token_webhook_config_file:
            from hydrofoil.authentication.webhook import TokenWebhook
            from hydrofoil.outbound import kubeconfig

            target = await asyncio.to_thread(kubeconfig.read, options.authentication_token_webhook_config_file)
            version, kept = (
                options.authentication_token_webhook_version,
                options.authentication_token_webhook_cache_ttl,
            )
            hook = self._webhook = TokenWebhook(
                target, version, kept, self.audiences, self._clock, self._chance, self._tokens.fetches
            )
            found.append(Known(hook, agnostic=False))
        return found

    def credentials(self) -> tuple[Fetches, Histogram]:
        """Return the use of kept logins, and how long the certificates of requests were still valid in seconds."""
        lives = Histogram(BUCKETS) if self._clients is None else self._clients.lives()
        return self._tokens.present_fetches(), lives

    @property
    def collectors(self) -> list[Collector]:
        """Return what has metrics, after the start."""
        if self._jwt is None:
            return []
        return [self._jwt.metrics] + ([] if self._jwt.reloads is None else [self._jwt.reloads])

    async def close(self) -> None:
        """Stop all work beside requests."""
        if self._jwt is not None:
            await self._jwt.close()
        if self._webhook is not None:
            await self._webhook.close()
        if self._published is not None:
            await self._published.close()


def unauthorized() -> ApiError:
    """Return the 401 for every refusal: the reason stays here."""
    return ApiError(401, "Unauthorized", "Unauthorized")
