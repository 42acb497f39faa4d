"""The lines of a server on a terminal."""

from __future__ import annotations

from hydrofoil.server.banner import banner


def test_tells_where_it_is_how_to_use_it_and_what_is_open() -> None:
    text = banner("http://127.0.0.1:8080", "/a/kubeconfig", secured=False, colours=False)
    assert "serving on http://127.0.0.1:8080\n" in text
    assert "export KUBECONFIG=/a/kubeconfig\n" in text
    assert "every user of this machine is an administrator" in text
    assert "\x1b" not in text
    assert "\x1b[" in banner("http://127.0.0.1:8080", "", secured=True, colours=True)


def test_other_ways_to_use_it() -> None:
    assert "hydrofoil kubectl get namespaces" in banner("http://127.0.0.1:8080", "", secured=False, colours=False)
    page = banner("http://127.0.0.1:8080", "", secured=False, colours=False, has_page=True)
    assert "http://127.0.0.1:8080/ui/\n" in page
    assert "curl --unix-socket /run/a.sock" in banner("unix:/run/a.sock", "", secured=True, colours=False)
