"""Values of flags, read and refused as Go's flags read and refuse them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

WHOLE = re.compile(r"[+-]?(?:0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO]?(?:_?[0-7])+|0|[1-9](?:_?[0-9])*)")
NUMBER = re.compile(r"\d+\.?\d*|\.\d+")
UNITS = frozenset(("ns", "us", "µs", "μs", "ms", "s", "m", "h"))
TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))
MOST = 1 << 63
LONGEST = 100 * 365 * 86400.0
"""The longest time that a flag may name, in seconds: what is longer is no time to wait for."""


class Refused(Exception):
    """A value that is well formed and not allowed: the whole line, with `<flag>` where the name of the flag belongs."""


def quoted(text: str) -> str:
    """A text as Go's `%q` shows it."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text.replace("\\", "\\\\"))
    return '"' + shown.replace('"', '\\"') + '"'


def boolean(text: str) -> bool:
    """`strconv.ParseBool`. Raises ValueError."""
    if text in TRUE or text in FALSE:
        return text in TRUE
    raise ValueError(f"strconv.ParseBool: parsing {quoted(text)}: invalid syntax")


def integer(text: str) -> int:
    """`strconv.ParseInt` with Go's prefixes. Raises ValueError."""
    if not WHOLE.fullmatch(text):
        raise ValueError(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax")
    octal = re.fullmatch(r"([+-]?)0_?([0-7][0-7_]*)", text)
    number = int(octal[1] + octal[2], 8) if octal else int(text, 0)
    if not -MOST <= number < MOST:
        raise ValueError(f"strconv.ParseInt: parsing {quoted(text)}: value out of range")
    return number


def unsigned(text: str) -> int:
    """`strconv.ParseUint` of 32 bits. Raises ValueError."""
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"strconv.ParseUint: parsing {quoted(text)}: invalid syntax")
    if int(text) >= 1 << 32:
        raise ValueError(f"strconv.ParseUint: parsing {quoted(text)}: value out of range")
    return int(text)


def amount(text: str) -> int:
    """A number that is not negative."""
    number = integer(text)
    if number < 0:
        raise Refused("<flag> can not be negative value")
    return number


def port(text: str) -> int:
    """A port to listen on; 0 takes any free one."""
    number = integer(text)
    if not 0 <= number < 65536:
        # The words are upstream's; here 0 has a meaning of its own.
        why = "must be between 1 and 65535, inclusive. It cannot be turned off with 0, which takes any free port"
        raise Refused(f"<flag> {number} {why}")
    return number


def seconds(text: str) -> float:
    """A Go duration such as `5m`, in seconds. Raises ValueError."""
    from hydrofoil import engine

    found = engine.duration(text)
    if found is None:
        raise ValueError(f"time: {_unread(text)}")
    if found < 0:
        raise Refused("<flag> can not be negative value")
    if found > LONGEST:
        raise Refused(f"<flag> {text} must not be longer than {LONGEST / 3600:.0f}h")
    return found


def period(text: str) -> float:
    """A duration that may be none."""
    try:
        return seconds(text)
    except Refused as e:
        raise Refused(str(e).replace("can not be negative value", "can not be a negative value")) from None


def span(text: str) -> float:
    """A duration of some length."""
    found = seconds(text)
    if not found:
        raise Refused("<flag> must be greater than 0, such as 5m")
    return found


