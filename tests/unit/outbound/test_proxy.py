"""A request as the server sees it that it is passed on to."""

from __future__ import annotations

from hydrofoil.outbound.proxy import forwarded, target
from tests.contract.requests import requested

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
    found = forwarded(context, "there:443", upgrade=False)
    names = [name.lower() for name, _ in found]
    assert found[0] == ("Host", "there:443")
    assert not {"authorization", "connection", "x-hop", "transfer-encoding"} & set(names)
    assert [value for name, value in found if name == "X-Remote-User"] == [context.user.name]
    assert ("Audit-Id", "id") in found
    assert ("X-Forwarded-Uri", "/apis/e.com/v1/things") in found
    assert dict(found)["X-Forwarded-For"].startswith("10.0.0.1")


def test_an_upgrade_keeps_what_asks_for_it() -> None:
    found = dict(forwarded(requested("GET", "/apis/e.com/v1/x", HEADERS), "there", upgrade=True))
    assert found["Connection"] == "close, X-Hop"
    assert "Authorization" not in found


def test_parameters_stand_in_gos_order() -> None:
    assert str(target(requested("GET", "/a%2Fb?b=1&a=2&b=0"), "there:1")) == "https://there:1/a%2Fb?a=2&b=1&b=0"
    assert str(target(requested("GET", "/a"), "there:1")) == "https://there:1/a"
