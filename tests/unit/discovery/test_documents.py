"""Discovery of groups and versions."""

from __future__ import annotations

import json

from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.discovery.documents import Documents, storage_hash
from tests.unit.aggregation.services import stored
from tests.unit.parts import CATALOG, Object, resource


def document(path: str, documents: Documents | None = None) -> Object:
    """A document."""
    body = (documents or Documents(CATALOG, Registrations())).document(path)
    assert body is not None
    found: Object = json.loads(body)
    return found


def test_a_group_is_as_it_is_registered_else_as_the_catalog_has_it() -> None:
    table = Registrations()
    documents = Documents(CATALOG, table)
    preferred = {"groupVersion": "autoscaling/v2", "version": "v2"}
    assert document("/apis/autoscaling", documents)["preferredVersion"] == preferred
    table.replace([stored("v1", "autoscaling")])
    assert document("/apis/autoscaling", documents)["preferredVersion"]["version"] == "v1"


def test_groups_without_a_registration_are_not_listed() -> None:
    """But for the group of registrations itself."""
    assert [g["name"] for g in document("/apis")["groups"]] == ["apiregistration.k8s.io"]


def test_resources_of_a_version() -> None:
    found = {r["name"]: r for r in document("/apis/apps/v1")["resources"]}
    assert found["deployments/scale"]["group"] == "autoscaling"
    assert found["deployments"]["storageVersionHash"] == storage_hash(resource("deployments", "apps"))
    bare = document("/apis/apps/v1", Documents(CATALOG, Registrations(), hashes=False))
    assert not any("storageVersionHash" in r for r in bare["resources"])


def test_paths_that_have_no_document() -> None:
    documents = Documents(CATALOG, Registrations())
    for path in ("/apis/", "/apis/nobody", "/apis/apps/v9", "/api/v2", "/apis/apps/v1/deployments"):
        assert path == "/apis/" or documents.document(path) is None, path


def test_the_address_of_the_server_stands_in_api() -> None:
    made = json.loads(Documents(CATALOG, Registrations()).core("1.2.3.4:5"))
    assert made["serverAddressByClientCIDRs"] == [{"clientCIDR": "0.0.0.0/0", "serverAddress": "1.2.3.4:5"}]
