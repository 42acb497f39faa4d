"""Who asks: a caller by what it presents, before anybody has judged it."""

from __future__ import annotations

from enum import Enum, auto
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from hydrofoil.authentication.bearer import bearer, is_websocket, subprotocols
from hydrofoil.authentication.client_certificates import CREDENTIAL_ID, Authorities, ClientCertificates
from hydrofoil.authentication.login import Rejected
from hydrofoil.clock import Clock
from hydrofoil.errors import ApiError
from hydrofoil.files import Files
from hydrofoil.headers import AUTHORIZATION
from hydrofoil.request import Incoming, User

AUTHENTICATED = "system:authenticated"


class Kind(Enum):
    """What a caller presents."""

    TOKEN = auto()
    """A bearer token."""
    CERTIFICATE = auto()
    """A certificate of an authority of `--client-ca-file`."""
    NOTHING = auto()
    OTHER = auto()
    """A credential that only the upstream can judge."""


class Caller(Struct, frozen=True):
    """A caller."""

    kind: Kind
    token: str = ""
    user: User | None = None
    """The user of a certificate."""

    @property
    def key(self) -> bytes:
        """Return what is the same for all requests of a caller, without its credential."""
        if self.user is not None:
            return b"user " + self.user.name.encode(errors="surrogateescape")
        return sha256(self.token.encode(errors="surrogateescape")).digest()


NOBODY = Caller(Kind.NOTHING)
UNKNOWN = Caller(Kind.OTHER)


class Callers:
    """The callers of requests."""

    def __init__(self, client_ca_file: str, clock: Clock, files: Files) -> None:
        """Raise ValueError with one line."""
        self._certificates: ClientCertificates | None = None
        if client_ca_file:
            self._certificates = ClientCertificates(Authorities(client_ca_file, files), clock)

    def find(self, request: Incoming) -> Caller:
        """Return the caller of a request: by its certificate, else by its token, as kube-apiserver tries them.

        Raise ApiError 401 for a certificate that is not valid, if nothing else is presented.
        """
        refused = False
        if self._certificates is not None and request.certificates:
            try:
                login = self._certificates.authenticate(request)
            except Rejected:
                refused = True
            else:
                if login is not None:
                    return Caller(Kind.CERTIFICATE, user=known_user(login.user))
        if header := request.headers.get(AUTHORIZATION, ""):
            token = bearer(header, [])
            return Caller(Kind.TOKEN, token) if token else UNKNOWN
        if is_websocket(request.headers):
            try:
                token, _ = subprotocols(request.headers)
            except Rejected:
                return UNKNOWN
            if token:
                return Caller(Kind.TOKEN, token)
        if refused:
            raise ApiError(401, "Unauthorized", "Unauthorized")
        return NOBODY


def known_user(user: User) -> User:
    """Return the user of a certificate as the upstream would know it after an impersonation."""
    extra = {key: values for key, values in user.extra.items() if key != CREDENTIAL_ID}
    groups = user.groups if AUTHENTICATED in user.groups else (*user.groups, AUTHENTICATED)
    return replace(user, groups=groups, extra=extra)
