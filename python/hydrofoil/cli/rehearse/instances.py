"""The objects of one definition, in one version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hydrofoil.cli.rehearse.copy import Copy, mark
from hydrofoil.cli.rehearse.differences import added_fields, lost_fields
from hydrofoil.cli.rehearse.versions import served_versions
from hydrofoil.controls.apply import path_of
from hydrofoil.dumps.compare import SERVER_SIDE
from hydrofoil.errors import ApiError

Object = dict[str, Any]
Key = tuple[str, str]
"""Namespace and name."""
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


class Instances:
    """The objects of a definition, as they are in a copy."""

    def __init__(self, copy: Copy, definition: Object | None, version: str) -> None:
        """Without a definition there are none."""
        self._copy = copy
        self.definition = definition
        self.version = version
        self.items: dict[Key, Object] = {}
        spec = definition["spec"] if definition is not None else {}
        self._group = str(spec.get("group") or "")
        self._kind = str((spec.get("names") or {}).get("kind") or "")
        self.is_converted_by_webhook = (spec.get("conversion") or {}).get("strategy") == "Webhook"

    @property
    def _head(self) -> Object:
        return {"apiVersion": f"{self._group}/{self.version}", "kind": self._kind}

    def path(self, version: str, key: Key = ("", "")) -> str:
        """Return the path of an object, or of all of them; empty for a version that is not served."""
        resource = self._copy.find(f"{self._group}/{version}", self._kind)
        return path_of(resource, *key) if resource is not None else ""

    async def read(self, version: str = "") -> str:
        """Read all objects; return why they cannot be read, or nothing."""
        self.items.clear()
        path = self.path(version or self.version)
        if not path:
            return ""
        try:
            async for page in self._copy.pages(path):
                for item in page["items"]:
                    metadata = item["metadata"]
                    self.items[metadata.get("namespace", ""), metadata["name"]] = {**self._head, **item}
        except ApiError as e:
            return e.message
        return ""

    async def tables(self) -> dict[str, Object]:
        """Return the tables of all served versions, with the rows of all pages."""
        found: dict[str, Object] = {}
        for version in served_versions(self.definition) if self.definition is not None else ():
            path = self.path(version)
            if not path:
                continue
            try:
                async for page in self._copy.pages(f"{path}", TABLE):
                    rows = found.setdefault(version, {"columnDefinitions": page["columnDefinitions"], "rows": []})[
                        "rows"
                    ]
                    rows += [row["cells"] for row in page.get("rows") or ()]
            except ApiError:
                # What cannot be read is told by the objects.
                found.pop(version, None)
        return found

    def identify(self, key: Key) -> Object:
        """Return the members of a report that name an object."""
        return {**self._head, "namespace": key[0], "name": key[1]}

    def compare(self, after: Instances) -> tuple[list[Object], list[Object]]:
        """Return the objects that lose fields, and those that get some, each with the fields."""
        loses, gains = [], []
        for key, item in self.items.items():
            now = after.items.get(key)
            if now is None or now == item:
                continue
            if fields := lost_fields(item, now):
                loses.append({**after.identify(key), "fields": fields})
            if fields := added_fields(item, now):
                gains.append({**after.identify(key), "fields": fields})
        return loses, gains

    async def try_updates(self) -> list[Object]:
        """Return the objects whose least update is refused, and why."""
        return [entry for key in self.items if (entry := await self._try_update(key)) is not None]

    async def refused_among(self, refused: Iterable[Object]) -> set[Key]:
        """Return which of some objects are refused here, too."""
        found = set()
        for one in refused:
            key = one["namespace"], one["name"]
            answer = await self._copy.ask("GET", self.path(self.version, key))
            if answer.status == 200:
                self.items[key] = answer.content()
                if await self._try_update(key) is not None:
                    found.add(key)
        return found

    async def _try_update(self, key: Key) -> Object | None:
        answer = await self._copy.ask("PUT", f"{self.path(self.version, key)}?dryRun=All", mark(self.items[key]))
        return None if answer.status < 400 else {**self.identify(key), **refusal(answer.status, answer.content())}

    async def try_creations(self) -> list[Object]:
        """Return the objects that would be refused if they were new, and why: stored ones may keep such values."""
        found = []
        for key, item in self.items.items():
            metadata = {name: value for name, value in item["metadata"].items() if name not in SERVER_SIDE}
            path = self.path(self.version, (key[0], ""))
            answer = await self._copy.ask("POST", f"{path}?dryRun=All", {**item, "metadata": metadata})
            # Whether the name is free is looked at last.
            if answer.status >= 400 and answer.status != 409:
                found.append({**self.identify(key), **refusal(answer.status, answer.content())})
        return found

    async def there_and_back(self) -> list[Object]:
        """Write each object in each other served version as it reads there; return what is lost. It changes them."""
        found: list[Object] = []
        original = dict(self.items)
        served = served_versions(self.definition) if self.definition is not None else []
        versions = [version for version in served if version != self.version]
        for version in versions:
            if found:
                # As they were before the last one.
                await self._copy.rewrite(list(original.values()))
            entry: Object = {"version": version, "loses": [], "failed": []}
            found.append(entry)
            await self._convert(version, original, entry)
        return found

    async def _convert(self, version: str, original: dict[Key, Object], entry: Object) -> None:
        other = Instances(self._copy, self.definition, version)
        if problem := await other.read():
            if not self.is_converted_by_webhook:
                entry["failed"].append({"reason": problem})
                return
            # One object that cannot be converted fails the list: each is read by itself.
            await other.read_each(original, entry["failed"])
        reasons = await self._copy.rewrite(list(other.items.values()), keeps_mark=True)
        failed = {key: reason for key, reason in zip(other.items, reasons, strict=True) if reason}
        entry["failed"] += [{**other.identify(key), "reason": reason} for key, reason in failed.items()]
        back = Instances(self._copy, self.definition, self.version)
        if problem := await back.read():
            entry["failed"].append({"reason": problem})
            return
        for key, item in original.items():
            if key in other.items and key not in failed and (fields := lost_fields(item, back.items.get(key, {}))):
                entry["loses"].append({**self.identify(key), "fields": fields})

    async def read_each(self, keys: Iterable[Key], failed: list[Object]) -> None:
        """Read objects one by one; add those that cannot be read."""
        self.items.clear()
        for key in keys:
            answer = await self._copy.ask("GET", self.path(self.version, key))
            if answer.status == 200:
                self.items[key] = answer.content()
            else:
                failed.append({**self.identify(key), **refusal(answer.status, answer.content())})


def refusal(code: int, status: Object) -> Object:
    """Return code, reason and causes of a Status as in a report."""
    details = status.get("details") or {}
    return {"code": code, "reason": status.get("message", ""), "causes": details.get("causes") or []}
