"""Keys of issuers: fetched beside requests, and not more often than they have to be (coreos/go-oidc)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from hydrofoil.authentication import compact
from hydrofoil.authentication.jwt.distributed import MOST, Distributed
from hydrofoil.authentication.jwt.metrics import JwtMetrics
from hydrofoil.authentication.jwt.provider import AGAIN, OLD, Provider
from hydrofoil.authentication.jwt.verifier import Verifier
from hydrofoil.authentication.login import Rejected
from hydrofoil.outbound.target import Reply, Target
from hydrofoil.outbound.trust import Trust, Unreachable
from tests.issuers import RSA, STRAY, Frozen, public, signed

URL = "https://issuer.example.com"
DOCUMENT = {"issuer": URL, "jwks_uri": f"{URL}/keys"}
Answer = Callable[[str], Any]


class Scripted(Target):
    """Answers by URL; an exception is raised, bytes are a body, anything else is JSON."""

    def __init__(self, answers: dict[str, Any]) -> None:
        super().__init__(URL, Trust())
        self.answers = answers
        self.asked: list[tuple[str, str]] = []

    async def get(self, url: str, seconds: float, bound: int, authorization: str = "") -> Reply:
        self.asked.append((url, authorization))
        await asyncio.sleep(0)
        found = self.answers.get(url)
        if isinstance(found, Exception):
            raise found
        if found is None:
            return Reply(404, b"")
        return Reply(200, found if isinstance(found, bytes) else orjson.dumps(found))


def parts(answers: dict[str, Any]) -> tuple[Provider, Scripted, Frozen]:
    clock, target = Frozen(), Scripted(answers)
    return Provider(URL, "", target, clock, JwtMetrics(clock)), target, clock


async def ready(provider: Provider) -> None:
    provider.start()
    while not (provider.ready and provider.keys):
        await asyncio.sleep(0.001)


def token(clock: Frozen, **more: Any) -> str:
    return signed({"iss": URL, "aud": "a", "exp": clock.at + 600} | more)


async def verified(verifier: Verifier, provider: Provider, text: str) -> bool:
    parsed = compact.read(text)
    assert parsed is not None
    try:
        await verifier.verify(provider, text, parsed)
    except Rejected:
        return False
    return True


@pytest.mark.parametrize(
    "bad",
    [
        None,
        b"not JSON",
        [],
        {"issuer": URL + "/", "jwks_uri": f"{URL}/keys"},
        {"issuer": URL, "jwks_uri": "http://issuer.example.com/keys"},
        {"issuer": URL},
        Unreachable("dial tcp: no such host"),
        RuntimeError("a fault"),
    ],
)
async def test_an_issuer_is_asked_again_until_its_document_is_good(bad: Any, caplog: Any) -> None:
    caplog.set_level(logging.ERROR, "hydrofoil")
    answers = {f"{URL}/keys": {"keys": [public(RSA)]}, f"{URL}/.well-known/openid-configuration": bad}
    provider, _, clock = parts(answers)
    provider.start()
    while not clock.slept:
        await asyncio.sleep(0)
    assert not provider.ready
    assert clock.slept[0] == AGAIN
    answers[f"{URL}/.well-known/openid-configuration"] = DOCUMENT
    await ready(provider)
    assert "initializing plugin" in caplog.text
    await provider.close()


async def test_a_key_that_is_not_known_is_fetched_at_most_every_ten_seconds() -> None:
    answers: dict[str, Any] = {
        f"{URL}/keys": {"keys": [public(RSA)]},
        f"{URL}/.well-known/openid-configuration": DOCUMENT,
    }
    provider, target, clock = parts(answers)
    await ready(provider)
    verifier = Verifier(("a",), ("RS256",), clock)
    count = len(target.asked)
    stray = signed({"iss": URL, "aud": "a", "exp": clock.at + 9000}, STRAY, "RS256", {"kid": "new"})
    assert await verified(verifier, provider, token(clock))
    assert not any([await verified(verifier, provider, stray) for _ in range(20)])
    assert len(target.asked) == count
    clock.at += AGAIN
    found = await asyncio.gather(*(verified(verifier, provider, stray) for _ in range(20)))
    assert not any(found) and len(target.asked) == count + 1
    # The issuer has a new key, under that name.
    answers[f"{URL}/keys"] = {"keys": [public(RSA), public(STRAY) | {"kid": "new"}]}
    assert not await verified(verifier, provider, stray)
    clock.at += AGAIN
    assert await verified(verifier, provider, stray)
    # A failed fetch leaves the old keys in force.
    answers[f"{URL}/keys"] = Unreachable("gone")
    clock.at += OLD + 1
    assert await verified(verifier, provider, token(clock))
    await provider.refresh()  # joins the fetch that the token began
    assert await verified(verifier, provider, token(clock))
    # A withdrawn one is forgotten within an hour.
    answers[f"{URL}/keys"] = {"keys": [public(STRAY) | {"kid": "new"}]}
    clock.at += OLD + 1
    assert await verified(verifier, provider, token(clock))
    await provider.refresh()  # joins the fetch that the token began
    assert not await verified(verifier, provider, token(clock))
    await provider.close()


async def test_a_request_survives_the_end_of_its_issuer() -> None:
    provider, _, clock = parts(
        {f"{URL}/.well-known/openid-configuration": DOCUMENT, f"{URL}/keys": {"keys": [public(RSA)]}}
    )
    await ready(provider)
    clock.at += AGAIN
    waiting = asyncio.ensure_future(provider.refresh())
    await asyncio.sleep(0)
    await provider.close()
    assert await waiting is False


async def test_metrics_have_hashes_of_issuers_alone() -> None:
    clock = Frozen()
    metrics = JwtMetrics(clock)
    assert list(metrics.collect()) == []
    metrics.took(URL, 0.002, good=True)
    metrics.fetched(URL, b"keys")
    metrics.fetched("https://other", None)
    names = {sample.name for metric in metrics.collect() for sample in metric.samples}
    prefix = "apiserver_authentication_jwt_authenticator_"
    assert f"{prefix}jwks_fetch_last_timestamp_seconds" in names and f"{prefix}latency_seconds_count" in names
    labels = [sample.labels for metric in metrics.collect() for sample in metric.samples]
    assert all(value.startswith("sha256:") for found in labels for key, value in found.items() if key.endswith("hash"))
    metrics.keep([])
    assert {metric.name for metric in metrics.collect()} == {f"{prefix}latency_seconds"}


GROUPS = "https://groups.example.com"
SOURCE = {
    "_claim_names": {"groups": "src"},
    "_claim_sources": {"src": {"endpoint": f"{GROUPS}/g", "access_token": "t"}},
}


async def test_groups_that_another_server_has() -> None:
    clock = Frozen()
    target = Scripted(
        {
            f"{GROUPS}/.well-known/openid-configuration": {"issuer": GROUPS, "jwks_uri": f"{GROUPS}/keys"},
            f"{GROUPS}/keys": {"keys": [public(RSA)]},
            f"{GROUPS}/g": token(clock, iss=GROUPS, groups=["a"]).encode(),
        }
    )
    made = Distributed("groups", target, Verifier(("a",), ("RS256",), clock), clock, JwtMetrics(clock))
    with pytest.raises(Rejected, match="verifier not initialized"):
        await made.expanded(SOURCE)
    while not made._providers[GROUPS].keys:
        await asyncio.sleep(0.001)
    assert (await made.expanded(SOURCE))["groups"] == ["a"]
    assert (f"{GROUPS}/g", "Bearer t") in target.asked
    assert await made.expanded({"groups": []} | SOURCE) == {"groups": []} | SOURCE
    assert await made.expanded({}) == {}
    target.answers[f"{GROUPS}/g"] = signed({"iss": GROUPS, "aud": "a", "exp": clock.at + 600}, STRAY).encode()
    with pytest.raises(Rejected, match="failed to verify signature"):
        await made.expanded(SOURCE)
    for text in (token(clock, iss=GROUPS), token(clock, iss=GROUPS, aud="b"), "x", token(clock, iss="http://h")):
        target.answers[f"{GROUPS}/g"] = text.encode()
        with pytest.raises(Rejected):
            await made.expanded(SOURCE)
    await made.close()


@pytest.mark.parametrize(
    "claims",
    [
        {"_claim_names": 7},
        {"_claim_names": {"groups": 7}},
        {"_claim_names": {"groups": "src"}},
        {"_claim_names": {"groups": "src"}, "_claim_sources": []},
        {"_claim_names": {"groups": "src"}, "_claim_sources": {"other": {}}},
        {"_claim_names": {"groups": "src"}, "_claim_sources": {"src": {"endpoint": 7}}},
        {"_claim_names": {"groups": "src"}, "_claim_sources": {"src": {"endpoint": "http://h"}}},
        {"_claim_names": {"groups": "src"}, "_claim_sources": {"src": {"endpoint": "https://h\r\nX: y"}}},
        {"_claim_names": {"groups": "src"}, "_claim_sources": {"src": {"endpoint": "https://gone"}}},
    ],
)
async def test_odd_sources_are_refused(claims: dict[str, Any]) -> None:
    clock = Frozen()
    made = Distributed("groups", Scripted({}), Verifier(("a",), ("RS256",), clock), clock, JwtMetrics(clock))
    with pytest.raises(Rejected, match="could not expand distributed claims"):
        await made.expanded(claims)


async def test_issuers_of_groups_are_few() -> None:
    clock = Frozen()
    target = Scripted({})
    made = Distributed("groups", target, Verifier(("a",), ("RS256",), clock), clock, JwtMetrics(clock))
    for i in range(MOST + 5):
        target.answers[f"{GROUPS}/g"] = token(clock, iss=f"https://h{i}").encode()
        with pytest.raises(Rejected):
            await made.expanded(SOURCE)
    assert len(made._providers) == MOST
    await made.close()
