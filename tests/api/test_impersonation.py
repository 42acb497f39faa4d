"""Acting as another user: odd forms of the headers beside good ones (apiserver `filters/impersonation`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from multidict import CIMultiDict

from hydrofoil.options import Texts
from tests.api.rights import Guarded, guarded, opened, rule

ME = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
SECRETS = "/api/v1/namespaces/default/secrets"
AS_BOB = rule("impersonate", "users", resourceNames=["bob"])


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Guarded]:
    async with guarded(tmp_path) as made:
        yield made


async def who(server: Guarded, *headers: tuple[str, str], user: str = "ada") -> tuple[int, Any]:
    """Return the status and the user that a request is made as, or the refusal."""
    sent = CIMultiDict(headers)
    sent.add("Authorization", f"Bearer {user}-token")
    async with (
        aiohttp.ClientSession() as session,
        session.post(server.server.url + ME, json={}, headers=sent) as r,
    ):
        found = await r.json()
        return r.status, found["status"]["userInfo"] if r.status == 201 else found["message"]


async def test_a_caller_acts_only_as_those_it_may(server: Guarded) -> None:
    await server.allow("ada", "as-bob", AS_BOB)
    code, found = await who(server, ("Impersonate-User", "bob"))
    assert (code, found) == (201, {"username": "bob", "groups": ["system:authenticated"]})
    for refused in ("admin", "Bob", "bob,admin", "system:admin", "bob\tx", "*"):
        assert (await who(server, ("Impersonate-User", refused)))[0] == 403, refused
    # The right is that of the caller, not of the user it acts as.
    assert (await who(server, ("Impersonate-User", "bob"), user="bob"))[0] == 403


async def test_each_part_of_a_user_needs_a_right(server: Guarded) -> None:
    extra = {"verbs": ["impersonate"], "apiGroups": ["authentication.k8s.io"]}
    await server.allow(
        "ada",
        "as-bob",
        AS_BOB,
        rule("impersonate", "groups", resourceNames=["crew"]),
        {**extra, "resources": ["uids"], "resourceNames": ["u1"]},
        {**extra, "resources": ["userextras/scopes"], "resourceNames": ["view"]},
    )
    user = ("Impersonate-User", "bob")
    for header, good, bad in (
        ("Impersonate-Group", "crew", "system:masters"),
        ("Impersonate-Uid", "u1", "u2"),
        ("Impersonate-Extra-Scopes", "view", "edit"),
    ):
        assert (await who(server, user, (header, good)))[0] == 201
        for refused in (bad, ""):
            if refused or header == "Impersonate-Group":
                assert (await who(server, user, (header, refused)))[0] == 403, (header, refused)
        # One good value does not cover another; only the first uid counts.
        code = (await who(server, user, (header, good), (header, bad)))[0]
        assert code == (201 if header == "Impersonate-Uid" else 403)
    assert (await who(server, user, ("Impersonate-Extra-Scopes%2fMore", "view")))[0] == 403


@pytest.mark.parametrize("name", ["impersonate-user", "IMPERSONATE-USER", "Impersonate-User", "iMPERSONATE-uSER"])
async def test_the_case_of_a_header_changes_nothing(server: Guarded, name: str) -> None:
    await server.allow("ada", "as-bob", AS_BOB)
    assert (await who(server, (name, "bob")))[1]["username"] == "bob"
    assert (await who(server, (name, "admin")))[0] == 403


async def test_names_that_only_resemble_the_header_are_not_looked_at(server: Guarded) -> None:
    await server.allow("ada", "as-bob", AS_BOB)
    for name in ("Impersonate_User", "X-Impersonate-User", "Impersonate-Username", "Impersonate"):
        code, found = await who(server, (name, "admin"))
        assert (code, found["username"]) == (201, "ada"), name


async def test_the_first_of_several_users_counts(server: Guarded) -> None:
    await server.allow("ada", "as-bob", AS_BOB)
    first, second = ("Impersonate-User", "bob"), ("Impersonate-User", "admin")
    assert (await who(server, first, second))[1]["username"] == "bob"
    assert (await who(server, second, first))[0] == 403


async def test_parts_without_a_user_are_refused_and_an_empty_user_is_none(server: Guarded) -> None:
    for header, shown in (
        ("Impersonate-Group", 'Groups:[]string{"x"}, Extra:map[string][]string(nil)'),
        ("Impersonate-Extra-A", 'Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"x"}}'),
    ):
        for empty in ((), (("Impersonate-User", ""),)):
            code, text = await who(server, *empty, (header, "x"), user="admin")
            assert code == 400
            assert text == f'requested &user.DefaultInfo{{Name:"", UID:"", {shown}}} without impersonating a user name'
    assert (await who(server, ("Impersonate-User", "")))[1]["username"] == "ada"


async def test_masters_are_beyond_rights_for_some_requests(server: Guarded) -> None:
    """`impersonate:user-info` on all groups does not reach system:masters; the verb `impersonate` does."""
    me = {"apiGroups": ["authentication.k8s.io"]}
    some = [
        {**me, "resources": ["users", "groups"], "verbs": ["impersonate:user-info"]},
        {**me, "resources": ["selfsubjectreviews"], "verbs": ["impersonate-on:user-info:create"]},
    ]
    await server.allow("ada", "some", *some)
    await server.allow("bob", "all", rule("impersonate", "users groups"))
    user, masters = ("Impersonate-User", "x"), ("Impersonate-Group", "system:masters")
    assert (await who(server, user, ("Impersonate-Group", "y")))[0] == 201
    code, text = await who(server, user, masters)
    assert (code, text.endswith("impersonating the system:masters group is not allowed")) == (403, True)
    assert (await who(server, user, masters, user="bob"))[0] == 201


async def test_what_a_user_may_is_decided_after_who_it_is(server: Guarded) -> None:
    """The rights are those of the user acted as, and the caller's own are gone."""
    await server.allow("ada", "as-bob", AS_BOB, rule("list", "secrets"))
    assert (await server.ask("ada", "GET", SECRETS))[0] == 200
    code, refused = await server.ask("ada", "GET", SECRETS, headers={"Impersonate-User": "bob"})
    assert (code, refused["message"]) == (
        403,
        'secrets is forbidden: User "bob" cannot list resource "secrets" in API group "" in the namespace "default"',
    )
    grown = {"metadata": {"name": "r"}, "rules": [rule("*", "*")]}
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles?dryRun=All"
    assert (await server.ask("admin", "POST", path, grown))[0] == 201
    assert (await server.ask("admin", "POST", path, grown, {"Impersonate-User": "bob"}))[0] == 403


async def test_anonymous_requests_act_as_nobody_else(server: Guarded) -> None:
    assert (await server.ask("", "GET", "/version", headers={"Impersonate-User": "admin"}))[0] == 403
    assert (await server.ask("", "GET", "/version"))[0] == 200
    assert (await server.ask("admin", "GET", "/version", headers={"Impersonate-User": "system:anonymous"}))[0] == 200


async def test_only_the_old_form_counts_without_the_gate(tmp_path: Path) -> None:
    gates = {"ConstrainedImpersonation": False}
    async with guarded(tmp_path, feature_gates=gates, authorization_mode=Texts(("RBAC",))) as server:
        await server.allow("ada", "as-bob", AS_BOB)
        assert (await who(server, ("Impersonate-User", "bob")))[0] == 201
        code, text = await who(server, ("Impersonate-User", "admin"), user="bob")
        assert (code, 'cannot impersonate resource "users" in API group ""' in text) == (403, True)


async def test_bytes_that_are_no_text_do_not_break_an_answer() -> None:
    async with opened() as server:
        code, found = await server.ask("", "POST", ME, {}, {"Impersonate-User": "x\udcff"})
        assert code in (201, 403), found
