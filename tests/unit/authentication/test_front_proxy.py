"""Users named by the headers of a proxy (apiserver `request/headerrequest/requestheader_test.go`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydrofoil.authentication.client_certificates import Authorities
from hydrofoil.authentication.front_proxy import FrontProxy, HeaderNames, unescape_key
from hydrofoil.authentication.login import Rejected
from hydrofoil.authentication.options import CredentialOptions
from hydrofoil.files import Files
from hydrofoil.options import Texts
from tests.unit.authentication.clocks import Fixed
from tests.unit.authentication.requests import Authority, request

CA, OTHERS = Authority("front"), Authority("other")
FRED = ("X-Remote-User", "fred")
OPTIONS = CredentialOptions(
    requestheader_username_headers=Texts(("X-Remote-User", "X-Other-User")),
    requestheader_uid_headers=Texts(("X-Remote-Uid",)),
    requestheader_group_headers=Texts(("X-Remote-Group",)),
    requestheader_extra_headers_prefix=Texts(("X-Remote-Extra-",)),
)


@pytest.fixture
def proxy(tmp_path: Path) -> FrontProxy:
    path = tmp_path / "front.crt"
    path.write_bytes(CA.pem)
    return FrontProxy(Authorities(str(path), Files(Fixed())), HeaderNames.of(OPTIONS), frozenset({"front"}), Fixed())


def test_all_headers(proxy: FrontProxy) -> None:
    headers = (
        FRED,
        ("X-Remote-User", "otto"),
        ("X-Other-User", "olga"),
        ("x-remote-uid", "1"),
        ("X-Remote-Group", "a"),
        ("X-Remote-Group", ""),
        ("x-remote-group", "b"),
        ("X-Remote-Extra-Example.com%2FTeam", "x"),
        ("X-Remote-Extra-Example.com%2fteam", "y"),
        ("X-Remote-Extra-Bad%zz", "z"),
    )
    login = proxy.authenticate(request(*headers, certificates=(CA.issue("front"),)))
    assert login is not None
    user = login.user
    assert (user.name, user.uid, user.groups) == ("fred", "1", ("a", "b"))
    assert user.extra == {"example.com/team": ("x", "y"), "bad%zz": ("z",)}


def test_headers_without_a_certificate_count_for_nothing(proxy: FrontProxy) -> None:
    assert proxy.authenticate(request(FRED, certificates=(CA.issue("front"),))) is not None
    assert proxy.authenticate(request(FRED)) is None


@pytest.mark.parametrize(
    "made", [CA.issue("stranger"), OTHERS.issue("front"), CA.issue("")], ids=["name", "ca", "none"]
)
def test_other_certificates_are_refused(proxy: FrontProxy, made: bytes) -> None:
    with pytest.raises(Rejected):
        proxy.authenticate(request(FRED, certificates=(made,)))


def test_a_proxy_without_a_user_is_nobody(proxy: FrontProxy) -> None:
    assert proxy.authenticate(request(("X-Remote-Group", "a"), certificates=(CA.issue("front"),))) is None


def test_standard_and_configured_headers_are_marked() -> None:
    names = HeaderNames.of(OPTIONS)
    for name in ("x-remote-user", "x-remote-uid", "x-remote-group", "x-other-user", "x-remote-extra-a"):
        assert names.marked(name)
    assert not names.marked("x-remote")
    assert not names.marked("accept")


@pytest.mark.parametrize(("key", "plain"), [("a%2fb", "a/b"), ("a%", "a%"), ("a%zz", "a%zz"), ("%41%2", "%41%2")])
def test_escapes_of_keys(key: str, plain: str) -> None:
    assert unescape_key(key) == plain
