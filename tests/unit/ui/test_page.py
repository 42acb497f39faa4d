"""The files of the page: their headers, their tags, their size."""

from __future__ import annotations

import gzip
import re

import pytest

from hydrofoil.answer import Answer
from hydrofoil.ui.page import Page, accepts_gzip, load_package_data, matches

FILES = load_package_data()
LARGEST = 100_000
"""The bytes of all files together, packed."""


def answer(path: str, method: str = "GET", tags: str = "", encodings: str = "") -> Answer:
    found = Page().answer(method, path, tags, encodings)
    assert found is not None
    return found


@pytest.mark.parametrize("path", ["/ui/", *(f"/ui/{name}" for name in sorted(FILES))])
def test_each_file_has_a_strict_policy(path: str) -> None:
    found = answer(path)
    head = found.head.decode()
    policy = re.search(r"Content-Security-Policy: (.*)\r\n", head)
    assert found.status == 200 and policy
    assert "unsafe" not in policy[1]
    assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"} <= set(
        policy[1].split("; ")
    )
    assert "X-Content-Type-Options: nosniff\r\n" in head and "Content-Type: " in head


def test_the_page_is_small_and_needs_no_other_site() -> None:
    assert sum(len(file.packed) for file in FILES.values()) < LARGEST
    text = b"".join(file.content for file in FILES.values()).replace(b"http://www.w3.org/2000/svg", b"")
    assert b"http:" not in text and b"https:" not in text


@pytest.mark.parametrize(
    "word", [b"innerHTML", b"outerHTML", b"insertAdjacentHTML", b"document.write", b"eval(", b"Storage", b"cookie"]
)
def test_nothing_becomes_markup_or_is_kept(word: bytes) -> None:
    assert not [name for name, file in FILES.items() if word in file.content]


def test_every_module_that_is_named_exists() -> None:
    for name, file in FILES.items():
        for module in re.findall(rb'from "\./([^"]+)"|(?:href|src)="(\w[^"#]*)"', file.content):
            assert (module[0] or module[1]).decode() in FILES, (name, module)


def test_a_file_that_is_the_latest_is_not_sent_again() -> None:
    tag = FILES["main.js"].tag
    assert f"ETag: {tag}\r\n".encode() in answer("/ui/main.js").head
    again = answer("/ui/main.js", tags=f'W/"x", {tag}')
    assert (again.status, again.body) == (304, b"")
    assert matches("*", tag) and not matches('"x"', tag) and not matches("", tag)


def test_files_are_packed_for_those_who_unpack_them() -> None:
    packed = answer("/ui/main.js", encodings="gzip, deflate, br")
    assert b"Content-Encoding: gzip\r\n" in packed.head and b"Vary: Accept-Encoding\r\n" in packed.head
    assert gzip.decompress(packed.body) == answer("/ui/main.js").body == FILES["main.js"].content
    assert accepts_gzip("GZIP;q=0.5") and not accepts_gzip("br, gzip; q=0") and not accepts_gzip("")


@pytest.mark.parametrize("path", ["/ui/x", "/ui/../ui/main.js", "/ui/stats", "/uix", "/ui/page.py", "/ui//"])
def test_nothing_else_is_a_file(path: str) -> None:
    assert Page().answer("GET", path, "", "") is None


def test_files_are_only_read() -> None:
    found = answer("/ui/", "POST")
    assert found.status == 405 and b"Allow: GET, HEAD\r\n" in found.head
    assert (answer("/ui").status, b"Location: /ui/\r\n" in answer("/ui").head) == (301, True)
