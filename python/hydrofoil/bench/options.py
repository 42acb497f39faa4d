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
    period,
    span,
    words,
)

CASES = ("list", "pages", "watch", "fanout", "informers", "writes", "mixed")
MORE = ("selector", "cached", "namespaces", "manager")
"""Cases that run only where they are named, or by `all`."""
ALL = "all"
ENCODINGS = ("json", "protobuf", "cbor", "table", "metadata")
RESOURCES = ("configmaps", "pods", "custom")
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


def counts(low: int, high: int) -> Callable[[str], tuple[int, ...]]:
    """Return a parser of whole numbers in a range, separated by commas."""
    one = within(low, high)

    def read(text: str) -> tuple[int, ...]:
        return tuple(dict.fromkeys(one(word.strip()) for word in text.split(",")))

    return read


def rates(text: str) -> tuple[float, ...]:
    """Read rates, separated by commas. Raise ValueError."""
    return tuple(dict.fromkeys(rate(word.strip()) for word in text.split(",")))


def rate(text: str) -> float:
    """Read operations a second; `max` is 0, which is no limit. Raise ValueError."""
    if text == "max":
        return 0.0
    try:
        found = float(text)
    except ValueError:
        raise ValueError(f"{quote(text)} is neither a number nor max") from None
    if not 0 < found <= 1e6:
        raise Refused("<flag> must be above 0 and at most 1000000, or max")
    return found


def bound(text: str) -> Texts:
    """Read one bound of results. Raise Refused."""
    from hydrofoil.bench.thresholds import threshold

    return Texts((threshold(text).text,))


def plain(value: Any) -> Any:
    """Return the one value of a list, and any other value as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], str) else value


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
        "the kind of the objects; custom: of a definition that is made for the run (default {})",
        value="|".join(RESOURCES),
    )
    watchers: int = flag("--watchers", 100, within(1, 50_000), "watchers and informers (default {})", value="NUMBER")
    readers: tuple[int, ...] = flag(
        "--readers",
        (4,),
        counts(1, 10_000),
        "connections of lists and pages; each of several (default 4)",
        value="NUMBER,...",
    )
    rate: tuple[float, ...] = flag(
        "--rate",
        (),
        rates,
        "operations a second, or max; each of several (default: 200 writes beside watchers, else max)",
        value="NUMBER|max,...",
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
    warmup: float = flag(
        "--warmup",
        0.0,
        period,
        "the time for which each case runs before its measurement (default 0s)",
        value="DURATION",
    )
    repeat: int = flag(
        "--repeat",
        0,
        within(1, 100),
        "measurements of each case, in turn where two servers are compared (default 1, and 5 to compare)",
        value="NUMBER",
    )
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


class CheckOptions(Options):
    """The bounds of results."""

    csv: str = flag("--csv", "", anything, "write a line of figures for each measurement to this file", value="FILE")
    fail_if: Texts = flag(
        "--fail-if",
        Texts(),
        bound,
        "end with 99 if a figure is beyond a bound, such as p99>50ms, list:rate<100 or, to compare, p99>10%",
        value="BOUND",
    )


class BenchOptions(ServerOptions, LoadOptions, ResultOptions, CheckOptions):
    """The options of `hydrofoil bench`."""

    def shown(self) -> dict[str, Any]:
        """Return every option by its flag, for the results; a token is not shown."""
        found: dict[str, Any] = {}
        for each in flags(BenchOptions):
            value = getattr(self, each.setting)
            found[each.names[0].lstrip("-")] = plain(list(value) if isinstance(value, tuple) else value)
        rates = [each or "max" for each in self.rate]
        found["rate"] = rates if len(rates) > 1 else rates[0] if rates else "default"
        found["token"] = "(given)" if self.token else ""
        return found


class CleanOptions(ServerOptions):
    """The options of `hydrofoil bench clean`."""


class FindOptions(Options):
    """The bounds that the rate has to hold."""

    p50: float = flag("--p50", 0.0, span, "the bound of the median", value="DURATION")
    p90: float = flag("--p90", 0.0, span, "of nine in ten operations", value="DURATION")
    p95: float = flag("--p95", 0.0, span, "of 95 in a hundred", value="DURATION")
    p99: float = flag("--p99", 0.0, span, "of 99 in a hundred", value="DURATION")
    p999: float = flag("--p999", 0.0, span, "of 999 in a thousand", value="DURATION", also=("--p99.9",))

    def bounds(self) -> dict[str, float]:
        """Return the bounds that are given, in milliseconds, by the names of their percentiles."""
        named = {"p50": self.p50, "p90": self.p90, "p95": self.p95, "p99": self.p99, "p99.9": self.p999}
        return {name: bound * 1000 for name, bound in named.items() if bound}


class SearchOptions(BenchOptions, FindOptions):
    """The options of `hydrofoil bench find`."""


def choose_cases(given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cases of words, in their order. Raise ValueError with the first unknown word."""
    for word in given:
        if word not in (*CASES, *MORE, ALL):
            raise ValueError(word)
    if not given:
        return CASES
    return tuple(case for case in (*CASES, *MORE) if ALL in given or case in given)
