"""The page of a server in a browser."""

from __future__ import annotations

import json
from typing import Any

from tools.browser import Page

GRID = "document.querySelector('main [role=grid]')"


def show(page: Page, url: str, address: str = "") -> Page:
    """Open the page at an address of its own, and return it."""
    page.open(f"{url}/ui/#{address}")
    return page


def go(page: Page, address: str) -> None:
    """Go to another address of the open page."""
    page.run(f"location.hash = {json.dumps(address)}")


def wait_for_rows(page: Page, number: int) -> None:
    """Wait until the grid has so many rows, the head apart, and those in the window are in the document."""
    page.wait(
        f"{GRID}?.getAttribute('aria-rowcount') === '{number + 1}' && (() => {{"
        f"const rows = [...{GRID}.querySelectorAll('.body .row:not([hidden])')];"
        f"return {number} ? rows.length && rows.length <= {number} : !rows.length; }})()"
    )


def wait_for_text(page: Page, text: str) -> None:
    """Wait until the page has a text."""
    page.wait(f"document.querySelector('main').innerText.includes({json.dumps(text)})")


def rows(page: Page) -> list[list[str]]:
    """Return the cells of the rows in the document, in their order."""
    script = (
        "[...document.querySelectorAll('main .body .row:not([hidden])')]"
        ".sort((a, b) => a.getAttribute('aria-rowindex') - b.getAttribute('aria-rowindex'))"
        ".map((row) => [...row.children].map((cell) => cell.textContent))"
    )
    found: list[list[str]] = page.run(script)
    return found


def select(page: Page, label: str, value: str) -> None:
    """Choose an option of a list by its value."""
    page.run(
        f"(() => {{ const list = [...document.querySelectorAll('main label')]"
        f".find((one) => one.textContent.startsWith({json.dumps(label)})).querySelector('select');"
        f"list.value = {json.dumps(value)}; list.dispatchEvent(new Event('change')); }})()"
    )


def module(page: Page, name: str, call: str) -> Any:
    """Return the value of a call of a module of the page, named `m`."""
    return page.run(f"import('/ui/{name}.js').then((m) => {call})")
