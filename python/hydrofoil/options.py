"""Flags: each package declares its own in a class of options, with the parsing and validation of their values.

Command line, settings and reference are made from these declarations. Values are read as Go's flags read them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from msgspec import Struct
from msgspec.structs import replace

from hydrofoil.go_text import explain_duration, quote

T = TypeVar("T")
WHOLE = re.compile(r"[+-]?(?:0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO]?(?:_?[0-7])+|0|[1-9](?:_?[0-9])*)")
TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))
MOST = 1 << 63
LONGEST = 100 * 365 * 86400.0
"""The longest duration of a flag, in seconds: a longer one is an error."""


class Texts(tuple[str, ...]):
    """The values of a flag that may be repeated: each time adds to them."""

    __slots__ = ()


class Refused(Exception):
    """A well-formed value that is not allowed: the whole line, with `<flag>` in the place of the flag's name."""


class Flag(Struct, frozen=True):
    """One flag: its names, the parsing of its value, and its purpose."""

    setting: str
    """The field of the settings that it sets."""
    names: tuple[str, ...]
    default: Any
    read: Callable[[str], Any]
    """The parser of a text. It raises ValueError for an invalid value, and Refused for one that is not allowed."""
    value: str
    """The placeholder of the value in the help."""
    help: str


def flag(
    name: str,
    default: T,
    read: Callable[[str], Any],
    help: str,
    *,
    value: str = "",
    also: tuple[str, ...] = (),
) -> T:
    """Declare a field of options that a flag sets; `also` are further names of the flag."""
    return cast(T, Flag("", (name, *also), default, read, value, help))


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Options:
    """Settings with their defaults, as a frozen dataclass has them; a subclass may join those of several.

    Not a dataclass: a server has 130 settings, and compiling the methods of a dataclass for them and for the parts
    that they come from takes a twentieth of its start.
    """

    FLAGS: ClassVar[Mapping[str, Flag]] = {}
    """The flags by the settings that they set."""
    DEFAULTS: ClassVar[Mapping[str, Any]] = {}
    """All settings."""

    def __init_subclass__(cls) -> None:
        declared: dict[str, Flag] = {}
        defaults: dict[str, Any] = {}
        for base in reversed(cls.__bases__):
            if issubclass(base, Options):
                declared |= base.FLAGS
                defaults |= base.DEFAULTS
        for name in vars(cls).get("__annotations__", ()):
            default = vars(cls)[name]
            if isinstance(default, Flag):
                value = default.value or name.upper()
                declared[name] = replace(default, setting=name, value=value)
                default = default.default
                setattr(cls, name, default)
            defaults[name] = default
        cls.FLAGS, cls.DEFAULTS = declared, defaults

    def __init__(self, **given: Any) -> None:
        for name in given:
            if name not in self.DEFAULTS:
                raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument {name!r}")
        own = {name: dict(value) for name, value in self.DEFAULTS.items() if isinstance(value, dict)}
        self.__dict__.update(self.DEFAULTS, **own)
        self.__dict__.update(given)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def pick(cls, given: Mapping[str, Any]) -> Self:
        """Return the settings of the flags of this class among those of a command line, which may have others."""
        return cls(**{name: given[name] for name in cls.FLAGS})

    def replaced(self, **changes: Any) -> Self:
        """Return the settings with some changed."""
        return type(self)(**{**vars(self), **changes})


def flags(options: type[Options]) -> list[Flag]:
    """Return the flags of a class of options, in their order."""
    return list(options.FLAGS.values())


def anything(text: str) -> Any:
    """Return a text as it is."""
    return text


def once(text: str) -> Texts:
    """Read one value of a repeated flag as it is."""
    return Texts((text,))


def words(text: str) -> Texts:
    """Read `a,b`: the values of a flag that takes many at once, and may be repeated."""
    return Texts(filter(None, (word.strip() for word in text.split(","))))


def boolean(text: str) -> bool:
    """Read a boolean (`strconv.ParseBool`). Raise ValueError."""
    if text in TRUE or text in FALSE:
        return text in TRUE
    raise ValueError(f"strconv.ParseBool: parsing {quote(text)}: invalid syntax")


def integer(text: str) -> int:
    """Read an integer with Go's prefixes (`strconv.ParseInt`). Raise ValueError."""
    if not WHOLE.fullmatch(text):
        raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
    octal = re.fullmatch(r"([+-]?)0_?([0-7][0-7_]*)", text)
    number = int(octal[1] + octal[2], 8) if octal else int(text, 0)
    if not -MOST <= number < MOST:
        raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: value out of range")
    return number


def parse_unsigned(text: str) -> int:
    """Read an unsigned integer of 32 bits (`strconv.ParseUint`). Raise ValueError."""
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: invalid syntax")
    if int(text) >= 1 << 32:
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(text)


def amount(text: str) -> int:
    """Read a number that is not negative."""
    number = integer(text)
    if number < 0:
        raise Refused("<flag> can not be negative value")
    return number


def seconds(text: str) -> float:
    """Read a Go duration such as `5m`, in seconds. Raise ValueError."""
    # Loading the engine takes a while, and most command lines have no duration.
    from hydrofoil import engine

    found = engine.duration(text)
    if found is None:
        raise ValueError(f"time: {explain_duration(text)}")
    if found < 0:
        raise Refused("<flag> can not be negative value")
    if found > LONGEST:
        raise Refused(f"<flag> {text} must not be longer than {LONGEST / 3600:.0f}h")
    return found


def period(text: str) -> float:
    """Read a duration that may be zero."""
    try:
        return seconds(text)
    except Refused as e:
        raise Refused(str(e).replace("can not be negative value", "can not be a negative value")) from None


def span(text: str) -> float:
    """Read a duration that is positive."""
    found = seconds(text)
    if not found:
        raise Refused("<flag> must be greater than 0, such as 5m")
    return found


def one_of(*words: str) -> Callable[[str], str]:
    """Return a parser for one of several words."""

    def read(text: str) -> str:
        if text not in words:
            raise Refused(f"<flag> {quote(text)} must be one of {', '.join(words)}")
        return text

    return read


def pairs(text: str) -> list[tuple[str, str | None]]:
    """Read `a=b,c`: keys and values; None for a key without a value."""
    found: list[tuple[str, str | None]] = []
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        found.append((key.strip(), value.strip() if equals else None))
    return found


def texts(flag: Flag, value: Any) -> list[str]:
    """Return a value as texts of the command line, one for each time that the flag is given."""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, int | float) and not isinstance(value, bool) and flag.value == "DURATION":
        return [f"{value}s"]
    if isinstance(value, Mapping):
        return [",".join(f"{key}={_plain(item)}" for key, item in value.items())]
    if isinstance(value, list | tuple | set | frozenset):
        parts = [_plain(item) for item in value]
        return parts if isinstance(flag.default, tuple) else [",".join(parts)]
    return [_plain(value)]


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
