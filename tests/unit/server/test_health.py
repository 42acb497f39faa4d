"""Health checks that fail, and the grace that `/livez` gives (HE-02, HE-03, HE-06, HE-11)."""

from __future__ import annotations

from hydrofoil.server.health import Health

HOOK = "poststarthook/slow"
CHECKS = {"livez": ["ping", "etcd", HOOK], "readyz": ["ping", "etcd", HOOK, "shutdown"]}


def test_a_failing_check_is_told_without_its_reason() -> None:
    """HE-03."""
    health = Health(CHECKS)
    assert health.check("readyz", None, "") == (200, "ok")
    health.fail("etcd", "etcd client connection not yet established")
    lines = f"[+]ping ok\n[-]etcd failed: reason withheld\n[+]{HOOK} ok\n[+]shutdown ok\nreadyz check failed\n"
    assert health.check("readyz", None, "") == (500, lines)
    assert health.check("readyz", "etcd", "") == (
        500,
        "internal server error: etcd client connection not yet established\n",
    )
    assert health.check("readyz", None, "exclude=etcd") == (200, "ok")
    health.recover("etcd")
    assert health.check("readyz", None, "") == (200, "ok")


def test_a_log_that_is_not_well_is_told() -> None:
    why = "no answer for 3 s"
    health = Health(CHECKS, storage=lambda: why)
    assert health.check("readyz", "etcd", "") == (500, f"internal server error: {why}\n")
    assert (health.check("livez", None, "") or (0,))[0] == 500
    why = ""
    assert health.check("readyz", None, "") == (200, "ok")


def test_hooks_of_the_start_have_time() -> None:
    """HE-11: with a slow hook `/livez` is 200 while the grace lasts, `/readyz` 500 at once; other checks have none."""
    now = 100.0
    health = Health(CHECKS, 30.0, lambda: now)
    health.fail(HOOK, "not finished")
    assert health.check("livez", None, "") == (200, "ok")
    assert health.check("livez", HOOK, "") == (200, "ok")
    assert (health.check("readyz", None, "") or (0,))[0] == 500
    health.fail("etcd", "gone")
    assert (health.check("livez", None, "") or (0,))[0] == 500
    health.recover("etcd")
    now = 130.0
    assert (health.check("livez", None, "") or (0,))[0] == 500
    health.recover(HOOK)
    assert health.check("livez", None, "") == (200, "ok")
