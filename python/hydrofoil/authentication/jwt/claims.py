"""The user that claims mean (apiserver `plugin/pkg/authenticator/token/oidc/oidc.go`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from hydrofoil import engine
from hydrofoil.authentication.jwt.configuration import Authenticator
from hydrofoil.authentication.jwt.validation import Compiled, Expression
from hydrofoil.authentication.login import Rejected
from hydrofoil.request import User

CREDENTIAL = "authentication.kubernetes.io/credential-id"
NO_TEXTS = "expression must return a string or a list of strings"
Claims = dict[str, Any]


class Mapper:
    """From the claims of one issuer to users."""

    def __init__(self, of: Authenticator, compiled: Compiled) -> None:
        self._of = of
        self._compiled = compiled
        found = compiled
        self.evaluates = any(
            (found.username, found.groups, found.uid, found.extra, found.claim_rules, found.user_rules)
        )
        """Whether it has expressions."""
        self._required = {rule.claim: rule.required_value for rule in of.claim_rules if rule.claim}

    def user(self, claims: Claims) -> User:
        """Return the user of verified claims. Raise Rejected."""
        on = orjson.dumps(claims) if self.evaluates else b""
        name = self._name(claims, on)
        groups = self._groups(claims, on)
        user = User(name, self._uid(claims, on), tuple(groups), self._extra(claims, on))
        for claim, wanted in self._required.items():
            if claim not in claims:
                raise Rejected(f"oidc: required claim {claim} not present in ID token")
            if (got := text(claims, claim, f"oidc: parse claim {claim}")) != wanted:
                raise Rejected(f"oidc: required claim {claim} value does not match. Got = {got}, want = {wanted}")
        _hold(self._compiled.claim_rules, on, "claim validation expression")
        if self._compiled.user_rules:
            _hold(self._compiled.user_rules, encode_user(user), "user info validation rule")
        return user

    def _name(self, claims: Claims, on: bytes) -> str:
        if (expression := self._compiled.username) is not None:
            what = "username claim expression"
            found = _evaluate(expression, self._of.username.expression, on, what)
            if not isinstance(found, str):
                raise Rejected(f"oidc: error evaluating {what}: username claim expression must return a string")
            if not found:
                raise Rejected("oidc: empty username via CEL expression is not allowed")
            return found
        claim = self._of.username.claim
        name = text(claims, claim, f'oidc: parse username claims "{claim}"')
        verified = claims.get("email_verified", True)
        if claim == "email" and verified is not True:
            # Go reads a null as false.
            if verified is False or verified is None:
                raise Rejected("oidc: email not verified")
            raise Rejected("oidc: parse 'email_verified' claim: it must be a boolean")
        return (self._of.username.prefix or "") + name

    def _groups(self, claims: Claims, on: bytes) -> list[str]:
        mapping = self._of.groups
        if mapping.claim and mapping.claim in claims:
            prefix = mapping.prefix or ""
            return [prefix + group for group in texts_of_claim(claims[mapping.claim], mapping.claim)]
        if (expression := self._compiled.groups) is None:
            return []
        what = "group claim expression"
        return _texts(_evaluate(expression, mapping.expression, on, what), f"oidc: error evaluating {what}")

    def _uid(self, claims: Claims, on: bytes) -> str:
        mapping = self._of.uid
        if mapping.claim:
            return text(claims, mapping.claim, f'oidc: parse uid claim "{mapping.claim}"')
        if (expression := self._compiled.uid) is None:
            return ""
        what = "uid claim expression"
        found = _evaluate(expression, mapping.expression, on, what)
        if not isinstance(found, str):
            raise Rejected(f"oidc: error evaluating {what}: {what} must return a string")
        return found

    def _extra(self, claims: Claims, on: bytes) -> dict[str, tuple[str, ...]]:
        extra: dict[str, tuple[str, ...]] = {}
        # A claim of another type counts as absent.
        if isinstance(jti := claims.get("jti"), str) and jti:
            extra[CREDENTIAL] = (f"JTI={jti}",)
        for key, source, expression in self._compiled.extra:
            what = "extra claim expression"
            values = _texts(_evaluate(expression, source, on, what), f"oidc: error evaluating {what}: {source}")
            if values:
                extra[key] = tuple(values)
        return extra


def text(claims: Claims, claim: str, what: str) -> str:
    """Return the text of a claim; null counts as the empty one, as Go reads it. Raise Rejected."""
    if claim not in claims:
        raise Rejected(f"{what}: claim not present")
    found = claims[claim]
    if found is None:
        return ""
    if not isinstance(found, str):
        raise Rejected(f"{what}: it must be a string")
    return found


def texts_of_claim(found: Any, claim: str) -> list[str]:
    """Return the texts of a claim that has one or a list of them. Raise Rejected."""
    if found is None:
        return []
    if isinstance(found, str):
        return [found]
    if isinstance(found, list) and all(item is None or isinstance(item, str) for item in found):
        return [item or "" for item in found]
    raise Rejected(f'oidc: parse groups claim "{claim}": it must be a string or a list of strings')


def encode_user(user: User) -> bytes:
    """Return a user as expressions see it: every field is there."""
    extra = {key: list(values) for key, values in user.extra.items()}
    return orjson.dumps({"username": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra})


def _evaluate(expression: Expression, source: str, on: bytes, what: str) -> Any:
    try:
        return orjson.loads(expression.evaluate(on) or b"")
    except (engine.EvaluationError, engine.DecodeError) as e:
        raise Rejected(f"oidc: error evaluating {what}: expression '{source}' resulted in error: {e}") from None


def _texts(found: Any, what: str) -> list[str]:
    """Return the texts of a result; empty ones do not count. Raise Rejected."""
    if found is None:
        return []
    if isinstance(found, str):
        return [found] if found else []
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise Rejected(f"{what}: {NO_TEXTS}")
    return [item for item in found if item]


def _hold(rules: Sequence[tuple[str, str, Expression]], on: bytes, what: str) -> None:
    """Check conditions. Raise Rejected for the first that does not hold, after all were evaluated, as upstream."""
    results = [_evaluate(expression, source, on, what) for source, _, expression in rules]
    for (source, message, _), held in zip(rules, results, strict=True):
        if held is not True:
            raise Rejected(f"oidc: error evaluating {what}: validation expression '{source}' failed: {message}")
