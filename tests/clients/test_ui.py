"""Each view of the page in a browser."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tools.browser import Browser, Page, browsing

from tests.api.data_dirs import called
from tests.api.dumps import serving
from tests.clients.pages import GRID, go, module, rows, select, show, wait_for_rows, wait_for_text
from tests.conftest import ROOT

pytestmark = [pytest.mark.program("chromium"), pytest.mark.timeout(120)]
MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
HOSTILE = "<img src=x onerror=window.stung=1><script>window.stung=1</script>\u202egnp.exe"
AXE = ROOT / ".cache" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
VIEWS = (
    "/",
    "/configmaps",
    "/configmaps/default/versions",
    "!/stream",
    "!/watches",
    "!/requests",
    "!/tests",
    "/nothing",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving("--ui", "--test-controls") as found:
        pod = {"spec": {"containers": [{"name": "c", "image": "nginx"}]}}
        for number in range(3):
            called(f"{found}{PODS}", {"metadata": {"name": f"pod-{number}"}, **pod})
        data = {"text": HOSTILE, "block": "a\nb\n"}
        made = called(f"{found}{MAPS}", {"metadata": {"name": "versions"}, "data": data})
        for value in ("1", "2"):
            made["data"]["new"] = value
            made = called(f"{found}{MAPS}/versions", made, "PUT")
        called(f"{found}/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}, "data": {"a": "c2VjcmV0"}})
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    found = browser.page()
    yield found
    assert found.problems == []
    found.call("Page.close")


def test_resources_have_counts_memory_and_rates(page: Page, url: str) -> None:
    show(page, url)
    page.wait("document.querySelectorAll('main .body .row').length > 10")
    found = {row[0]: row[1:] for row in rows(page)}
    assert found["configmaps"][:2] == ["ConfigMap", "2"] and found["configmaps"][2].endswith("B")
    page.press("/")
    assert page.run("document.activeElement.type") == "search"
    page.type("pods")
    wait_for_rows(page, 1)
    assert [row[0] for row in rows(page)] == ["pods"]
    for key in ("Enter", "End", "Enter"):
        page.press(key)
    page.wait("location.hash === '#/pods' && document.title === 'pods · Hydrofoil'")


def test_a_table_has_the_columns_of_the_server_and_follows_it(page: Page, url: str) -> None:
    show(page, url, "/pods")
    wait_for_rows(page, 3)
    heads = page.run("[...document.querySelectorAll('[role=columnheader]')].map((one) => one.textContent)")
    assert heads == ["Namespace", "Name", "Ready", "Status", "Restarts", "Age"]
    assert rows(page)[0][:4] == ["default", "pod-0", "0/1", "Pending"]
    called(f"{url}{PODS}", {"metadata": {"name": "extra"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    wait_for_rows(page, 4)
    assert rows(page)[0][1] == "extra"
    called(f"{url}{PODS}/extra?gracePeriodSeconds=0", method="DELETE")
    wait_for_rows(page, 3)
    page.run(
        "[...document.querySelectorAll('main label')].find((one) => one.textContent.includes('all columns')).click()"
    )
    page.wait("document.querySelectorAll('[role=columnheader]').length > 6")
    go(page, "/pods/kube-system")
    wait_for_rows(page, 0)
    go(page, "/deployments.apps")
    page.wait("document.title.startsWith('deployments.apps')")


def test_keys_move_and_open(page: Page, url: str) -> None:
    show(page, url, "/pods")
    wait_for_rows(page, 3)
    assert page.run(f"document.activeElement === {GRID}")
    page.press("ArrowDown")
    page.press("ArrowDown")
    page.wait(f"document.getElementById({GRID}.getAttribute('aria-activedescendant'))?.textContent.includes('pod-1')")
    page.press("Enter")
    page.wait("location.hash === '#/pods/default/pod-1'")
    wait_for_text(page, "name: pod-1")


def test_an_object_is_shown_with_its_versions(page: Page, url: str) -> None:
    show(page, url, "/configmaps/default/versions")
    wait_for_text(page, "3 versions")
    shown = yaml.safe_load(page.text("main pre"))
    there = called(f"{url}{MAPS}/versions")
    del there["metadata"]["managedFields"]
    assert shown == there
    select(page, "Differences", "before")
    page.wait("document.querySelector('pre .plus')")
    assert "- \xa0new" not in page.text("pre") and page.text("pre .plus").strip().startswith("+")
    assert any(line.strip("+ ") == 'new: "2"' for line in page.text("pre").splitlines() if line.startswith("+"))
    assert any(line.strip("- ") == 'new: "1"' for line in page.text("pre").splitlines() if line.startswith("-"))
    changed = called(f"{url}{MAPS}/versions")
    called(f"{url}{MAPS}/versions", changed | {"data": {**changed["data"], "new": "3"}}, "PUT")
    wait_for_text(page, "4 versions")
    page.wait("document.querySelector('pre').innerText.includes('new: \"3\"')")


def test_values_of_secrets_are_hidden_at_first(page: Page, url: str) -> None:
    show(page, url, "/secrets/default/s")
    wait_for_text(page, "(hidden)")
    assert "c2VjcmV0" not in page.text()
    page.run("[...document.querySelectorAll('main label')].find((one) => one.textContent.trim() === 'values').click()")
    wait_for_text(page, "a: c2VjcmV0")


def test_hostile_names_and_cells_stay_text(page: Page, url: str) -> None:
    definition = {
        "metadata": {"name": "stings.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "stings", "kind": "Sting"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "additionalPrinterColumns": [{"name": "<b>Says</b>", "type": "string", "jsonPath": ".says"}],
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"says": {"type": "string"}}}},
                }
            ],
        },
    }
    called(f"{url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    sting = {"apiVersion": "example.com/v1", "kind": "Sting", "metadata": {"name": "s"}, "says": HOSTILE}
    show(page, url, "/configmaps")
    page.wait("document.querySelectorAll('main .body .row').length > 1")
    for _ in range(100):
        try:
            called(f"{url}/apis/example.com/v1/stings", sting)
            break
        except OSError:
            page.run("new Promise((done) => setTimeout(done, 100))")
    go(page, "/stings.example.com")
    wait_for_rows(page, 1)
    assert rows(page) == [["s", HOSTILE]]
    assert page.text("[role=columnheader]:nth-child(2)") == "<b>Says</b>"
    go(page, "/stings.example.com/s")
    wait_for_text(page, "onerror")
    # What turns the direction of a line is seen.
    assert "\\u202egnp.exe" in page.text("pre")
    go(page, f"/stings.example.com/{'%3Cimg src=x onerror=window.stung=1%3E'}")
    wait_for_text(page, "404")
    go(page, "/<img src=x onerror=window.stung=1>")
    wait_for_text(page, "no resource")
    assert page.run("window.stung") is None and page.run("document.images.length") == 0
    # The policy of the page would stop what its code does not do.
    assert (
        page.run("(() => { try { document.body.innerHTML = '<b>'; } catch (e) { return e.name; } })()") == "TypeError"
    )
    page.problems.clear()


def test_the_stream_shows_what_happens(page: Page, url: str) -> None:
    show(page, url, "!/stream")
    page.wait("document.querySelectorAll('fieldset input:checked').length === 3")
    page.run("[...document.querySelectorAll('fieldset input:checked')].forEach((box) => box.click())")
    page.run(
        "[...document.querySelectorAll('fieldset label')].find((one) => one.textContent.trim() === 'configmaps')"
        ".querySelector('input').click()"
    )
    found: dict[str, Any] = {}
    while not found:
        # A watch begins with the present: what it shows comes later.
        called(f"{url}{MAPS}", {"metadata": {"generateName": "streamed-"}})
        page.run("new Promise((done) => setTimeout(done, 50))")
        found = {row[4]: row for row in rows(page) if row[4].startswith("streamed-")}
    row = next(iter(found.values()))
    assert row[1:4] == ["ADDED", "configmaps", "default"]
    assert page.run("document.querySelector('main .body a').getAttribute('href')").startswith(
        "#/configmaps/default/streamed-"
    )


def test_watches_and_requests_are_shown(page: Page, url: str) -> None:
    request = urllib.request.Request(f"{url}{PODS}?watch=1", headers={"User-Agent": "looker"})
    with urllib.request.urlopen(request, timeout=20) as stream:
        stream.readline()
        called(f"{url}{PODS}")
        show(page, url, "!/watches")
        wait_for_text(page, "looker")
    (row,) = (row for row in rows(page) if row[3] == "looker")
    assert (row[:3], row[5], row[-1]) == (["pods", "default", "admin"], "3", "keeps up")
    go(page, "!/requests")
    page.wait("document.querySelector('dd')?.textContent === '1'")
    assert [row for row in rows(page) if row[:2] == ["LIST", "pods"]]


def test_faults_and_the_clock_of_a_test_are_shown(page: Page, url: str) -> None:
    called(f"{url}/hydrofoil/v1/faults", {"action": "status", "resource": "leases", "code": 503})
    show(page, url, "!/tests")
    page.wait("!document.getElementById('tests').hidden")
    wait_for_text(page, "runs")
    assert [row for row in rows(page) if row[1] == "status" and "leases" in row[4]]
    called(f"{url}/hydrofoil/v1/faults", method="DELETE")


def test_without_controls_there_is_no_view_of_them(page: Page) -> None:
    with serving("--ui") as plain:
        show(page, plain)
        page.wait("document.getElementById('about').textContent !== ''")
        page.run("new Promise((done) => setTimeout(done, 50))")
        assert page.run("document.getElementById('tests').hidden")
        page.problems.clear()


@pytest.mark.parametrize("dark", [False, True])
def test_everybody_can_use_it(page: Page, url: str, dark: bool) -> None:
    """Roles, names, contrast and the rest that axe knows of WCAG 2.2 AA, in both colours."""
    if not AXE.exists() and not os.environ.get("HYDROFOIL_CI"):
        pytest.skip("axe-core is not installed")
    page.set_dark(dark)
    for view in VIEWS:
        show(page, url, view)
        page.wait("document.querySelector('main h1')")
        page.run("new Promise((done) => setTimeout(done, 150))")
        page.run(AXE.read_text() + "; 1")
        found = page.run(
            "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']})"
            ".then(({violations}) => violations.map((one) => [one.id, one.nodes[0].html, one.nodes[0].failureSummary]))"
        )
        assert found == [], view
    page.problems.clear()


AGES = {
    119: "119s",
    120: "2m",
    125: "2m5s",
    600: "10m",
    10_799: "179m",
    11_100: "3h5m",
    28_800: "8h",
    172_800: "2d",
    176_400: "2d1h",
    691_200: "8d",
    63_072_000: "2y",
    315_360_000: "10y",
}
"""Ages as the server writes them (apimachinery `util/duration`)."""


def test_ages_go_on_as_the_server_writes_them(modules: Page) -> None:
    assert module(modules, "age", f"{list(AGES)}.map(m.formatAge)") == list(AGES.values())
    assert module(modules, "age", f"{json.dumps(list(AGES.values()))}.map(m.parseAge)")[2:6] == [
        125,
        600,
        179 * 60,
        11_100,
    ]
    assert module(modules, "age", "['<unknown>', '', '5', 'm5'].map(m.parseAge).every(Number.isNaN)")


LINE = st.lists(st.sampled_from("abcd"), max_size=12)


@settings(max_examples=1)
@given(st.lists(st.tuples(LINE, LINE), min_size=60, max_size=60))
def test_differences_make_one_text_of_the_other(modules: Page, pairs: list[tuple[list[str], list[str]]]) -> None:
    call = f"{json.dumps(pairs)}.map(([a, b]) => m.compare(a, b, 1000))"
    for (before, after), found in zip(pairs, module(modules, "diff", call), strict=True):
        if before != after:
            assert [one["text"] for one in found if one["sign"] in " -"] == before
            assert [one["text"] for one in found if one["sign"] in " +"] == after


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    [
        "yes",
        "1",
        "1.0",
        "- a",
        "a: b",
        "a #b",
        "~",
        "",
        " a",
        "a\n",
        "a\n\n",
        "\na",
        "  a\nb",
        "a\n b",
        "---",
        "*a",
        "0x1",
        "1e3",
        ":",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**50), 2**50) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=1)
@given(st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), min_size=150, max_size=150))
def test_yaml_is_the_object(modules: Page, objects: list[dict[str, Any]]) -> None:
    call = f"JSON.parse({json.dumps(json.dumps(objects))}).map((one) => m.toLines(one).join('\\n'))"
    for value, text in zip(objects, module(modules, "yaml", call), strict=True):
        assert (yaml.safe_load(text) or {}) == value, text


@pytest.fixture(scope="module")
def modules(browser: Browser, url: str) -> Page:
    return show(browser.page(), url)
