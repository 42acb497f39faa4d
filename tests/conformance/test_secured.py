"""The recorded scenarios of credentials and rights."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.replay.identity import files
from tests.conformance.servers import replay
from tests.conformance.suites import Expectation, expectations

TIMEOUT = 400
SCENARIOS = expectations("secured")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the keys, certificates and configurations of the scenarios."""
    folder = tmp_path_factory.mktemp("keys")
    files.make(folder)
    return folder


@pytest.mark.program("openssl")
@pytest.mark.parametrize("case", SCENARIOS, ids=lambda case: case.title)
@pytest.mark.timeout(TIMEOUT)
def test_secured(case: Expectation, keys: Path) -> None:
    """Credentials, rights and their reload, by the flags of the file's first line."""
    flags = files.flags(keys, [case.path])
    if not any(flag.startswith("--tls-cert-file") for flag in flags):
        flags += [f"--tls-cert-file={keys}/serving.crt", f"--tls-private-key-file={keys}/serving.key"]
    controllers = "--controllers=*" if case.name == "aggregated_roles" else "--controllers="
    outcome = replay(case.path, controllers, *flags, token="admin-token", keys=keys)
    assert len(outcome.passed) + len(outcome.failed) == case.total
    assert len(outcome.passed) >= case.least
