"""Headers of requests that are passed on (client-go `transport/round_trippers.go`)."""

from __future__ import annotations

from typing import cast

import pytest

from hydrofoil.outbound.proxy import BEARER, BREAKS, escape_key, forwarded_headers, target
from hydrofoil.request import Incoming, User
from tests.contract.requests import requested
from tests.unit.authentication.requests import Request

USER = User("ann", "1", ("a", "b"), {"example.com/Team%": ("x", "y")})


def passed(*headers: tuple[str, str], user: User = USER, upgrade: bool = False) -> list[tuple[str, str]]:
    request = Request(*headers)
    request.__dict__ |= {"user": user, "remote": "10.0.0.1", "target": "/apis/g/v1?x=y", "audit_id": "id"}
    return forwarded_headers(cast(Incoming, request), "service:443", upgrade=upgrade)


def test_the_user_is_in_headers_of_its_own() -> None:
    found = passed()
    assert ("X-Remote-User", "ann") in found
    assert ("X-Remote-Uid", "1") in found
    assert [value for name, value in found if name == "X-Remote-Group"] == ["a", "b"]
    extra = "X-Remote-Extra-example.com%2FTeam%25"
    assert [value for name, value in found if name == extra] == ["x", "y"]


@pytest.mark.parametrize("upgrade", [False, True])
@pytest.mark.parametrize(
    "name", ["Authorization", "AUTHORIZATION", "X-Remote-User", "x-remote-group", "X-Remote-Extra-a", "X-Remote-Uid"]
)
def test_credentials_and_users_of_clients_stay_here(name: str, upgrade: bool) -> None:
    found = passed((name, "given"), ("Accept", "a/b"), upgrade=upgrade)
    assert ("Accept", "a/b") in found
    assert all(value != "given" for _, value in found)


def test_a_token_among_subprotocols_stays_here() -> None:
    found = dict(passed(("Sec-WebSocket-Protocol", f"{BEARER}dG9r, a, b"), upgrade=True))
    assert found["Sec-WebSocket-Protocol"] == "a, b"


def test_a_user_that_would_end_its_header_is_noticed() -> None:
    found = passed(user=User("ann\r\nX-Remote-Group: system:masters"))
    assert [name for name, value in found if BREAKS.search(value)] == ["X-Remote-User"]
    assert not any(BREAKS.search(value) for _, value in passed())


@pytest.mark.parametrize(("key", "shown"), [("a-b_c.d", "a-b_c.d"), ("a b", "a%20b"), ("é", "%C3%A9"), ("%", "%25")])
def test_keys_of_extra_fields(key: str, shown: str) -> None:
    assert escape_key(key) == shown


HEADERS = {
    "Host": "here",
    "Authorization": "Bearer secret",
    "X-Remote-User": "somebody else",
    "Connection": "close, X-Hop",
    "X-Hop": "1",
    "Transfer-Encoding": "chunked",
    "X-Forwarded-For": "10.0.0.1",
    "Accept": "application/json",
}


def test_the_caller_is_named_by_the_proxy_alone() -> None:
    context = requested("GET", "/apis/e.com/v1/things?b=1&a=2", HEADERS)
    context.audit_id = "id"
    found = forwarded_headers(context, "there:443", upgrade=False)
    names = [name.lower() for name, _ in found]
    assert found[0] == ("Host", "there:443")
    assert not {"authorization", "connection", "x-hop", "transfer-encoding"} & set(names)
    assert [value for name, value in found if name == "X-Remote-User"] == [context.user.name]
    assert ("Audit-Id", "id") in found
    assert ("X-Forwarded-Uri", "/apis/e.com/v1/things") in found
    assert dict(found)["X-Forwarded-For"].startswith("10.0.0.1")


def test_an_upgrade_keeps_what_asks_for_it() -> None:
    found = dict(forwarded_headers(requested("GET", "/apis/e.com/v1/x", HEADERS), "there", upgrade=True))
    assert found["Connection"] == "close, X-Hop"
    assert "Authorization" not in found


def test_parameters_stand_in_gos_order() -> None:
    assert str(target(requested("GET", "/a%2Fb?b=1&a=2&b=0"), "there:1")) == "https://there:1/a%2Fb?a=2&b=1&b=0"
    assert str(target(requested("GET", "/a"), "there:1")) == "https://there:1/a"
