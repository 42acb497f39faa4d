"""The AuthenticationConfiguration as it is written (apiserver `pkg/apis/apiserver/v1/types.go`)."""

from __future__ import annotations

from typing import Any

import orjson
from msgspec import Struct, field

from hydrofoil import engine
from hydrofoil.go_text import quote

GROUP = "apiserver.config.k8s.io"
KIND = "AuthenticationConfiguration"
VERSIONS = tuple(f"{GROUP}/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
Object = dict[str, Any]


class Issuer(Struct, frozen=True):
    """An issuer of tokens."""

    url: str = ""
    discovery_url: str = ""
    certificate_authority: str = ""
    audiences: tuple[str, ...] = ()
    audience_match_policy: str = ""
    egress_selector_type: str = ""


class ClaimRule(Struct, frozen=True):
    """A required value of a claim, or a condition on the claims."""

    claim: str = ""
    required_value: str = ""
    expression: str = ""
    message: str = ""


class Mapping(Struct, frozen=True):
    """The source of an attribute of the user: a claim or an expression."""

    claim: str = ""
    prefix: str | None = None
    expression: str = ""


class ExtraMapping(Struct, frozen=True):
    """The source of an extra field of the user."""

    key: str = ""
    expression: str = ""


class UserRule(Struct, frozen=True):
    """A condition on the user."""

    expression: str = ""
    message: str = ""


class Authenticator(Struct, frozen=True):
    """One issuer and the meaning of its claims (`JWTAuthenticator`)."""

    issuer: Issuer
    claim_rules: tuple[ClaimRule, ...] = ()
    username: Mapping = field(default_factory=Mapping)
    groups: Mapping = field(default_factory=Mapping)
    uid: Mapping = field(default_factory=Mapping)
    extra: tuple[ExtraMapping, ...] = ()
    user_rules: tuple[UserRule, ...] = ()


class Anonymous(Struct, frozen=True):
    """Anonymous requests: whether there are any, and the only paths that they may have."""

    enabled: bool = False
    paths: tuple[str, ...] = ()


class Configuration(Struct, frozen=True):
    """All issuers, and the part on anonymous requests; None without one."""

    authenticators: tuple[Authenticator, ...] = ()
    anonymous: Anonymous | None = None


class _Reader:
    """The members of one object; what is unknown or has another type is noted."""

    def __init__(self, value: Any, path: str, problems: list[str]) -> None:
        self._path = path
        self._problems = problems
        self._left: Object = {}
        if isinstance(value, dict):
            self._left = dict(value)
        elif value is not None:
            problems.append(f'"{path}" must be an object' if path else "the document must be an object")

    def _at(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def _take(self, key: str, kind: type, word: str) -> Any:
        value = self._left.pop(key, None)
        if value is not None and not isinstance(value, kind):
            self._problems.append(f'"{self._at(key)}" must be {word}')
            return None
        return value

    def text(self, key: str) -> str:
        return self._take(key, str, "a string") or ""

    def optional(self, key: str) -> str | None:
        found: str | None = self._take(key, str, "a string")
        return found

    def flag(self, key: str) -> bool:
        return self._take(key, bool, "a boolean") is True

    def texts(self, key: str) -> tuple[str, ...]:
        found = self._take(key, list, "a list") or []
        if not all(isinstance(text, str) for text in found):
            self._problems.append(f'"{self._at(key)}" must be a list of strings')
            return ()
        return tuple(found)

    def inner(self, key: str) -> _Reader:
        return _Reader(self._left.pop(key, None), self._at(key), self._problems)

    def items(self, key: str) -> list[_Reader]:
        found = self._take(key, list, "a list") or []
        return [_Reader(item, f"{self._at(key)}[{i}]", self._problems) for i, item in enumerate(found)]

    def has(self, key: str) -> bool:
        return self._left.get(key) is not None

    def end(self) -> None:
        """Note the members that were not read."""
        self._problems += [f"unknown field {quote(self._at(key))}" for key in self._left]


def parse(data: bytes) -> Configuration:
    """Read a configuration in YAML or JSON, strictly. Raise ValueError with one line."""
    try:
        document = orjson.loads(engine.yaml_to_json(data))
    except (engine.DecodeError, ValueError) as e:
        raise ValueError(" ".join(str(e).split())) from None
    problems: list[str] = []
    reader = _Reader(document, "", problems)
    version, kind = reader.text("apiVersion"), reader.text("kind")
    if version not in VERSIONS or kind != KIND:
        raise ValueError(f"no kind {quote(kind)} is registered for version {quote(version)}")
    authenticators = tuple(map(_authenticator, reader.items("jwt")))
    said = reader.has("anonymous")
    anonymous = _anonymous(reader.inner("anonymous"))
    reader.end()
    if problems:
        raise ValueError(f"strict decoding error: {', '.join(problems)}")
    return Configuration(authenticators, anonymous if said else None)


def _authenticator(reader: _Reader) -> Authenticator:
    issuer, mappings = reader.inner("issuer"), reader.inner("claimMappings")
    found = Authenticator(
        _issuer(issuer),
        tuple(_claim_rule(rule) for rule in reader.items("claimValidationRules")),
        _mapping(mappings.inner("username"), prefixed=True),
        _mapping(mappings.inner("groups"), prefixed=True),
        _mapping(mappings.inner("uid"), prefixed=False),
        tuple(_extra(extra) for extra in mappings.items("extra")),
        tuple(_user_rule(rule) for rule in reader.items("userValidationRules")),
    )
    mappings.end()
    reader.end()
    return found


def _issuer(reader: _Reader) -> Issuer:
    found = Issuer(
        reader.text("url"),
        reader.text("discoveryURL"),
        reader.text("certificateAuthority"),
        reader.texts("audiences"),
        reader.text("audienceMatchPolicy"),
        reader.text("egressSelectorType"),
    )
    reader.end()
    return found


def _claim_rule(reader: _Reader) -> ClaimRule:
    found = ClaimRule(*map(reader.text, ("claim", "requiredValue", "expression", "message")))
    reader.end()
    return found


def _mapping(reader: _Reader, *, prefixed: bool) -> Mapping:
    prefix = reader.optional("prefix") if prefixed else None
    found = Mapping(reader.text("claim"), prefix, reader.text("expression"))
    reader.end()
    return found


def _extra(reader: _Reader) -> ExtraMapping:
    found = ExtraMapping(reader.text("key"), reader.text("valueExpression"))
    reader.end()
    return found


def _user_rule(reader: _Reader) -> UserRule:
    found = UserRule(reader.text("expression"), reader.text("message"))
    reader.end()
    return found


def _anonymous(reader: _Reader) -> Anonymous:
    enabled = reader.flag("enabled")
    paths = []
    for condition in reader.items("conditions"):
        paths.append(condition.text("path"))
        condition.end()
    reader.end()
    return Anonymous(enabled, tuple(paths))
