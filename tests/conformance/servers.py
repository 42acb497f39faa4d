"""Servers in processes of their own, and scenarios against them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.conformance.replay import scenario, scenarios
from tests.conformance.replay.client import Client
from tests.conformance.replay.identity.helper import Helper
from tests.conformance.replay.outcome import Outcome
from tests.conformance.replay.webhooks.server import Webhooks
from tests.conftest import command

SHOWN = 3
"""Differences of a step that a test prints."""

UPSTREAM = """
apiVersion: v1
kind: Config
current-context: upstream
contexts: [{{name: upstream, context: {{cluster: upstream, user: gateway}}}}]
clusters: [{{name: upstream, cluster: {{server: "{url}", certificate-authority: "{ca}"}}}}]
users: [{{name: gateway, user: {{token: admin}}}}]
"""


@contextmanager
def serve(*flags: str) -> Iterator[str]:
    """Yield the URL of a server with these flags, and with the processes that HYDROFOIL_KIT_WORKERS names."""
    if (workers := os.environ.get("HYDROFOIL_KIT_WORKERS")) and "--test-controls" not in flags:
        flags = (f"--workers={workers}", *flags)
    with subprocess.Popen(command("serve", "--port=0", *flags), stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            line = next(line for line in running.stdout if line.startswith("serving on "))
            yield line.removeprefix("serving on ").strip()
        finally:
            running.terminate()


def plain(folder: Path) -> list[str]:
    """Return the flags of the recording: over TLS, with a token of the user `admin`, without ServiceAccount."""
    return [*with_token(folder), "--disable-admission-plugins=ServiceAccount"]


def with_token(folder: Path) -> list[str]:
    """Return the flags for TLS and for a token of the user `admin`."""
    tokens = folder / "tokens.csv"
    tokens.write_text("admin,admin,admin,system:masters\n")
    return [f"--cert-dir={folder}", f"--token-auth-file={tokens}"]


@contextmanager
def before(url: str, folder: Path) -> Iterator[str]:
    """Yield the URL of a gateway before a server, which knows the gateway as `admin`."""
    file = folder / "upstream.yaml"
    file.write_text(UPSTREAM.format(url=url, ca=folder / "ca.crt"))
    with serve(f"--upstream={file}", f"--cert-dir={folder / 'gateway'}") as found:
        yield found


def replay_through_gateway(path: Path, folder: Path, *flags: str) -> Outcome:
    """Run a scenario through a gateway before a fresh server with these flags."""
    with serve(*flags) as upstream, before(upstream, folder) as url:
        outcome = scenarios.compare(Client(url, "admin"), path, show=SHOWN)
    print(outcome)
    return outcome


def replay(path: Path, *flags: str, token: str = "admin", keys: Path | None = None) -> Outcome:
    """Run a scenario against a fresh server with these flags, with the webhooks or the helper that it needs."""
    with ExitStack() as stack:
        webhooks = stack.enter_context(Webhooks()) if scenario.needs_webhooks(path) else None
        helper = stack.enter_context(Helper(keys)) if keys else None
        url = stack.enter_context(serve(*flags))
        outcome = scenarios.compare(Client(url, token, webhooks=webhooks, helper=helper), path, show=SHOWN)
    print(outcome)
    return outcome
