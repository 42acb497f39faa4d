"""Preconditions of a write on the present version."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hydrofoil.engine import Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.preconditions import check_deletion, check_uid, check_version, storage_error
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from tests.unit.parts import draft, opened, resource

MAPS = resource("configmaps")


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    async with opened() as found:
        yield found


@pytest.fixture
async def stored(registry: Registry) -> Stored:
    return await registry.create(MAPS, "a", draft(MAPS, {"metadata": {"name": "c", "namespace": "a"}}), Write())


def test_keys_of_the_storage_have_their_old_names(stored: Stored) -> None:
    for plural, group, key in (
        ("configmaps", "", "/configmaps/a/c"),
        ("services", "", "/services/specs/a/c"),
        ("ingresses", "networking.k8s.io", "/ingress/a/c"),
        ("apiservices", "apiregistration.k8s.io", "/apiregistration.k8s.io/apiservices/a/c"),
    ):
        assert f"Key: {key}, " in storage_error(resource(plural, group), stored, "why")


@pytest.mark.parametrize(
    ("version", "code"),
    [("1", 409), ("abc", 400), ("-1", 400), ("99999999999999999999", 400), ("18446744073709551616", 400)],
)
def test_a_version_that_is_not_the_present_one(stored: Stored, version: str, code: int) -> None:
    with pytest.raises(ApiError) as found:
        check_version(MAPS, "c", stored, version, unconditional=True)
    assert found.value.code == code


def test_a_version_may_be_left_out_where_the_kind_allows_it(stored: Stored) -> None:
    for version in ("", "0", "000"):
        check_version(MAPS, "c", stored, version, unconditional=True)
        with pytest.raises(ApiError, match="must be specified for an update"):
            check_version(MAPS, "c", stored, version, unconditional=False)
    check_version(MAPS, "c", stored, f"00{stored.revision}", unconditional=False)


def test_a_uid_that_is_not_the_present_one(stored: Stored) -> None:
    check_uid(MAPS, "c", stored, "")
    check_uid(MAPS, "c", stored, stored.uid)
    with pytest.raises(ApiError, match="Precondition failed: UID in precondition: other") as found:
        check_uid(MAPS, "c", stored, "other")
    assert found.value.code == 409


def test_preconditions_of_a_deletion(stored: Stored) -> None:
    own = DeleteOptions(uid=stored.uid, revision=str(stored.revision))
    check_deletion(MAPS, "c", stored, stored.thaw(), own)
    for options, text in (
        (DeleteOptions(uid="other"), "The object might have been deleted and then recreated"),
        (DeleteOptions(revision="1"), "The object might have been modified"),
    ):
        with pytest.raises(ApiError, match=text) as found:
            check_deletion(MAPS, "c", stored, stored.thaw(), options)
        assert found.value.code == 409
