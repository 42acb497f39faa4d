"""Options of a test server: the flags of `serve`, as Python values or as texts, and a few of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from hydrofoil import engine
from hydrofoil.controls.moments import moment
from hydrofoil.go_text import quote
from hydrofoil.near import suggest
from hydrofoil.options import Flag, Refused, Texts, flags, texts
from hydrofoil.server.config import ROOMS, Config
from hydrofoil.server.listening import StartError

OWN = ("seed", "clock", "snapshot", "config")
"""The options that are no flags of a room; `config` is a file of flags, as the command line's."""


OF_MARKERS = ("crds", "manifests", "faults", "users")
"""The keys of the pytest plug-in's marker that are no options of a server."""


@cache
def flags_by_option() -> dict[str, Flag]:
    """Return the flags by the names of their options."""
    return {name.lstrip("-").replace("-", "_"): flag for room in ROOMS for flag in flags(room) for name in flag.names}


def check(given: Mapping[str, Any]) -> None:
    """Raise TypeError for an option that does not exist."""
    for name in given:
        if name not in OWN and name not in flags_by_option():
            raise TypeError(f"Server has no option {name!r}{suggest(name, (*OWN, *OF_MARKERS, *flags_by_option()))}")


class Given(NamedTuple):
    """The options of one server."""

    config: Config
    seed: int | None
    clock: datetime | None
    snapshot: Any
    """A path, or the bytes of a snapshot of another server."""


def parse(given: Mapping[str, Any]) -> Given:
    """Return the settings of options. Raise StartError with one line for a value that has no meaning."""
    settings: dict[str, Any] = {"port": 0}
    for name, value in {**_of_file(given.get("config")), **given}.items():
        if name not in OWN and value is not None:
            flag = flags_by_option()[name]
            settings[flag.setting] = _value(flag, value)
    seed, clock, snapshot = given.get("seed"), given.get("clock"), given.get("snapshot")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
        raise StartError(f"seed must be a whole number, not {seed!r}")
    if snapshot is not None and not isinstance(snapshot, str | bytes | os.PathLike):
        raise StartError(f"snapshot must be a path or a Snapshot, not {snapshot!r}")
    try:
        begin = None if clock is None else moment(clock)
    except (TypeError, ValueError) as e:
        raise StartError(f"clock: {e}") from None
    found = Given(Config(**settings), seed, begin, snapshot)
    if problem := _problem(found):
        raise StartError(problem)
    return found


def _problem(given: Given) -> str:
    """Return why options contradict each other; empty if they do not."""
    config = given.config
    if config.data_dir and config.etcd_servers:
        return "--data-dir and --etcd-servers exclude each other: objects are in one place"
    if bool(config.etcd_certfile) != bool(config.etcd_keyfile):
        return "--etcd-certfile and --etcd-keyfile are given together"
    if config.watch_manifests and not config.manifests:
        return "watch_manifests= is for the files of manifests="
    if given.snapshot is not None and (config.data_dir or config.etcd_servers):
        return "snapshot= is for a server that keeps its objects in memory"
    return ""


def _of_file(path: Any) -> dict[str, Any]:
    """Return the options of a file of flags in YAML. Raise StartError."""
    if path is None:
        return {}
    try:
        text = Path(path).read_bytes()
        content = orjson.loads(engine.yaml_to_json(text)) if text.strip() else None
    except OSError as e:
        raise StartError(f"{path}: {e.strerror or e}") from None
    except (TypeError, ValueError, engine.DecodeError) as e:
        raise StartError(f"{path}: {e}") from None
    if not isinstance(content or {}, dict):
        raise StartError(f"{path}: no map of flags, such as port: 0")
    found = {name.replace("-", "_"): value for name, value in (content or {}).items()}
    if unknown := [name for name in found if name not in flags_by_option()]:
        raise StartError(f'{path}: no flag "{unknown[0].replace("_", "-")}"')
    return found


def _value(flag: Flag, value: Any) -> Any:
    """Return the setting of a flag. Raise StartError, in the words of the command line."""
    name = flag.names[0]
    given = texts(flag, value)
    if not given:
        return type(flag.default)()
    try:
        made: Any = flag.read(given[0])
        for text in given[1:]:
            made = Texts((*made, *flag.read(text)))
    except Refused as e:
        raise StartError(str(e).replace("<flag>", name)) from None
    except ValueError as e:
        raise StartError(f"invalid argument {quote(str(value))} for {quote(name)} flag: {e}") from None
    return made
