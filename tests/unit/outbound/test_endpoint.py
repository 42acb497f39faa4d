"""Where a webhook listens."""

from __future__ import annotations

from typing import cast

import pytest

from hydrofoil.outbound.endpoint import Endpoint
from hydrofoil.outbound.services import Services
from hydrofoil.outbound.trust import Unreachable


class Fixed:
    """Services at fixed addresses."""

    def locate(self, namespace: str, name: str, port: int) -> str:
        """Return an address."""
        if name != "hook":
            raise Unreachable(f'service "{name}" not found')
        return f"10.0.0.1:{port + 1}"


SERVICES = cast(Services, Fixed())


def test_a_url_is_connected_to_as_it_is() -> None:
    found = Endpoint({"url": "https://e.com:99/convert?a=1"}, 30)
    assert found.url == found.connect(SERVICES) == "https://e.com:99/convert?timeout=30s"
    assert found.host is None


def test_a_service_is_connected_to_at_its_address_and_shown_by_its_name() -> None:
    found = Endpoint({"service": {"namespace": "a", "name": "hook", "path": "convert", "port": 8443}}, 30)
    assert found.url == "https://hook.a.svc:8443/convert?timeout=30s"
    assert found.connect(SERVICES) == "https://10.0.0.1:8444/convert?timeout=30s"
    assert found.host == "hook.a.svc"


def test_the_port_of_a_service_is_443_unless_it_is_given() -> None:
    found = Endpoint({"service": {"namespace": "a", "name": "gone"}}, 30)
    assert found.url == "https://gone.a.svc:443/?timeout=30s"
    with pytest.raises(Unreachable, match='service "gone" not found'):
        found.connect(SERVICES)


@pytest.mark.parametrize(
    ("path", "requested"),
    [("//failing", "/failing"), ("/a/", "/a"), ("/a//b/../c/.", "/a/c"), ("", "/"), ("/", "/")],
)
def test_a_path_is_requested_as_client_go_does(path: str, requested: str) -> None:
    """envtest makes `https://host//path` of a service's path."""
    found = Endpoint({"url": f"https://e.com{path}"}, 5)
    assert found.url == f"https://e.com{requested}?timeout=5s"
    service = {"namespace": "a", "name": "hook", "path": path}
    assert Endpoint({"service": service}, 5).url == f"https://hook.a.svc:443{requested}?timeout=5s"
