"""The configuration file and its validation, with upstream's messages (`validation_test.go`), and the flags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from hydrofoil.authentication.jwt import flags
from hydrofoil.authentication.jwt.configuration import Anonymous, Mapping, parse
from hydrofoil.authentication.jwt.validation import validate
from hydrofoil.authentication.options import AuthenticationOptions, issuers_named
from hydrofoil.authentication.service import Conditions
from hydrofoil.options import Texts
from tests.authorities import Authority

Object = dict[str, Any]
URL = "https://issuer.example.com"
GOOD: Object = {
    "issuer": {"url": URL, "audiences": ["a"]},
    "claimMappings": {"username": {"claim": "sub", "prefix": ""}},
}


def document(*jwt: Object, **more: Any) -> bytes:
    head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration"}
    return orjson.dumps(head | {"jwt": list(jwt)} | more)


def changed(path: str, value: Any) -> Object:
    made: Object = orjson.loads(orjson.dumps(GOOD))
    at = made
    *parents, last = path.split(".")
    for key in parents:
        at = at.setdefault(key, {})
    at[last] = value
    return made


def problem(data: bytes, *disallowed: str) -> str:
    with pytest.raises(ValueError, match=r"^.+$") as found:
        validate(parse(data), disallowed)
    return str(found.value)


def test_a_whole_configuration() -> None:
    jwt = GOOD | {
        "claimValidationRules": [{"claim": "hd", "requiredValue": "x"}, {"expression": "true", "message": "m"}],
        "userValidationRules": [{"expression": "user.username != ''", "message": "m"}],
        "claimMappings": {
            "username": {"expression": "claims.email"},
            "groups": {"claim": "g", "prefix": "p"},
            "uid": {"claim": "u"},
            "extra": [{"key": "example.com/v", "valueExpression": "string(claims.email_verified)"}],
        },
    }
    anonymous = {"enabled": True, "conditions": [{"path": "/livez"}]}
    found = parse(document(jwt, anonymous=anonymous))
    assert found.authenticators[0].groups == Mapping("g", "p")
    assert found.anonymous == Anonymous(enabled=True, paths=("/livez",))
    compiled = validate(found, ())[0]
    assert compiled.username is not None and compiled.groups is None
    assert [key for key, *_ in compiled.extra] == ["example.com/v"]
    assert len(compiled.claim_rules) == len(compiled.user_rules) == 1


def test_versions_and_yaml() -> None:
    for version in ("v1", "v1beta1"):
        assert parse(f"apiVersion: apiserver.config.k8s.io/{version}\nkind: AuthenticationConfiguration\n".encode())
    assert 'no kind "Other"' in problem(b"apiVersion: apiserver.config.k8s.io/v1\nkind: Other\n")
    for text in (b"{not yaml", b"a: [", b"\xff", b"[]", b"null", b"7", b"- a"):
        problem(text)


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("issuer.url", "", "jwt[0].issuer.url: Required value"),
        ("issuer.url", "http://x", "URL scheme must be https"),
        ("issuer.url", "https://a:b@x", "URL must not contain a username or password"),
        ("issuer.url", "https://x?a", "URL must not contain a query"),
        ("issuer.url", "https://x#a", "URL must not contain a fragment"),
        ("issuer.url", "https://x:y", "jwt[0].issuer.url: Invalid value"),
        ("issuer.url", 7, 'strict decoding error: "jwt[0].issuer.url" must be a string'),
        ("issuer.discoveryURL", URL + "/", "discoveryURL must be different from URL"),
        ("issuer.discoveryURL", "http://y", "jwt[0].issuer.discoveryURL: Invalid value"),
        ("issuer.audiences", [], "at least one jwt[0].issuer.audiences is required"),
        ("issuer.audiences", ["a", "b"], "audienceMatchPolicy must be MatchAny for multiple audiences"),
        ("issuer.audiences", [""], "jwt[0].issuer.audiences[0]: Required value"),
        ("issuer.audienceMatchPolicy", "x", "must be empty or MatchAny for single audience"),
        ("issuer.certificateAuthority", "x", '"<omitted>": data does not contain any valid'),
        ("issuer.egressSelectorType", "cluster", "jwt[0].issuer.egressSelectorType: Invalid value"),
        ("issuer.bogus", 1, 'strict decoding error: unknown field "jwt[0].issuer.bogus"'),
        (
            "claimMappings.username",
            {},
            "jwt[0].claimMappings.username: Required value: claim or expression is required",
        ),
        ("claimMappings.username", {"claim": "s"}, "prefix is required when claim is set"),
        ("claimMappings.username", {"claim": "s", "expression": "'a'"}, "claim and expression can't both be set"),
        ("claimMappings.username", {"prefix": "", "expression": "'a'"}, "may not be specified when expression is set"),
        ("claimMappings.username", {"expression": "claims."}, "compilation failed: ERROR: <input>:1:8: Syntax error"),
        ("claimMappings.username", {"expression": "claims.email"}, "claims.email_verified must be used"),
        ("claimMappings.groups", {"claim": "g"}, "jwt[0].claimMappings.groups.prefix: Required value"),
        ("claimMappings.uid", {"claim": "u", "expression": "'a'"}, "claim and expression can't both be set"),
        ("claimMappings.extra", [{"key": "a", "valueExpression": "'a'"}], "must be a domain-prefixed path"),
        ("claimMappings.extra", [{"key": "", "valueExpression": "'a'"}], "extra[0].key: Required value"),
        ("claimMappings.extra", [{"key": "a.io/K", "valueExpression": "'a'"}], "must be lowercase"),
        ("claimMappings.extra", [{"key": "x.k8s.io/a", "valueExpression": "'a'"}], "are reserved for Kubernetes use"),
        ("claimMappings.extra", [{"key": "a.io/k"}], "valueExpression: Required value"),
        ("claimMappings.extra", [{"key": "a.io/k", "valueExpression": "''"}] * 2, 'Duplicate value: "a.io/k"'),
        (
            "claimValidationRules",
            [{}],
            "jwt[0].claimValidationRules[0]: Required value: claim or expression is required",
        ),
        ("claimValidationRules", [{"claim": "a", "message": "m"}], "may not be specified when claim is set"),
        ("claimValidationRules", [{"claim": "a"}] * 2, 'claimValidationRules[1].claim: Duplicate value: "a"'),
        ("claimValidationRules", [{"expression": "claims.a"}], "must evaluate to bool"),
        ("claimValidationRules", [{"expression": "true", "requiredValue": "m"}], "requiredValue: Invalid value"),
        ("userValidationRules", [{"expression": "user.name == ''"}], "undefined field 'name'"),
        ("userValidationRules", [{"expression": "user.username"}], "must evaluate to bool"),
        ("userValidationRules", [{}], "userValidationRules[0].expression: Required value"),
    ],
)
def test_errors_are_one_line(path: str, value: Any, text: str) -> None:
    assert text in problem(document(changed(path, value)))


def test_errors_of_the_whole() -> None:
    assert "jwt[1].issuer.url: Duplicate value" in problem(document(GOOD, GOOD))
    assert problem(document(*[GOOD] * 65)) == "jwt: Too many: 65: must have at most 64 items"
    assert problem(document(GOOD), "https://b", URL) == (
        f'jwt[0].issuer.url: Invalid value: "{URL}": URL must not overlap with disallowed issuers: [https://b {URL}]'
    )
    anonymous = {"enabled": False, "conditions": [{"path": "/a"}]}
    assert "enabled should be set to true when conditions are defined" in problem(document(anonymous=anonymous))
    assert 'unknown field "anonymous.x"' in problem(document(anonymous={"enabled": True, "x": 1}))


def test_conditions_of_anonymous_requests() -> None:
    """The decoded path is compared exactly; the flag decides where the file has no such part."""
    said = Conditions(enabled=False, said=Anonymous(enabled=True, paths=("/livez", "/apis/")))
    assert said.allows("/livez") and said.allows("/apis/")
    assert not any(map(said.allows, ("/livez/", "/apis", "/LIVEZ", "/livez?a", "//livez", "", "/")))
    assert Conditions(enabled=True).allows("/any") and not Conditions(enabled=False).allows("/any")
    assert not Conditions(enabled=True, said=Anonymous(enabled=False)).allows("/any")
    assert Conditions(enabled=True, said=Anonymous(enabled=True)).allows("/any")


def options(**given: Any) -> AuthenticationOptions:
    return AuthenticationOptions(**given)


def test_flags_of_one_issuer(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(Authority("a").certificate)
    both = {"oidc_issuer_url": URL, "oidc_client_id": "c", "oidc_ca_file": str(tmp_path / "ca.crt")}
    found = flags.configuration(options(**both)).authenticators[0]
    assert found.username == Mapping("sub", f"{URL}#") and found.groups == Mapping()
    assert found.issuer.audiences == ("c",)
    assert validate(flags.configuration(options(**both)), ())
    found = flags.configuration(options(**both, oidc_username_claim="email")).authenticators[0]
    assert found.username == Mapping("email", "")
    dashes = {"oidc_username_prefix": "-", "oidc_groups_claim": "g", "oidc_groups_prefix": "-"}
    found = flags.configuration(options(**both, **dashes)).authenticators[0]
    assert (found.username.prefix, found.groups.prefix) == ("", "-")
    found = flags.configuration(options(**both, oidc_required_claim={"a": "b"})).authenticators[0]
    assert [(rule.claim, rule.required_value) for rule in found.claim_rules] == [("a", "b")]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"oidc_issuer_url": URL}, "oidc-issuer-url and oidc-client-id must be specified together when any oidc-*"),
        ({"oidc_groups_claim": "g"}, "oidc-issuer-url and oidc-client-id must be specified together when any oidc-*"),
        ({"authentication_config": "f", "oidc_client_id": "c"}, "authentication-config file and oidc-* flags are"),
        ({"oidc_signing_algs": Texts(("HS256",))}, "must be specified together"),
        (
            {"oidc_issuer_url": URL, "oidc_client_id": "c", "oidc_signing_algs": Texts(("RS256", "HS256"))},
            'oidc: unsupported signing alg: "HS256"',
        ),
    ],
)
def test_flags_that_do_not_fit(given: Object, text: str) -> None:
    assert issuers_named(options(**given))
    with pytest.raises(ValueError, match=r"^.+$") as found:
        flags.check(options(**given))
    assert text in str(found.value)


def test_without_flags_there_is_nothing_to_do() -> None:
    assert not issuers_named(options())
    flags.check(options())
