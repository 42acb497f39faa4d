"""`/flagz` and `/statusz`: the settings of a server, and its state (component-base `zpages`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from hydrofoil import engine
from hydrofoil.answer import TEXT, Answer
from hydrofoil.apis.releases.data import minors
from hydrofoil.clock import Clock
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.errors import ApiError
from hydrofoil.go_text import format_duration
from hydrofoil.headers import ACCEPT
from hydrofoil.options import Flag, flags

GROUP = "config.k8s.io"
ACCEPTED = "only the following media types are accepted: application/json, application/yaml, text/plain"
UNSTABLE = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is "
    "for debugging purposes only.\n\n"
)
PATHS = ("/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version")
FIXED = {
    "anonymous-auth": "true",
    "default-not-ready-toleration-seconds": "300",
    "default-unreachable-toleration-seconds": "300",
    "delete-collection-workers": "1",
    "min-request-timeout": "1800",
    "watch-cache": "true",
}
"""Settings of kube-apiserver that are as they are here, unless a flag of the same name exists."""


def flag_text(flag: Flag, value: object) -> str:
    """Return the value of a flag as pflag does."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return ",".join(f"{key}={str(on).lower()}" for key, on in sorted(value.items()))
    if isinstance(value, tuple):
        return f"[{','.join(map(str, value))}]"
    if isinstance(value, float):
        return format_duration(value) if flag.value == "DURATION" else f"{value:g}"
    return str(value)


def settings(config: object, rooms: tuple[type, ...]) -> dict[str, str]:
    """Return all flags and their values; files are named, never read."""
    found = dict(FIXED)
    for room in rooms:
        for flag in flags(room):
            for name in flag.names:
                value = getattr(config, flag.setting)
                if name.startswith("--") and value is not None:
                    found[name[2:]] = flag_text(flag, value)
    return dict(sorted(found.items()))


class Pages:
    """The two pages of one server."""

    def __init__(
        self, config: object, rooms: tuple[type, ...], clock: Clock, minor: int, began: tuple[float, str]
    ) -> None:
        """`began` is the start of the server, in seconds since 1970 and as text."""
        self._config = config
        self._rooms = rooms
        self._clock = clock
        self._begun, self._started = began
        self._minor = minor

    def flagz(self, context: Context) -> Answer:
        """Return the flags. Raise ApiError 406."""
        return self._page(context, "Flagz", {"flags": settings(self._config, self._rooms)})

    def statusz(self, context: Context) -> Answer:
        """Return start, versions and paths. Raise ApiError 406."""
        members = {
            "startTime": self._started,
            "uptimeSeconds": int(self._clock.seconds() - self._begun),
            "goVersion": "",
            "binaryVersion": f"1.{minors()[-1]}.0",
            "emulationVersion": f"1.{self._minor}",
            "paths": list(PATHS),
        }
        return self._page(context, "Statusz", members)

    def _page(self, context: Context, kind: str, members: dict[str, Any]) -> Answer:
        form = negotiate_page(context.request.headers.get(ACCEPT, ""), kind)
        if not form:
            return respond.answer(context, 200, text_of(kind, members).encode(), TEXT)
        media, version = form
        body = {"kind": kind, "apiVersion": f"{GROUP}/{version}", "metadata": {"name": "apiserver"}} | members
        data = orjson.dumps(body)
        if media.endswith("yaml"):
            data = engine.json_to_yaml(data)
        head = context.common
        if version == "v1alpha1":
            text = f"This version of the {kind.lower()} endpoint is deprecated. Please use a newer version."
            head += respond.warning_lines([text])
        return respond.answer(context, 200, data, f"{media};g={GROUP};v={version};as={kind}", head)


def negotiate_page(accept: str, kind: str) -> tuple[str, str] | None:
    """Return media type and version of a page; None for text. Raise ApiError 406."""
    for clause in accept.split(",") if accept.strip() else ("*/*",):
        media, *parts = (part.strip() for part in clause.split(";"))
        given = dict(part.partition("=")[::2] for part in parts)
        if media in ("*/*", "text/*", "text/plain"):
            return None
        asked = given.get("g") == GROUP and given.get("as") == kind and given.get("v") in ("v1alpha1", "v1beta1")
        if media in ("application/json", "application/yaml") and asked:
            return media, given["v"]
    raise ApiError(406, "NotAcceptable", ACCEPTED)


def text_of(kind: str, members: dict[str, Any]) -> str:
    """Return a page as text."""
    if kind == "Flagz":
        lines = [f"{name}={value}" for name, value in members["flags"].items()]
    else:
        lines = [
            f"Started: {members['startTime']}",
            f"Up: {format_duration(members['uptimeSeconds'])}",
            f"Binary version: {members['binaryVersion']}",
            f"Emulation version: {members['emulationVersion']}",
            f"Paths: {' '.join(members['paths'])}",
        ]
    body = "".join(f"{''.join(c if c.isprintable() else '?' for c in line)}\n" for line in lines)
    return f"\napiserver {kind.lower()}\n{UNSTABLE}{body}"
