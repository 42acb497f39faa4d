"""kube-controller-manager with credentials of its own, against a server with TLS and RBAC."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from tests.access import Secured, kubeconfig, secured
from tests.api.calls import get, post
from tests.clients.controllers import beside, found
from tests.clients.deployments import DEPLOYMENTS, PODS, deployment, until

MANAGER = found("kube-controller-manager")
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(not MANAGER, reason="kube-controller-manager is not installed"),
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Secured]:
    """Yield a server with the manager beside it, which is refused nothing."""
    assert MANAGER
    log = tmp_path / "manager.log"
    with secured(tmp_path, "--controllers=") as running:
        config = kubeconfig(tmp_path, running.url, tmp_path / "ca.crt", "manager")
        flags = (f"--flex-volume-plugin-dir={tmp_path / 'plugins'}", "--use-service-account-credentials=true")
        with beside(MANAGER, config, log, *flags):
            yield running
    assert [line for line in log.read_text().splitlines() if "forbidden" in line] == []


async def test_a_deployment_gets_pods(server: Secured) -> None:
    """Each controller acts as a service account, with a requested token and the rights of its bootstrap role."""
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=str(server.folder / "ca.crt")))
    headers = {"Authorization": "Bearer root-token"}
    async with aiohttp.ClientSession(server.url, connector=connector, headers=headers) as api:
        await until(api, ACCOUNTS, lambda accounts: "default" in accounts)
        await post(api, DEPLOYMENTS, deployment(2))
        await until(api, PODS, lambda pods: len(pods) == 2)
        accounts = await get(api, "/api/v1/namespaces/kube-system/serviceaccounts")
    assert "deployment-controller" in {item["metadata"]["name"] for item in accounts["items"]}
