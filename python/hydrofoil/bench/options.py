"""The flags of `hydrofoil bench`, `bench compare` and `bench clean`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hydrofoil.go_text import quote
from hydrofoil.options import (
    Options,
    Refused,
    Texts,
    anything,
    boolean,
    flag,
    flags,
    integer,
    one_of,
    span,
    words,
)

CASES = ("list", "pages", "watch", "fanout", "informers", "writes", "mixed")
ALL = "all"
ENCODINGS = ("json", "protobuf", "cbor", "table", "metadata")
RESOURCES = ("configmaps", "pods")
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
MOST_OBJECTS = 1_000_000
MOST_BYTES = 1_000_000
"""Objects of an API server have at most a megabyte and a half."""


def within(low: int, high: int) -> Callable[[str], int]:
    """Return a parser of a whole number in a range."""

    def read(text: str) -> int:
        number = integer(text)
        if not low <= number <= high:
            raise Refused(f"<flag> {number} must be between {low} and {high}")
        return number

    return read


def several(known: tuple[str, ...]) -> Callable[[str], Texts]:
    """Return a parser of some of these words, separated by commas."""

    def read(text: str) -> Texts:
        found = words(text)
        for word in found:
            if word not in known:
                raise Refused(f"<flag> {quote(word)} must be one of {', '.join(known)}")
        if not found:
            raise Refused(f"<flag> needs one of {', '.join(known)}")
        return Texts(dict.fromkeys(found))

    return read


def rate(text: str) -> float:
    """Read writes a second; `max` is 0, which is no limit. Raise ValueError."""
    if text == "max":
        return 0.0
    try:
        found = float(text)
    except ValueError:
        raise ValueError(f"{quote(text)} is neither a number nor max") from None
    if not 0 < found <= 1e6:
        raise Refused("<flag> must be above 0 and at most 1000000, or max")
    return found


def namespace(text: str) -> str:
    """Read the name of a namespace (apimachinery `IsDNS1123Label`)."""
    if text and not NAME.fullmatch(text):
        raise Refused(f"<flag> {quote(text)} must be a name of lower case letters, digits and '-', at most 63")
    return text


def processes(text: str) -> Texts:
    """Read ids of processes, separated by commas."""
    for word in (found := words(text)):
        if integer(word) <= 0:
            raise Refused(f"<flag> {word} is no process")
    return found


class ServerOptions(Options):
    """The server."""

    server: str = flag("--server", "", anything, "the URL of the server", value="URL")
    kubeconfig: str = flag("--kubeconfig", "", anything, "a kubeconfig with the server", value="FILE")
    context: str = flag(
        "--context", "", anything, "the context of the kubeconfig (default: its current one)", value="NAME"
    )
    token: str = flag("--token", "", anything, "a bearer token for --server", value="TOKEN")
    insecure_skip_tls_verify: bool = flag(
        "--insecure-skip-tls-verify", False, boolean, "accept any certificate of --server", value="BOOL"
    )
    yes: bool = flag(
        "--yes", False, boolean, "write to a server that is not on this machine, without a question", value="BOOL"
    )


class LoadOptions(Options):
    """The load."""

    objects: int = flag("--objects", 10_000, within(1, MOST_OBJECTS), "objects to list (default {})", value="NUMBER")
    size: int = flag("--size", 4096, within(0, MOST_BYTES), "bytes of text in each object (default {})", value="BYTES")
    resource: str = flag(
        "--resource",
        "configmaps",
        one_of(*RESOURCES),
        "the kind of the objects (default {})",
        value="|".join(RESOURCES),
    )
    watchers: int = flag("--watchers", 100, within(1, 50_000), "watchers and informers (default {})", value="NUMBER")
    readers: int = flag(
        "--readers", 4, within(1, 10_000), "connections of lists and pages (default {})", value="NUMBER"
    )
    rate: float = flag(
        "--rate", 200.0, rate, "writes a second beside watchers, or max (default 200)", value="NUMBER|max"
    )
    encoding: Texts = flag(
        "--encoding",
        Texts(("json",)),
        several(ENCODINGS),
        "encodings of answers (default json)",
        value="|".join(ENCODINGS) + ",...",
    )
    gzip: bool = flag("--gzip", False, boolean, "ask for packed lists", value="BOOL")
    duration: float = flag("--duration", 5.0, span, "the time of each measurement (default 5s)", value="DURATION")
    namespace: str = flag(
        "--namespace",
        "",
        namespace,
        "a namespace to work in (default: one of its own, deleted at the end)",
        value="NAME",
    )
    against: str = flag(
        "--against",
        "",
        anything,
        "start and compare servers of this machine: kube-apiserver, hydrofoil, or the path of a kube-apiserver",
        value="PROGRAM",
    )


class ResultOptions(Options):
    """The results."""

    pid: Texts = flag("--pid", Texts(), processes, "processes of the server, for its CPU and memory", value="PID,...")
    label: str = flag("--label", "", anything, "a name for this run in reports", value="TEXT")
    report: str = flag("--report", "", anything, "write a page with plots to this file", value="FILE")
    json: str = flag("--json", "", anything, "write the figures to this file; - is the standard output", value="FILE")


class BenchOptions(ServerOptions, LoadOptions, ResultOptions):
    """The options of `hydrofoil bench`."""

    def shown(self) -> dict[str, Any]:
        """Return every option by its flag, for the results; a token is not shown."""
        found: dict[str, Any] = {}
        for each in flags(BenchOptions):
            value = getattr(self, each.setting)
            found[each.names[0].lstrip("-")] = list(value) if isinstance(value, tuple) else value
        found["rate"] = self.rate or "max"
        found["token"] = "(given)" if self.token else ""
        return found


class CleanOptions(ServerOptions):
    """The options of `hydrofoil bench clean`."""


class CompareOptions(Options):
    """The results."""

    report: str = flag("--report", "", anything, "write a page with plots to this file", value="FILE")
    json: str = flag(
        "--json", "", anything, "write the comparison to this file; - is the standard output", value="FILE"
    )


def choose_cases(given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cases of words, in their order. Raise ValueError with the first unknown word."""
    for word in given:
        if word not in CASES and word != ALL:
            raise ValueError(word)
    return tuple(case for case in CASES if not given or ALL in given or case in given)
