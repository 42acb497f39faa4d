"""The recorded audit sessions."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conformance.replay import audit, scenario
from tests.conformance.replay.client import Client
from tests.conformance.replay.events import Events, Sink
from tests.conformance.replay.webhooks.server import Webhooks
from tests.conformance.servers import SHOWN, serve, with_token
from tests.conformance.suites import ANSWERS, Expectation, expectations

TIMEOUT = 300
SESSIONS = expectations("audit")


@pytest.mark.program("openssl")
@pytest.mark.parametrize("case", SESSIONS, ids=lambda case: case.title)
@pytest.mark.timeout(TIMEOUT)
def test_session(case: Expectation, tmp_path: Path) -> None:
    """Run a session with the policy of the file's first line."""
    log = tmp_path / "audit.log"
    policy = scenario.flags(case.path)[0].removeprefix("--audit-policy-file=")
    flags = [*with_token(tmp_path), "--disable-admission-plugins=ServiceAccount", "--controllers="]
    flags += ["--service-account-issuer=https://kubernetes.default.svc", f"--audit-policy-file={ANSWERS / policy}"]
    with ExitStack() as stack:
        webhooks = stack.enter_context(Webhooks()) if scenario.needs_webhooks(case.path) else None
        sink = stack.enter_context(Sink()) if case.name == "sent" else None
        if sink:
            (tmp_path / "kubeconfig").write_text(sink.kubeconfig)
            flags += [f"--audit-webhook-config-file={tmp_path}/kubeconfig", "--audit-webhook-batch-max-wait=1s"]
        else:
            flags += [f"--audit-log-path={log}"]
        url = stack.enter_context(serve(*flags))
        client = Client(url, "admin", webhooks=webhooks)
        outcome = audit.compare(client, Events(log, sink), case.path, show=SHOWN)
    print(outcome)
    assert len(outcome.passed) + len(outcome.failed) == case.total
    assert len(outcome.passed) >= case.least
