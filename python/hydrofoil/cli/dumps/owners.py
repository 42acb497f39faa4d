"""References to owners, in the terms of the server that objects are imported to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from hydrofoil.cli.dumps.summary import Summary
from hydrofoil.dumps.object import DumpedObject
from hydrofoil.dumps.order import DumpIndex

ACCOUNT_UID = "kubernetes.io/service-account.uid"
ACCOUNT_NAME = "kubernetes.io/service-account.name"
Look = Callable[[DumpedObject], Awaitable[str]]
"""Return the uid of an object on the server; empty if it is not there."""


class OwnerMap:
    """The uids of the server by those of the dump."""

    def __init__(self, index: DumpIndex, summary: Summary, look: Look, *, keeps_uids: bool) -> None:
        """`look` asks the server for an owner that was not imported before."""
        self._index = index
        self._summary = summary
        self._look = look
        self._keeps_uids = keeps_uids
        self._uids: dict[tuple[str, str, str, str], str] = {}

    def learn(self, found: DumpedObject, uid: str) -> None:
        """Take the uid that an object has on the server."""
        self._uids[found.key] = uid

    def forget(self, found: DumpedObject) -> None:
        """Ask the server for an object after all: it was not taken, or another one has its name."""
        self._uids.pop(found.key, None)

    async def uid(self, owner: DumpedObject) -> str:
        """Return the uid of an object of the dump on the server; empty if it is not there."""
        if owner.key not in self._uids:
            self._uids[owner.key] = await self._look(owner)
        return self._uids[owner.key]

    async def stand(self, found: DumpedObject) -> bool:
        """Report whether all references of an object are as they must be on the server."""
        for reference in found.owners:
            owner = self._index.owner(reference, found)
            if owner is None or await self.uid(owner) != reference.uid:
                return False
        return True

    async def translate(self, found: DumpedObject, content: dict[str, Any]) -> None:
        """Change the references of an object.

        A reference without an owner is dropped, and named: the garbage collector would delete the object.
        """
        references, kept = content["metadata"].get("ownerReferences") or [], []
        for reference, raw in zip(found.owners, references, strict=False):
            owner = self._index.owner(reference, found)
            uid = "" if owner is None else await self.uid(owner)
            if uid:
                kept.append({**raw, "uid": uid})
                continue
            where = "in the dump" if owner is None else "on the server"
            self._summary.skip(found, f"its owner {reference.kind} {reference.name} is not {where}, and is dropped")
        if kept:
            content["metadata"]["ownerReferences"] = kept
        else:
            content["metadata"].pop("ownerReferences", None)
        if not self._keeps_uids:
            await self._translate_others(found, content)

    async def _translate_others(self, found: DumpedObject, content: dict[str, Any]) -> None:
        """Change the uids of other members that stand for an object: a claim, an account."""
        if (found.group, found.kind) == ("", "PersistentVolume"):
            claim = (content.get("spec") or {}).get("claimRef")
            if isinstance(claim, dict) and claim.pop("uid", None) and (uid := await self._known(claim)):
                claim["uid"] = uid
            if isinstance(claim, dict):
                claim.pop("resourceVersion", None)
        elif (found.group, found.kind) == ("", "Secret"):
            notes = content["metadata"].get("annotations")
            if isinstance(notes, dict) and ACCOUNT_UID in notes:
                account = {"namespace": found.namespace, "name": notes.get(ACCOUNT_NAME)}
                notes[ACCOUNT_UID] = await self._known(account, "ServiceAccount") or notes[ACCOUNT_UID]

    async def _known(self, reference: dict[str, Any], kind: str = "PersistentVolumeClaim") -> str:
        """Return the uid of the object of a reference by name; empty if it was not imported."""
        key = "", kind, str(reference.get("namespace") or ""), str(reference.get("name") or "")
        return self._uids.get(key, "")
