"""The page for those who need a token, and for those who have a kubeconfig."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.browser import Browser, Page, browsing

from tests.api.dumps import serving
from tests.api.gateways import gateway
from tests.clients.pages import go, rows, show, wait_for_rows, wait_for_text

pytestmark = [pytest.mark.program("chromium"), pytest.mark.timeout(120)]
TOKENS = 'boss-token,boss,1,"system:masters"\njane-token,jane,2\n'
IS_ASKED = "document.getElementById('login').open && document.activeElement.matches('input[type=password]')"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text(TOKENS)
    with serving("--ui", "--token-auth-file", str(tokens)) as found:
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    found = browser.page()
    yield found
    # A browser tells of each answer that is an error; none of them is one of the page.
    assert [text for text in found.problems if "Failed to load resource" not in text] == []
    found.call("Page.close")


def log_in(page: Page, token: str) -> None:
    page.wait(IS_ASKED)
    page.type(token)
    page.press("Enter")


def test_a_token_is_asked_for_and_is_in_memory_alone(page: Page, url: str) -> None:
    show(page, url, "/namespaces")
    log_in(page, "wrong")
    page.wait("document.getElementById('login-why').textContent.includes('401 Unauthorized')")
    log_in(page, "boss-token")
    wait_for_rows(page, 4)
    assert page.run("JSON.stringify([localStorage.length, sessionStorage.length, document.cookie])") == '[0,0,""]'
    assert "boss" not in page.run("location.href + document.documentElement.outerHTML")
    # Other views use it as well; another load has none.
    go(page, "!/requests")
    wait_for_text(page, "in flight")
    page.call("Page.reload")
    page.wait(IS_ASKED)


def test_a_right_that_is_missing_is_told(page: Page, url: str) -> None:
    show(page, url, "/pods")
    log_in(page, "jane-token")
    wait_for_text(page, '403 Forbidden: pods is forbidden: User "jane" cannot list resource "pods"')
    for view in ("!/watches", "!/requests", "/"):
        go(page, view)
        wait_for_text(page, "403 Forbidden")
    go(page, "/pods/default/x")
    wait_for_text(page, "403 Forbidden")
    assert not page.run("document.getElementById('login').open")


def test_who_has_no_token_is_told_so(page: Page, url: str) -> None:
    show(page, url, "/pods")
    page.wait(IS_ASKED)
    page.press("Escape")
    wait_for_text(page, "403 Forbidden")


def test_a_kubeconfig_gives_its_rights_to_the_page_with_the_key(page: Page, url: str, tmp_path: Path) -> None:
    with gateway("--server", url, "--token", "boss-token") as (address, key):
        page.open(f"{address}#key={key}")
        page.wait("document.querySelectorAll('main .body .row').length > 10")
        assert key not in page.run("location.href") and page.run("location.hash") == "#/"
        go(page, "/namespaces")
        wait_for_rows(page, 4)
        assert rows(page)[0][0] == "default"
        go(page, "!/watches")
        wait_for_text(page, "open watches")
        go(page, "!/requests")
        wait_for_text(page, "in flight")
        # Without the key it has the same files, and no data.
        page.open(address)
        page.wait(IS_ASKED)


def test_another_server_has_objects_and_no_figures(page: Page) -> None:
    with serving() as other, gateway("--server", other) as (address, key):
        page.open(f"{address}#key={key}")
        page.wait("document.querySelectorAll('main .body .row').length > 10")
        found = {row[0]: row for row in rows(page)}
        assert found["namespaces"][2:] == ["4", "", ""]
