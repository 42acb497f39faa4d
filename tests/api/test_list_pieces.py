"""Cached pieces of lists: what one client selects never shows what another one selected."""

from __future__ import annotations

import aiohttp
import pytest

SELECTOR = "metadata.name!=0000000000000000000000cwX000000000000abjF)NBN6ko|GSLn[;la"
"""With the namespace team-b in front, this has the same unkeyed 64-bit hash (FxHash) as everything in team-a."""
FORMS = {
    "json": "application/json",
    "yaml": "application/yaml",
    "protobuf": "application/vnd.kubernetes.protobuf",
    "table": "application/json;as=Table;g=meta.k8s.io;v=v1",
    "table-objects": "application/json;as=Table;g=meta.k8s.io;v=v1",
    "metadata": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    "metadata-protobuf": "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
}


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
@pytest.mark.parametrize("form", FORMS)
async def test_selectors_of_one_hash_share_nothing(api: aiohttp.ClientSession, form: str, encoding: str) -> None:
    """Neighbours in the order of keys share a leaf, whose pieces are kept for the next list of an equal selection."""
    for namespace in ("team-a", "team-b"):
        async with api.post("/api/v1/namespaces", json={"metadata": {"name": namespace}}) as r:
            assert r.status == 201
        for i in range(40):
            body = {"metadata": {"name": f"of-{namespace}-{i}"}, "stringData": {"value": f"value-of-{namespace}" * 200}}
            async with api.post(f"/api/v1/namespaces/{namespace}/secrets", json=body) as r:
                assert r.status == 201
    headers = {"Accept": FORMS[form], "Accept-Encoding": encoding}
    params = {"includeObject": "Object"} if form == "table-objects" else {}

    async def names(namespace: str, **selector: str) -> bytes:
        path = f"/api/v1/namespaces/{namespace}/secrets"
        async with api.get(path, params={**params, **selector}, headers=headers) as r:
            assert r.status == 200, await r.text()
            return await r.read()

    # The second list finds the pieces of the first.
    for _ in range(2):
        assert b"of-team-a-7" in await names("team-a")
    found = await names("team-b", fieldSelector=SELECTOR)
    assert b"of-team-b-7" in found
    assert b"of-team-a" not in found
