"""Users by claims (access.md: OIDC flags; upstream `oidc_test.go`)."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.authentication.jwt.claims import Mapper
from hydrofoil.authentication.jwt.configuration import (
    Authenticator,
    ClaimRule,
    Configuration,
    ExtraMapping,
    Issuer,
    Mapping,
    UserRule,
)
from hydrofoil.authentication.jwt.validation import validate
from hydrofoil.authentication.login import Rejected
from hydrofoil.request import User

ISSUER = Issuer("https://issuer.example.com", audiences=("cluster",))
Object = dict[str, Any]


def mapper(username: Mapping | None = None, **more: Any) -> Mapper:
    of = Authenticator(ISSUER, username=username or Mapping("sub", ""), **more)
    return Mapper(of, validate(Configuration((of,)), ())[0])


def refused(made: Mapper, claims: Object) -> str:
    with pytest.raises(Rejected) as found:
        made.user(claims)
    return str(found.value)


@pytest.mark.parametrize(
    ("groups", "found"),
    [
        (["a", "b", "a"], ("t:a", "t:b", "t:a")),
        ("a", ("t:a",)),
        ("", ("t:",)),
        ([], ()),
        (None, ()),
        (["system:masters"], ("t:system:masters",)),
    ],
)
def test_forms_of_groups(groups: Any, found: tuple[str, ...]) -> None:
    made = mapper(groups=Mapping("teams", "t:"))
    assert made.user({"sub": "jane", "teams": groups}) == User("jane", groups=found)


@pytest.mark.parametrize("groups", [[1, 2], {"a": "b"}, 7, True, [["a"]]])
def test_other_forms_of_groups_are_refused(groups: Any) -> None:
    assert "parse groups claim" in refused(mapper(groups=Mapping("teams", "")), {"sub": "jane", "teams": groups})


def test_names() -> None:
    made = mapper(Mapping("name", "o:"))
    assert made.user({"name": "jane"}).name == "o:jane"
    assert made.user({"name": ""}).name == "o:"
    for claims in ({}, {"name": 7}, {"name": ["jane"]}):
        assert "parse username claims" in refused(made, claims)


@pytest.mark.parametrize("verified", [False, None, "true", 1, [True]])
def test_an_address_must_not_be_unverified(verified: Any) -> None:
    made = mapper(Mapping("email", ""))
    assert made.user({"email": "kim@example.com"}).name == "kim@example.com"
    assert made.user({"email": "kim@example.com", "email_verified": True}).name == "kim@example.com"
    assert "email" in refused(made, {"email": "kim@example.com", "email_verified": verified})
    # It matters for this claim alone.
    assert mapper().user({"sub": "s", "email_verified": verified}).name == "s"


def test_required_claims() -> None:
    made = mapper(claim_rules=(ClaimRule("hd", "example.com"),))
    assert made.user({"sub": "s", "hd": "example.com"}).name == "s"
    assert "not present" in refused(made, {"sub": "s"})
    assert "does not match" in refused(made, {"sub": "s", "hd": "Example.com"})
    assert "must be a string" in refused(made, {"sub": "s", "hd": ["example.com"]})


def test_the_id_of_a_token_is_an_extra_field() -> None:
    assert mapper().user({"sub": "s", "jti": "a"}).extra == {"authentication.kubernetes.io/credential-id": ("JTI=a",)}
    assert mapper().user({"sub": "s", "jti": 7}).extra == {}


def test_uids() -> None:
    made = mapper(uid=Mapping("oid"))
    assert made.user({"sub": "s", "oid": "u"}).uid == "u"
    assert "parse uid claim" in refused(made, {"sub": "s", "oid": 7})
    assert "not present" in refused(made, {"sub": "s"})


@pytest.fixture(scope="module")
def expressions() -> Mapper:
    return mapper(
        Mapping(expression="'cel:' + claims.sub"),
        groups=Mapping(expression="has(claims.roles) ? dyn(claims.roles).map(r, 'cel:' + r) : []"),
        uid=Mapping(expression="claims.sub"),
        extra=(ExtraMapping("example.com/tenant", "claims.tenant"),),
        claim_rules=(ClaimRule(expression="claims.exp - claims.iat <= 86400", message="too long"),),
        user_rules=(
            UserRule("!user.username.contains('system:')", "reserved"),
            UserRule("user.groups.all(g, g != 'cel:banned')", "banned"),
        ),
    )


CLAIMS: Object = {"sub": "s", "tenant": "acme", "iat": 10, "exp": 20}


def test_expressions(expressions: Mapper) -> None:
    extra = {"example.com/tenant": ("acme",)}
    assert expressions.user(CLAIMS) == User("cel:s", "s", (), extra)
    assert expressions.user(CLAIMS | {"roles": ["a", "b"]}).groups == ("cel:a", "cel:b")
    assert expressions.user(CLAIMS | {"tenant": ["x", "", "y"]}).extra == {"example.com/tenant": ("x", "y")}
    assert expressions.user(CLAIMS | {"tenant": ""}).extra == {}
    assert expressions.user(CLAIMS | {"tenant": None}).extra == {}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"exp": 90_000}, "too long"),
        ({"sub": "system:x"}, "reserved"),
        ({"roles": ["banned"]}, "banned"),
        ({"roles": "a"}, "error evaluating group claim expression"),
        ({"tenant": 7}, "expression must return a string or a list of strings"),
        ({"tenant": [7]}, "expression must return a string or a list of strings"),
        ({"sub": 7}, "no such overload"),
        ({"iat": "x"}, "error evaluating claim validation expression"),
    ],
)
def test_expressions_that_refuse(expressions: Mapper, changes: Object, why: str) -> None:
    assert why in refused(expressions, CLAIMS | changes)


def test_missing_claims_refuse(expressions: Mapper) -> None:
    for claim in ("tenant", "iat", "sub"):
        assert f"no such key: {claim}" in refused(expressions, {k: v for k, v in CLAIMS.items() if k != claim})


def test_an_empty_name_by_an_expression_is_refused() -> None:
    made = mapper(Mapping(expression="claims.sub"))
    assert "empty username" in refused(made, {"sub": ""})
    assert "must return a string" in refused(made, {"sub": 7})