def _unread(text: str) -> str:
    """Why a duration is none (`time.ParseDuration`)."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    while (number := NUMBER.match(rest)) is not None:
        rest = rest[number.end() :]
        unit = re.match(r"[^.0-9]*", rest)
        word = unit[0] if unit else ""
        if not word:
            return f"missing unit in duration {quoted(text)}"
        if word not in UNITS:
            return f"unknown unit {quoted(word)} in duration {quoted(text)}"
        rest = rest[len(word) :]
    return f"invalid duration {quoted(text)}"


def one_of(*words: str) -> Callable[[str], str]:
    """A word out of a few."""

    def read(text: str) -> str:
        if text not in words:
            raise Refused(f"<flag> {quoted(text)} must be one of {', '.join(words)}")
        return text

    return read


def hidden_metrics(text: str) -> str:
    """The version whose hidden metrics are shown: the one before this (component-base `metrics`)."""
    if text not in ("", "1.35"):
        why = "must be omitted or have the value '1.35'; only the previous minor version is allowed"
        raise Refused(f"metrics.showHiddenMetricsForVersion: Invalid value: {quoted(text)}: {why}")
    return text


def port_range(text: str) -> tuple[int, int]:
    """`30000-32767` or `30000+2767` (apimachinery `pkg/util/net/port_range.go`). Raises ValueError."""
    value = text.strip()
    dash, plus = "-" in value, "+" in value
    if dash and plus:
        raise ValueError(f"unable to parse port range: {value}")
    low, _, high = value.partition("-" if dash else "+")
    if not dash and not plus:
        # Upstream takes a single port, too; here the default says what a range looks like.
        raise ValueError(f"{quoted(value)} is not a range of ports such as 30000-32767")
    first, last = _decimal(low), _decimal(high)
    last += 0 if dash else first
    if first > 65535 or last > 65535:
        raise ValueError(f"the port range cannot be greater than 65535: {value}")
    if last < first:
        raise ValueError(f"end port cannot be less than start port: {value}")
    if first < 1:
        raise ValueError(f"the port range cannot begin with {first}: {value}")
    return first, last


def _decimal(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(f"strconv.Atoi: parsing {quoted(text)}: invalid syntax")
    return int(text)


def pairs(text: str) -> list[tuple[str, str | None]]:
    """`a=b,c`: keys and values; `None` for a key without one."""
    found: list[tuple[str, str | None]] = []
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        found.append((key.strip(), value.strip() if equals else None))
    return found


def gates(text: str) -> dict[str, bool]:
    """Feature gates (component-base `featuregate`): each needs a value (DEP-18)."""
    out: dict[str, bool] = {}
    for key, value in pairs(text):
        name = key.removeprefix("kube:")
        if value is None:
            raise Refused(f"missing bool value for {name}")
        try:
            out[name] = boolean(value)
        except ValueError as e:
            raise Refused(f"invalid value of {name}={value}, err: {e}") from None
    return out


def versions(text: str) -> dict[str, bool]:
    """What is switched on and off (GR-04, GR-05): a version without a value is on."""
    out: dict[str, bool] = {}
    for key, value in pairs(text):
        if key.startswith("api/") and key.partition("/")[2] in ("all", "ga", "beta", "alpha"):
            if value not in ("true", "false"):
                raise Refused(f"invalid value {key}={value or ''}")
            out[key] = value == "true"
            continue
        try:
            out[key] = not value or boolean(value)
        except ValueError as e:
            raise Refused(f"invalid value of {key}: {value}, err: {e}") from None
    return out


def endpoints(text: str) -> dict[str, str]:
    """`namespace/name=host:port,...`. Raises ValueError."""
    out: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        service, _, address = part.partition("=")
        host, _, number = address.rpartition(":")
        named = len(service.split("/")) == 2 and all(service.split("/"))
        if not named or not host or not number.isascii() or not number.isdigit() or not 0 < int(number) < 65536:
            raise ValueError(f"{quoted(part)} is not NAMESPACE/NAME=HOST:PORT")
        out[service] = address
    return out


def issuer(text: str) -> str:
    """The issuer of tokens: a URL where it looks like one (kubeapiserver `options/authentication.go`)."""
    if ":" not in text:
        return text
    from urllib.parse import urlsplit

    why = ""
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text) and not text.startswith("/"):
        first = "missing protocol scheme" if text.startswith(":") else "first path segment in URL cannot contain colon"
        why = first
    elif any(ord(c) < 32 or ord(c) == 127 for c in text):
        why = "net/url: invalid control character in URL"
    else:
        try:
            _ = urlsplit(text).port
        except ValueError as e:
            why = str(e)
    if why:
        what = f"service-account-issuer {quoted(text)} contained a ':' but was not a valid URL"
        raise Refused(f"{what}: parse {quoted(text)}: {why}")
    return text


def anything(text: str) -> Any:
    """A text as it is."""
    return text
