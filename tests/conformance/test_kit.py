"""The conformance kit, where it is present: what passes today must pass tomorrow."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conftest import SHARED, command
from tests.etcd import Etcd

KIT = SHARED / "conformance"
EXPECTED = Path(__file__).with_name("expected.txt")
"""Scenario, steps that pass at least, steps in all, and whether the controllers run."""

TIMEOUT = 400
"""Seconds: a step that waits for an answer we do not give yet takes up to ten of them."""

LINES = [line.split() for line in EXPECTED.read_text().splitlines() if line and not line.startswith("#")]
CASES = [line for line in LINES if "/" not in line[0]]
HOOKED = [line for line in LINES if line[0].startswith(("admission/", "hooked/"))]


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
ON_ETCD = [case for case in CASES if case[0] in STORED or os.environ.get("HYDROFOIL_KIT_ON_ETCD") == "all"]


@pytest.mark.skipif(not KIT.is_dir(), reason="the conformance kit is absent")
@pytest.mark.parametrize(("name", "least", "total"), CASES, ids=[c[0] for c in CASES])
@pytest.mark.timeout(TIMEOUT)
def test_scenario(name: str, least: str, total: str, tmp_path: Path) -> None:
    """Run a scenario as it was recorded: over TLS, with RBAC and without ServiceAccount."""
    controllers = "*" if name == "lifecycle" else ""
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("admin,admin,admin,system:masters\n")
    flags = [f"--cert-dir={tmp_path}", f"--token-auth-file={tokens}", "--disable-admission-plugins=ServiceAccount"]
    passed, failed = replay(KIT / "scenarios" / f"{name}.yaml", KIT / "golden", "--controllers", controllers, *flags)
    assert passed + failed == int(total)
    assert passed >= int(least)


@pytest.mark.skipif(not KIT.is_dir(), reason="the conformance kit is absent")
@pytest.mark.program("etcd")
@pytest.mark.parametrize(("name", "least", "total"), ON_ETCD, ids=[c[0] for c in ON_ETCD])
@pytest.mark.timeout(TIMEOUT)
def test_scenario_on_etcd(name: str, least: str, total: str, tmp_path: Path, etcd: Etcd) -> None:
    """The same with the objects in etcd."""
    controllers = "*" if name == "lifecycle" else ""
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("admin,admin,admin,system:masters\n")
    flags = [f"--cert-dir={tmp_path}", f"--token-auth-file={tokens}", "--disable-admission-plugins=ServiceAccount"]
    flags += ["--etcd-servers", etcd.url, "--etcd-prefix", f"/{uuid4()}"]
    passed, failed = replay(KIT / "scenarios" / f"{name}.yaml", KIT / "golden", "--controllers", controllers, *flags)
    assert passed + failed == int(total)
    assert passed >= int(least)


@pytest.mark.skipif(not KIT.is_dir(), reason="the conformance kit is absent")
@pytest.mark.program("openssl")
@pytest.mark.parametrize(("name", "least", "total"), HOOKED, ids=[c[0] for c in HOOKED])
@pytest.mark.timeout(TIMEOUT)
def test_with_webhooks(name: str, least: str, total: str, tmp_path: Path) -> None:
    """Run a scenario with the webhooks of the kit."""
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("admin,admin,admin,system:masters\n")
    flags = [f"--cert-dir={tmp_path}", f"--token-auth-file={tokens}", "--disable-admission-plugins=ServiceAccount"]
    folder, _, file = name.partition("/")
    scenario, golden = KIT / folder / f"{file}.yaml", KIT / folder / "golden"
    passed, failed = replay(scenario, golden, "--controllers", "", *flags, hooks=True)
    assert passed + failed == int(total)
    assert passed >= int(least)


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


@pytest.mark.skipif(not KIT.is_dir(), reason="the conformance kit is absent")
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
@pytest.mark.timeout(TIMEOUT)
def test_plugins(name: str, least: int, flags: list[str], tmp_path: Path) -> None:
    """Plug-ins that are switched on and off."""
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("admin,admin,admin,system:masters\n")
    flags = [f"--cert-dir={tmp_path}", f"--token-auth-file={tokens}", *flags]
    folder = KIT / "settings"
    passed, _ = replay(folder / f"{name}.yaml", folder / "golden", "--controllers", "", *flags)
    assert passed >= least


CHANCE = ["special_kinds/svc-ip-immutable"]
"""The step that sets an address which, one time in 240, is the one that was allocated: then nothing changes."""


def replay(scenario: Path, golden: Path, *flags: str, hooks: bool = False, tries: int = 2) -> tuple[int, int]:
    """How many steps of a scenario pass and fail against a fresh server with these flags; `hooks`: with webhooks.

    A scenario that failed by chance alone is replayed once more.
    """
    with subprocess.Popen(command("serve", "--port", "0", *flags), stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = (
            next(line for line in running.stdout if line.startswith("serving on ")).removeprefix("serving on ").strip()
        )
        args = [sys.executable, str(KIT / "replay.py"), "--server", url, "--token", "admin"]
        args += [*(["--hooks"] if hooks else []), "--against", str(golden), str(scenario)]
        try:
            done = subprocess.run(args, capture_output=True, text=True, check=False, timeout=TIMEOUT - 20)
        finally:
            running.terminate()
    sys.stdout.write(done.stdout[-6000:])
    found = re.search(r"(\d+) passed, (\d+) failed$", done.stdout.strip())
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    if tries > 1 and re.findall(r"^FAIL (\S+)", done.stdout, re.MULTILINE) == CHANCE:
        # The server of another try is empty as well: in an etcd that means another prefix.
        fresh = [f"/{uuid4()}" if before == "--etcd-prefix" else flag for before, flag in pairwise(("", *flags))]
        return replay(scenario, golden, *fresh, hooks=hooks, tries=1)
    return int(found[1]), int(found[2])


@pytest.mark.skipif(not KIT.is_dir(), reason="the conformance kit is absent")
@pytest.mark.parametrize(
    ("name", "least", "flags"),
    [
        ("cbor", 184, ["--feature-gates=CBORServingAndStorage=true"]),
        ("cbor_off", 44, []),
        ("expiry", 58, ["--history-window=5s"]),
    ],
)
@pytest.mark.timeout(TIMEOUT)
def test_gated(name: str, least: int, flags: list[str]) -> None:
    """Scenarios of servers with other settings."""
    passed, _ = replay(KIT / "gated" / f"{name}.yaml", KIT / "gated" / "golden", "--controllers", "", *flags)
    assert passed >= least
