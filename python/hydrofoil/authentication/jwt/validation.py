"""Validation of issuers, with upstream's messages (apiserver `pkg/apis/apiserver/validation/validation.go`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from msgspec import Struct, field

from hydrofoil import engine
from hydrofoil.authentication.jwt.configuration import Authenticator, Configuration, Issuer, Mapping
from hydrofoil.go_text import quote
from hydrofoil.outbound.trust import bundle_problem

MOST = 64
"""The largest number of issuers."""
ANY = "MatchAny"
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")
SUBDOMAIN_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
BOTH = "claim and expression can't both be set"
NEITHER = "claim or expression is required"
NO_PREFIX = "prefix is required when claim is set. It can be set to an empty string to disable prefixing"
UNVERIFIED = (
    "claims.email_verified must be used in claimMappings.username.expression or "
    "claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in "
    "claimMappings.username.expression"
)
RESERVED = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"
Expression = engine.Expression


class Compiled(Struct):
    """The expressions of one issuer; those of rules and of extra fields in the order of the configuration."""

    username: Expression | None = None
    groups: Expression | None = None
    uid: Expression | None = None
    extra: list[tuple[str, str, Expression]] = field(default_factory=list)
    """Keys, texts and expressions."""
    claim_rules: list[tuple[str, str, Expression]] = field(default_factory=list)
    """Texts, messages and expressions."""
    user_rules: list[tuple[str, str, Expression]] = field(default_factory=list)


class _Errors(list[str]):
    def invalid(self, path: str, value: str, why: str) -> None:
        self.append(f"{path}: Invalid value: {quote(value)}: {why}")

    def required(self, path: str, why: str = "") -> None:
        self.append(f"{path}: Required value" + (f": {why}" if why else ""))

    def duplicate(self, path: str, value: str) -> None:
        self.append(f"{path}: Duplicate value: {quote(value)}")


def validate(configuration: Configuration, disallowed: Collection[str]) -> list[Compiled]:
    """Return the expressions of each issuer. Raise ValueError with all errors in one line.

    `disallowed` are the issuers of service account tokens.
    """
    errors = _Errors()
    found = []
    if len(configuration.authenticators) > MOST:
        count = len(configuration.authenticators)
        raise ValueError(f"jwt: Too many: {count}: must have at most {MOST} items")
    urls: set[str] = set()
    discovery: set[str] = set()
    for i, authenticator in enumerate(configuration.authenticators):
        path = f"jwt[{i}]"
        found.append(_compile_expression(authenticator, path, disallowed, errors))
        issuer = authenticator.issuer
        for key, value, seen in (("url", issuer.url, urls), ("discoveryURL", issuer.discovery_url, discovery)):
            if value in seen:
                errors.duplicate(f"{path}.issuer.{key}", value)
            if value or key == "url":
                seen.add(value)
    anonymous = configuration.anonymous
    if anonymous is not None and not anonymous.enabled and anonymous.paths:
        conditions = "[" + ",".join(f'{{"Path":{quote(path)}}}' for path in anonymous.paths) + "]"
        why = "enabled should be set to true when conditions are defined"
        errors.append(f"anonymous.conditions: Invalid value: {conditions}: {why}")
    if errors:
        raise ValueError(aggregate_errors(errors))
    return found


def aggregate_errors(errors: list[str]) -> str:
    """Return one line for errors, each once (apimachinery `util/errors`)."""
    each = [" ".join(text.split()) for text in dict.fromkeys(errors)]
    return each[0] if len(each) == 1 else f"[{', '.join(each)}]"


def _compile_expression(of: Authenticator, path: str, disallowed: Collection[str], errors: _Errors) -> Compiled:
    found = Compiled()
    _issuer(of.issuer, f"{path}.issuer", disallowed, errors)
    _claim_rules(of, f"{path}.claimValidationRules", found, errors)
    _mappings(of, f"{path}.claimMappings", found, errors)
    seen: set[str] = set()
    for i, rule in enumerate(of.user_rules):
        at = f"{path}.userValidationRules[{i}].expression"
        if not rule.expression:
            errors.required(at)
        elif rule.expression in seen:
            errors.duplicate(at, rule.expression)
        elif (expression := _expression(rule.expression, "user", at, errors, condition=True)) is not None:
            found.user_rules.append((rule.expression, rule.message, expression))
        seen.add(rule.expression)
    return found


def _issuer(issuer: Issuer, path: str, disallowed: Collection[str], errors: _Errors) -> None:
    if not issuer.url:
        errors.required(f"{path}.url")
    else:
        _url(issuer.url, disallowed, f"{path}.url", errors)
    if issuer.discovery_url:
        at = f"{path}.discoveryURL"
        if issuer.url and issuer.url.rstrip("/") == issuer.discovery_url.rstrip("/"):
            errors.invalid(at, issuer.discovery_url, "discoveryURL must be different from URL")
        _url(issuer.discovery_url, (), at, errors)
    _audiences(issuer, path, errors)
    authority = issuer.certificate_authority
    if authority and bundle_problem(authority.encode()):
        why = "data does not contain any valid RSA or ECDSA certificates"
        errors.invalid(f"{path}.certificateAuthority", "<omitted>", why)
    if issuer.egress_selector_type:
        known = issuer.egress_selector_type in ("controlplane", "cluster")
        why = (
            "egress selectors are not supported" if known else "egress selector must be either controlplane or cluster"
        )
        errors.invalid(f"{path}.egressSelectorType", issuer.egress_selector_type, why)


def _url(url: str, disallowed: Collection[str], path: str, errors: _Errors) -> None:
    if url in disallowed:
        names = " ".join(sorted(disallowed))
        errors.invalid(path, url, f"URL must not overlap with disallowed issuers: [{names}]")
    try:
        parts = urlsplit(url)
        _ = parts.port
        if any(ord(c) < 33 or ord(c) == 127 for c in url):
            raise ValueError("invalid character in URL")
    except ValueError as e:
        errors.invalid(path, url, f"parse {quote(url)}: {e}")
        return
    if parts.scheme != "https":
        errors.invalid(path, url, "URL scheme must be https")
    if "@" in parts.netloc:
        errors.invalid(path, url, "URL must not contain a username or password")
    if parts.query:
        errors.invalid(path, url, "URL must not contain a query")
    if parts.fragment:
        errors.invalid(path, url, "URL must not contain a fragment")


def _audiences(issuer: Issuer, path: str, errors: _Errors) -> None:
    at = f"{path}.audiences"
    if not issuer.audiences:
        errors.required(at, f"at least one {at} is required")
        return
    seen: set[str] = set()
    for i, audience in enumerate(issuer.audiences):
        if not audience:
            errors.required(f"{at}[{i}]")
        if audience in seen:
            errors.duplicate(f"{at}[{i}]", audience)
        seen.add(audience)
    policy, at = issuer.audience_match_policy, f"{path}.audienceMatchPolicy"
    if len(issuer.audiences) > 1 and policy != ANY:
        errors.invalid(at, policy, "audienceMatchPolicy must be MatchAny for multiple audiences")
    if len(issuer.audiences) == 1 and policy not in ("", ANY):
        errors.invalid(at, policy, "audienceMatchPolicy must be empty or MatchAny for single audience")


def _claim_rules(of: Authenticator, path: str, found: Compiled, errors: _Errors) -> None:
    claims: set[str] = set()
    expressions: set[str] = set()
    for i, rule in enumerate(of.claim_rules):
        at = f"{path}[{i}]"
        if rule.claim and rule.expression:
            errors.invalid(at, rule.claim, BOTH)
        elif rule.claim:
            if rule.message:
                errors.invalid(f"{at}.message", rule.message, "may not be specified when claim is set")
            if rule.claim in claims:
                errors.duplicate(f"{at}.claim", rule.claim)
            claims.add(rule.claim)
        elif not rule.expression:
            errors.required(at, NEITHER)
        else:
            if rule.required_value:
                why = "may not be specified when expression is set"
                errors.invalid(f"{at}.requiredValue", rule.required_value, why)
            if rule.expression in expressions:
                errors.duplicate(f"{at}.expression", rule.expression)
                continue
            expressions.add(rule.expression)
            expression = _expression(rule.expression, "claims", f"{at}.expression", errors, condition=True)
            if expression is not None:
                found.claim_rules.append((rule.expression, rule.message, expression))


def _mappings(of: Authenticator, path: str, found: Compiled, errors: _Errors) -> None:
    found.username = _prefix_expression(of.username, f"{path}.username", errors, required=True)
    found.groups = _prefix_expression(of.groups, f"{path}.groups", errors, required=False)
    if of.uid.claim and of.uid.expression:
        errors.invalid(f"{path}.uid", "", BOTH)
    elif of.uid.expression:
        found.uid = _expression(of.uid.expression, "claims", f"{path}.uid.expression", errors)
    seen: set[str] = set()
    for i, extra in enumerate(of.extra):
        at = f"{path}.extra[{i}]"
        _key(extra.key, f"{at}.key", errors)
        if extra.key in seen:
            errors.duplicate(f"{at}.key", extra.key)
            continue
        seen.add(extra.key)
        if not extra.expression:
            errors.required(f"{at}.valueExpression")
            continue
        expression = _expression(extra.expression, "claims", f"{at}.valueExpression", errors)
        if expression is not None:
            found.extra.append((extra.key, extra.expression, expression))
    verifying = [found.username, *(e for *_, e in found.extra), *(e for *_, e in found.claim_rules)]
    named = any(e is not None and "email_verified" in e.fields for e in verifying)
    if found.username is not None and "email" in found.username.fields and not named:
        errors.invalid(f"{path}.username.expression", of.username.expression, UNVERIFIED)


def _prefix_expression(mapping: Mapping, path: str, errors: _Errors, *, required: bool) -> Expression | None:
    if mapping.expression and mapping.claim:
        errors.invalid(path, "", BOTH)
    elif mapping.expression:
        if mapping.prefix is not None:
            errors.invalid(f"{path}.prefix", mapping.prefix, "may not be specified when expression is set")
        return _expression(mapping.expression, "claims", f"{path}.expression", errors)
    elif mapping.claim:
        if mapping.prefix is None:
            errors.required(f"{path}.prefix", NO_PREFIX)
    elif required:
        errors.required(path, NEITHER)
    return None


def _key(key: str, path: str, errors: _Errors) -> None:
    """Check the key of an extra field (`IsDomainPrefixedPath`)."""
    domain, slash, rest = key.partition("/")
    if not key:
        errors.required(path)
    elif not slash or not domain or not rest:
        errors.invalid(path, key, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        if len(domain) > 253:
            errors.invalid(path, domain, "must be no more than 253 bytes")
        if not SUBDOMAIN.fullmatch(domain):
            errors.invalid(path, domain, SUBDOMAIN_WORDS)
        if not PATH.fullmatch(rest):
            errors.invalid(path, rest, f"Invalid path (regex used for validation is '{PATH.pattern}')")
    if key != key.lower():
        errors.invalid(path, key, "must be lowercase")
    if slash and any(domain == own or domain.endswith(f".{own}") for own in ("kubernetes.io", "k8s.io")):
        errors.invalid(path, key, RESERVED)


def _expression(text: str, variable: str, path: str, errors: _Errors, *, condition: bool = False) -> Expression | None:
    """Compile an expression; a condition must be a boolean."""
    make: Callable[[str, str], Expression] = Expression
    try:
        made = make(text, variable)
    except ValueError as e:
        if str(e).startswith("compilation failed"):
            errors.invalid(path, text, str(e))
        else:
            errors.append(f"{path}: Internal error: {e}")
        return None
    if condition and made.result != "bool":
        errors.invalid(path, text, "must evaluate to bool")
        return None
    return made
