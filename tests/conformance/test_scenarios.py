"""The recorded scenarios: steps that pass today must pass tomorrow."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conformance.replay.outcome import Outcome
from tests.conformance.servers import plain, replay, replay_through_gateway, with_token
from tests.conformance.suites import ANSWERS, Expectation, expectations
from tests.etcd import Etcd

TIMEOUT = 400
"""Seconds: a step that waits for an answer we do not give yet takes up to ten of them."""

SCENARIOS = expectations("scenarios")
WITH_WEBHOOKS = expectations("admission", "hooked")
STORED = {
    "crd",
    "crud",
    "deletion",
    "dry_run",
    "generate_name",
    "lifecycle",
    "names",
    "paging",
    "patch",
    "resource_versions",
    "special_kinds",
    "watch",
}
"""The scenarios whose answers depend on where the objects are; all of them run with HYDROFOIL_KIT_ON_ETCD=all."""
ON_ETCD = [case for case in SCENARIOS if case.name in STORED or os.environ.get("HYDROFOIL_KIT_ON_ETCD") == "all"]
# Not those of health, which is the gateway's own, and with the URL of the server, which is the upstream's.
THROUGH_GATEWAY = [
    case for case in SCENARIOS if case.name in STORED or os.environ.get("HYDROFOIL_KIT_ON_GATEWAY") == "all"
]
WAITING = {"admission_policy", "crd_versions", "watch_bookmarks"}
"""The scenarios that mostly wait, for half a minute together with others: with HYDROFOIL_KIT_WORKERS they run, too."""
WITH_WORKERS = [case for case in SCENARIOS if case.name not in WAITING]
CHANCE = ["special_kinds/svc-ip-immutable"]
"""The step that sets an address which, one time in 240, is the one that was allocated: then nothing changes."""

pytestmark = pytest.mark.timeout(TIMEOUT)


def title(case: Expectation) -> str:
    """Return the name of a case."""
    return case.title


def meet(case: Expectation, run: Callable[[], Outcome]) -> None:
    """Fail unless a run has as many steps as expected that pass; one that failed by chance alone is repeated."""
    outcome = run()
    if outcome.failed == CHANCE:
        outcome = run()
    assert len(outcome.passed) + len(outcome.failed) == case.total
    assert len(outcome.passed) >= case.least


def controllers(case: Expectation) -> str:
    """Return the flag for the controllers that a scenario needs."""
    return "--controllers=*" if case.name == "lifecycle" else "--controllers="


@pytest.mark.parametrize("case", SCENARIOS, ids=title)
def test_scenario(case: Expectation, tmp_path: Path) -> None:
    """Run a scenario as it was recorded: over TLS, with RBAC and without ServiceAccount."""
    meet(case, lambda: replay(case.path, controllers(case), *plain(tmp_path)))


@pytest.mark.parametrize("case", WITH_WORKERS, ids=title)
def test_scenario_with_workers(case: Expectation, tmp_path: Path) -> None:
    """The same with three processes that answer: whichever a connection has, it shows what any of them was told."""
    meet(case, lambda: replay(case.path, controllers(case), *plain(tmp_path), "--workers=3"))


@pytest.mark.parametrize("case", THROUGH_GATEWAY, ids=title)
def test_scenario_through_a_gateway(case: Expectation, tmp_path: Path) -> None:
    """The same through a gateway, whose answers are those of its upstream."""
    meet(case, lambda: replay_through_gateway(case.path, tmp_path, controllers(case), *plain(tmp_path)))


@pytest.mark.program("etcd")
@pytest.mark.parametrize("case", ON_ETCD, ids=title)
def test_scenario_on_etcd(case: Expectation, tmp_path: Path, etcd: Etcd) -> None:
    """The same with the objects in etcd, each run in a prefix of its own."""

    def run() -> Outcome:
        stored = ["--etcd-servers", etcd.url, "--etcd-prefix", f"/{uuid4()}"]
        return replay(case.path, controllers(case), *plain(tmp_path), *stored)

    meet(case, run)


@pytest.mark.program("openssl")
@pytest.mark.parametrize("case", WITH_WEBHOOKS, ids=title)
def test_with_webhooks(case: Expectation, tmp_path: Path) -> None:
    """Run a scenario whose webhooks are those of the replayer."""
    meet(case, lambda: replay(case.path, "--controllers=", *plain(tmp_path)))


ON = (
    "AlwaysPullImages,NamespaceAutoProvision,DenyServiceExternalIPs,LimitPodHardAntiAffinityTopology,"
    "ExtendedResourceToleration,PodNodeSelector,PodTolerationRestriction,OwnerReferencesPermissionEnforcement"
)
OFF = (
    "ServiceAccount,NamespaceLifecycle,LimitRanger,PodSecurity,Priority,DefaultTolerationSeconds,TaintNodesByCondition,"
    "ValidatingAdmissionPolicy,MutatingAdmissionPolicy,ValidatingAdmissionWebhook,MutatingAdmissionWebhook,"
    "ResourceQuota,StorageObjectInUseProtection,DefaultStorageClass,DefaultIngressClass,RuntimeClass,"
    "PersistentVolumeClaimResize"
)


@pytest.mark.parametrize(
    ("name", "least", "flags"),
    [
        (
            "plugins_on",
            16,
            [
                f"--enable-admission-plugins={ON}",
                "--disable-admission-plugins=NamespaceLifecycle,ServiceAccount",
            ],
        ),
        ("plugins_off", 14, [f"--disable-admission-plugins={OFF}"]),
    ],
)
def test_plugins(name: str, least: int, flags: list[str], tmp_path: Path) -> None:
    """Plug-ins that are switched on and off."""
    outcome = replay(ANSWERS / "settings" / f"{name}.yaml", "--controllers=", *with_token(tmp_path), *flags)
    assert len(outcome.passed) >= least


@pytest.mark.parametrize(
    ("name", "least", "flags"),
    [
        ("cbor", 184, ["--feature-gates=CBORServingAndStorage=true"]),
        ("cbor_off", 44, []),
        ("expiry", 58, ["--history-window=5s"]),
    ],
)
def test_gated(name: str, least: int, flags: list[str]) -> None:
    """Scenarios of servers with other settings."""
    outcome = replay(ANSWERS / "gated" / f"{name}.yaml", "--controllers=", *flags)
    assert len(outcome.passed) >= least
