"""Users named by client certificates (apiserver `request/x509/x509.go`), and authorities read again from files."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from hydrofoil import engine
from hydrofoil.authentication.login import Login, Rejected, StandingLogin
from hydrofoil.clock import Clock
from hydrofoil.counting import Histogram
from hydrofoil.engine import certificate_end
from hydrofoil.files import Files
from hydrofoil.request import Incoming, User

LOG = logging.getLogger("hydrofoil")
CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
SECONDS = 1.0
"""How long a verified certificate is good without being verified again, on whichever connection."""
MOST = 1024
HOUR, DAY = 3600.0, 86400.0
BUCKETS = tuple(hours * HOUR for hours in (0, 0.5, 1, 2, 6, 12)) + tuple(
    days * DAY for days in (1, 2, 4, 7, 30, 90, 180, 360)
)
"""The buckets of the rest of the life of certificates, in seconds (`clientCertificateExpirationHistogram`)."""


class Subject(Struct, frozen=True):
    """The subject of a certificate as a user."""

    name: str
    """The common name."""
    groups: tuple[str, ...]
    """The organizations, in order."""
    uid: str


class ClientCa:
    """The authorities of one bundle."""

    def __init__(self, pem: bytes) -> None:
        """Raise ValueError if there is no certificate, or a malformed one."""
        self._native = engine.ClientCa(pem)
        self.names: tuple[bytes, ...] = tuple(self._native.names)
        """The names of the authorities in DER, without the outer tag."""

    def verify(self, chain: Sequence[bytes], now: float) -> Subject | None:
        """Return the subject of a chain in DER, the client's certificate first, at a time in seconds since 1970.

        Return None for a subject without a common name. Raise Rejected.
        """
        try:
            name, groups, uid = self._native.verify(list(chain), now)
        except engine.CertificateError as e:
            raise Rejected(str(e)) from None
        return Subject(name, tuple(groups), uid) if name else None


class Authorities:
    """The authorities in a file; bad content leaves those before it in force (`dynamiccertificates`)."""

    def __init__(self, path: str, files: Files, more: bytes = b"") -> None:
        """Take `more` authorities, in PEM, than those of the file; without a path only these.

        Raise ValueError with one line.
        """
        self._path = path
        self._more = more
        try:
            self.pem, self.ca = self._made(Path(path).read_bytes() if path else b"")
        except OSError as e:
            raise ValueError(f"open {path}: {(e.strerror or str(e)).lower()}") from None
        except ValueError as e:
            raise ValueError(f"{path}: {e}") from None
        self._calls: list[Callable[[], None]] = []
        self._reading: asyncio.Task[None] | None = None
        if path:
            files.watch(path, changed=self._changed)

    def _made(self, pem: bytes) -> tuple[bytes, ClientCa]:
        """Return all authorities, in PEM and for use. Raise ValueError for bad content of the file."""
        if self._more and self._path:
            ClientCa(pem)
        every = b"\n".join(filter(None, (pem, self._more)))
        return every, ClientCa(every)

    def on_change(self, call: Callable[[], None]) -> None:
        """Register a call after other authorities came into force."""
        self._calls.append(call)

    def _changed(self) -> None:
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            pem = await asyncio.to_thread(Path(self._path).read_bytes)
            every, ca = self._made(pem)
            if every == self.pem:
                return
        except (OSError, ValueError) as e:
            why = e.strerror if isinstance(e, OSError) else e
            LOG.error("the authorities in %s stay as they were: %s", self._path, why)
            return
        self.pem, self.ca = every, ca
        for call in self._calls:
            call()


class Verified:
    """The outcome for a certificate at one moment, and how many requests had it since."""

    __slots__ = ("at", "left", "login", "requests")

    def __init__(self, at: float, left: float | None, login: Login | None) -> None:
        """`left` is the rest of its life at the moment, in seconds."""
        self.at = at
        self.left = left
        self.login = login
        self.requests = 1

    def count(self, lives: Histogram) -> None:
        """Count the requests: with the rest of the life when it was verified, a moment ago."""
        if self.left is not None:
            lives.observe(self.left, self.requests)


class ClientCertificates:
    """Accept client certificates of some authorities: the common name is the user, each organization a group."""

    def __init__(self, authorities: Authorities, clock: Clock) -> None:
        self._authorities = authorities
        self._clock = clock
        self._kept: dict[tuple[bytes, ...], Verified] = {}
        self._lives = Histogram(BUCKETS)
        authorities.on_change(self._forget)

    def lives(self) -> Histogram:
        """Return how long the certificates of requests were still valid, in seconds."""
        found = self._lives.copy()
        for verified in self._kept.values():
            verified.count(found)
        return found

    def _forget(self) -> None:
        self._lives = self.lives()
        self._kept.clear()

    def standing(self, chain: Sequence[bytes]) -> StandingLogin | None:
        """Return how long the login of a chain that was just verified is good without being verified again."""
        kept = self._kept.get(tuple(chain))
        if kept is None or kept.login is None:
            return None
        holds = int(kept.at * 1e9), int((kept.at + SECONDS) * 1e9)
        return StandingLogin(holds, () if kept.left is None else (partial(self._count, kept.left),))

    def _count(self, left: float, requests: int) -> None:
        self._lives.observe(left, requests)

    def authenticate(self, request: Incoming) -> Login | None:
        """Return the login of a certificate; None without one, or if it has no name. Raise Rejected."""
        chain = request.certificates
        if not chain:
            return None
        now = self._clock.seconds()
        key = tuple(chain)
        kept = self._kept.get(key)
        if kept is not None:
            if 0 <= now - kept.at < SECONDS:
                kept.requests += 1
                return kept.login
            self._kept.pop(key).count(self._lives)
        end = certificate_end(chain[0])
        verified = Verified(now, None if end is None else end - now, None)
        try:
            subject = self._authorities.ca.verify(chain, now)
        except Rejected:
            verified.count(self._lives)
            raise
        if subject is not None:
            verified.login = Login(user_of(subject, chain))
        if len(self._kept) >= MOST:
            self._kept.pop(next(iter(self._kept))).count(self._lives)
        self._kept[key] = verified
        return verified.login


def user_of(subject: Subject, chain: Sequence[bytes]) -> User:
    """Return the user of a certificate (`CommonNameUserConversion`)."""
    extra = {CREDENTIAL_ID: (f"X509SHA256={sha256(chain[0]).hexdigest()}",)}
    return User(subject.name, subject.uid, tuple(subject.groups), extra)
