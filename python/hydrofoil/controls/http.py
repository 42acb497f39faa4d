"""The controls over HTTP, under `/hydrofoil/v1`: for tests in other languages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from ipaddress import ip_address
from itertools import count
from typing import Any, Protocol
from urllib.parse import parse_qsl

import orjson

from hydrofoil import engine, errors
from hydrofoil.answer import Answer
from hydrofoil.controls.controls import Controls
from hydrofoil.controls.description import document
from hydrofoil.controls.documents import Document, parse_documents
from hydrofoil.controls.fault import Fault
from hydrofoil.controls.moments import moment, nanoseconds
from hydrofoil.controls.objects import ObjectClient
from hydrofoil.controls.record import Record
from hydrofoil.controls.waiting import Waits, WaitTimeout
from hydrofoil.controls.watching import WatchInfo
from hydrofoil.controls.where import check_names, matches
from hydrofoil.engine import Checkpoint
from hydrofoil.request import Headers, RequestInfo
from hydrofoil.storage.errors import Unsupported

ROOT = "/hydrofoil/v1"
JSON = "application/json"
BINARY = "application/octet-stream"
PARAMS = "params."
"""The beginning of the names of query parameters, in the selection of requests."""
SECONDS = 10.0
"""The time of a wait that names none."""
Body = dict[str, Any]


class Asked(Protocol):
    """A request for the controls."""

    info: RequestInfo
    common: bytes

    @property
    def method(self) -> str:
        """Return the method."""

    @property
    def headers(self) -> Headers:
        """Return the headers."""

    @property
    def remote(self) -> str:
        """Return the address of the client."""

    async def body(self) -> bytes:
        """Read the body."""


def camel(name: str) -> str:
    """Return a name as JSON has it."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def snake(name: str) -> str:
    """Return a name as Python has it."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def rfc3339(at: datetime) -> str:
    """Return a moment in RFC 3339."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def to_json_value(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, datetime):
        return rfc3339(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def texts(**given: Any) -> None:
    """Raise TypeError for a value that is no text."""
    for name, value in given.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a text, not {value!r}")


def record_body(record: Record) -> Body:
    """Return a request."""
    names = (f.name for f in fields(Record) if f.name not in ("number", "stamp"))
    return {camel(name): to_json_value(getattr(record, name)) for name in names}


def watch_body(info: WatchInfo) -> Body:
    """Return an open watch."""
    return {camel(name): to_json_value(value) for name, value in info._asdict().items()}


def fault_body(fault: Fault) -> Body:
    """Return a fault."""
    match = {name: values[0] if len(values) == 1 else list(values) for name, values in fault.match.items()}
    parameters = {camel(name): value for name, value in fault.parameters.items()}
    counts = {name: value for name, value in (("nth", fault.nth), ("times", fault.times)) if value is not None}
    known = {"id": str(fault.number), "action": fault.action, "seen": fault.seen, "hits": fault.hits}
    return {**known, **match, **parameters, **counts, "text": str(fault)}


class ControlApi:
    """The answers of one server."""

    def __init__(
        self,
        controls: Controls,
        apply: Callable[[Iterable[Document], str | None, bool], Awaitable[list[Body]]],
        waits: Waits,
        user: Callable[[str, Sequence[str]], Body],
        settle: Callable[[], Awaitable[None]],
        move: Callable[[Iterator[None]], Awaitable[None]],
        check_resources: Callable[[Any], None],
        restart: Callable[[Asked], None],
        objects: ObjectClient,
        *,
        everywhere: bool,
    ) -> None:
        """`settle` waits for the controllers, `move` does so at each moment of a clock that is moved.

        `check_resources` raises ValueError for one that is not served.
        `restart` breaks all connections but that of a request.
        `everywhere`: clients of other machines may use it, too.
        """
        self._check_resources = check_resources
        self._restart = restart
        self._objects = objects
        self._controls = controls
        self._apply = apply
        self._waits = waits
        self._user = user
        self._settle = settle
        self._move = move
        self._everywhere = everywhere
        self._states: dict[str, Checkpoint] = {}
        self._numbers = count(1)
        self._calls: dict[tuple[str, str], Callable[[Asked], Awaitable[tuple[int, Any]]]] = {
            ("GET", "openapi.json"): self._described,
            ("POST", "reset"): self._reset,
            ("POST", "restart"): self._restarted,
            ("POST", "compact"): self._compact,
            ("GET", "snapshots"): self._listed,
            ("POST", "snapshots"): self._taken,
            ("GET", "clock"): self._time,
            ("PUT", "clock"): self._timed,
            ("POST", "clock/advance"): self._advanced,
            ("GET", "faults"): self._faults,
            ("POST", "faults"): self._broken,
            ("DELETE", "faults"): self._mended,
            ("GET", "requests"): self._requests,
            ("DELETE", "requests"): self._forgotten,
            ("GET", "watches"): self._watches,
            ("POST", "apply"): self._applied,
            ("POST", "wait"): self._waited,
            ("GET", "object"): self._get_object,
            ("PUT", "status"): self._set_status,
            ("GET", "why"): self._why,
            ("POST", "users"): self._made,
        }

    async def answer(self, asked: Asked) -> Answer:
        """Return the answer to a request for the controls; an error is a Status."""
        try:
            self._check(asked)
            status, body = await self._called(asked)
        except errors.ApiError as e:
            status, body = e.code, e.status()
        except Unsupported as e:
            status, body = 501, errors.ApiError(501, "NotImplemented", str(e)).status()
        except WaitTimeout as e:
            status, body = 504, errors.ApiError(504, "Timeout", str(e)).status()
        except (TypeError, ValueError, KeyError) as e:
            text = f"{e.args[0]} is required" if isinstance(e, KeyError) else str(e)
            status, body = 400, errors.bad_request(text).status()
        media, data = (BINARY, body) if isinstance(body, bytes) else (JSON, orjson.dumps(body))
        return Answer(status, b"%sContent-Type: %s\r\n" % (asked.common, media.encode()), data)

    def _check(self, asked: Asked) -> None:
        """Raise ApiError 403 for web pages and clients of other machines."""
        if asked.headers.get("Origin", ""):
            raise errors.ApiError(403, "Forbidden", "web pages may not control a server", {})
        if not self._everywhere and asked.remote and not ip_address(asked.remote.partition("%")[0]).is_loopback:
            raise errors.ApiError(403, "Forbidden", "only clients on this machine may control the server", {})

    async def _called(self, asked: Asked) -> tuple[int, Any]:
        path = asked.info.path.removeprefix(f"{ROOT}/").rstrip("/")
        call = self._calls.get((asked.method, path))
        if call is not None:
            return await call(asked)
        kind, _, rest = path.partition("/")
        name, _, verb = rest.partition("/")
        if kind == "snapshots" and name:
            return await self._snapshot(asked, name, verb)
        if kind == "faults" and name and not verb:
            return self._fault(asked.method, name)
        if any(known == path for _, known in self._calls):
            raise errors.method_not_allowed()
        raise errors.no_such_resource()

    @staticmethod
    async def _given(asked: Asked, *known: str) -> Body:
        """Return the body, an object that has known members only; any without names."""
        data = await asked.body()
        found = orjson.loads(data) if data.strip() else {}
        if not isinstance(found, dict):
            raise ValueError("the body must be an object")
        if known and (unknown := [name for name in found if name not in known]):
            raise ValueError(f"no member {unknown[0]!r}: it is one of {', '.join(known)}")
        return found

    async def _described(self, _: Asked) -> tuple[int, Body]:
        return 200, document()

    async def _reset(self, _: Asked) -> tuple[int, Body]:
        changed = self._controls.reset()
        await self._settle()
        return 200, self._changed(changed)

    def _changed(self, count: int) -> Body:
        return {"changed": count, "resourceVersion": str(self._controls.snapshot().revision)}

    async def _restarted(self, asked: Asked) -> tuple[int, Body]:
        self._restart(asked)
        return 200, {}

    async def _compact(self, _: Asked) -> tuple[int, Body]:
        self._controls.storage.compact()
        return 200, {}

    def _kept(self, name: str, state: Checkpoint) -> Body:
        self._states[name] = state
        return {"id": name, "resourceVersion": str(state.revision)}

    async def _listed(self, _: Asked) -> tuple[int, Body]:
        return 200, {"items": [{"id": n, "resourceVersion": str(s.revision)} for n, s in self._states.items()]}

    async def _taken(self, _: Asked) -> tuple[int, Body]:
        return 201, self._kept(str(next(self._numbers)), self._controls.snapshot())

    async def _snapshot(self, asked: Asked, name: str, verb: str) -> tuple[int, Any]:
        if (asked.method, verb) == ("PUT", ""):
            return 201, self._kept(name, engine.Checkpoint.load(await asked.body()))
        state = self._states.get(name)
        if state is None:
            raise errors.not_found("", "snapshots", name)
        if (asked.method, verb) == ("GET", ""):
            return 200, state.save()
        if (asked.method, verb) == ("DELETE", ""):
            del self._states[name]
            return 200, {}
        if (asked.method, verb) == ("POST", "restore"):
            changed = self._controls.restore(state)
            await self._settle()
            return 200, self._changed(changed)
        raise errors.method_not_allowed() if verb in ("", "restore") else errors.no_such_resource()

    async def _time(self, _: Asked) -> tuple[int, Body]:
        clock = self._controls.clock
        return 200, {"now": rfc3339(clock.now()), "frozen": clock.native.frozen}

    async def _timed(self, asked: Asked) -> tuple[int, Body]:
        given, clock = await self._given(asked, "now", "frozen"), self._controls.clock
        frozen, now = given.get("frozen", True), given.get("now")
        if not isinstance(frozen, bool):
            raise TypeError(f"frozen must be true or false, not {frozen!r}")
        if now is not None or frozen:
            await self._move(clock.freeze_by_moments(None if now is None else moment(now)))
        if not frozen:
            clock.run()
        await self._settle()
        return await self._time(asked)

    async def _advanced(self, asked: Asked) -> tuple[int, Body]:
        await self._move(self._controls.clock.moments(nanoseconds((await self._given(asked, "duration"))["duration"])))
        return await self._time(asked)

    async def _faults(self, _: Asked) -> tuple[int, Body]:
        return 200, {"items": [fault_body(fault) for fault in self._controls.faults]}

    async def _broken(self, asked: Asked) -> tuple[int, Body]:
        given = {snake(name): value for name, value in (await self._given(asked)).items()}
        self._check_resources(given.get("resource"))
        return 201, fault_body(self._controls.faults.add(given.pop("action"), given))

    async def _mended(self, _: Asked) -> tuple[int, Body]:
        self._controls.faults.clear()
        return 200, {}

    def _fault(self, method: str, name: str) -> tuple[int, Body]:
        fault = self._controls.faults.find(int(name)) if name.isdigit() else None
        if fault is None:
            raise errors.not_found("", "faults", name)
        if method not in ("GET", "DELETE"):
            raise errors.method_not_allowed()
        if method == "DELETE":
            self._controls.faults.remove(fault)
        return 200, fault_body(fault)

    async def _requests(self, asked: Asked) -> tuple[int, Body]:
        pairs = parse_qsl(asked.info.query, keep_blank_values=True)
        where: dict[str, Any] = {}
        for name, value in pairs:
            if name.startswith(PARAMS):
                where.setdefault("params", {})[name.removeprefix(PARAMS)] = value or None
            else:
                where[snake(name)] = value or None
        check_names(where)
        self._check_resources(where.get("resource"))
        journal = self._controls.journal
        for name in ("code", "request_bytes", "response_bytes"):
            if where.get(name) is not None:
                where[name] = int(where[name])
        found = [record_body(record) for record in journal.records if matches(record, where)]
        return 200, {"items": found, "dropped": journal.dropped}

    async def _forgotten(self, _: Asked) -> tuple[int, Body]:
        self._controls.journal.clear()
        return 200, {}

    async def _watches(self, _: Asked) -> tuple[int, Body]:
        return 200, {"items": [watch_body(watch.show()) for watch in self._controls.journal.open], "dropped": 0}

    async def _applied(self, asked: Asked) -> tuple[int, Body]:
        given = dict(parse_qsl(asked.info.query))
        documents = parse_documents(await asked.body(), given.get("origin", "the body"))
        status = given.get("status", "false") not in ("false", "0")
        return 200, {"items": await self._apply(documents, given.get("namespace"), status)}

    async def _waited(self, asked: Asked) -> tuple[int, Any]:
        given = await self._given(asked, "object", "namespace", "condition", "timeout")
        timeout = given.get("timeout", SECONDS)
        seconds = engine.duration(timeout) if isinstance(timeout, str) else float(timeout)
        if seconds is None:
            raise ValueError(f"{timeout!r} is no duration, such as 10s")
        condition, namespace = given.get("condition", "exists"), given.get("namespace", "default")
        texts(object=given["object"], condition=condition, namespace=namespace)
        return 200, await self._waits.until(given["object"], condition, namespace, seconds)

    def _named(self, asked: Asked) -> tuple[str, str]:
        """Return the object and the namespace of a query. Raise ValueError for other parameters, and KeyError."""
        given = dict(parse_qsl(asked.info.query))
        if unknown := given.keys() - {"object", "namespace"}:
            raise ValueError(f"no parameter {min(unknown)!r}: it is one of object, namespace")
        return given["object"], given.get("namespace", "default")

    async def _get_object(self, asked: Asked) -> tuple[int, Body]:
        return 200, await self._objects.get(*self._named(asked))

    async def _why(self, asked: Asked) -> tuple[int, Body]:
        return 200, {"lines": await self._objects.why(*self._named(asked))}

    async def _set_status(self, asked: Asked) -> tuple[int, Body]:
        given = await self._given(asked, "object", "namespace", "status")
        namespace, status = given.get("namespace", "default"), given["status"]
        texts(object=given["object"], namespace=namespace)
        if not isinstance(status, dict):
            raise TypeError(f"status must be an object, not {status!r}")
        return 200, await self._objects.set_status(given["object"], status, namespace)

    async def _made(self, asked: Asked) -> tuple[int, Body]:
        given = await self._given(asked, "name", "groups")
        name, groups = given["name"], given.get("groups") or []
        if not isinstance(groups, list):
            raise TypeError(f"groups must be a list of texts, not {groups!r}")
        if not name:
            raise ValueError("name must not be empty")
        texts(name=name, **{f"groups[{at}]": group for at, group in enumerate(groups)})
        return 200, self._user(name, groups)
