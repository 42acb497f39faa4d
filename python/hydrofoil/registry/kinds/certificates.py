"""The group certificates.k8s.io: signing requests, requests for the certificates of pods."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import Cause
from hydrofoil.go_text import quote
from hydrofoil.registry.outcome import Finish
from hydrofoil.registry.rights import decision
from hydrofoil.registry.strategy import Strategy
from hydrofoil.registry.write import Write
from hydrofoil.request import attributes


class RequestStrategy(Strategy):
    """Record the user who creates a certificate signing request."""

    async def begin(self, write: Write, draft: Draft, old: Stored | None) -> Finish | None:
        if old is None:
            user = write.user
            for member, value in (("username", user.name), ("uid", user.uid), ("groups", user.groups)):
                draft.set(["spec", member], orjson.dumps(value))
            draft.set(["spec", "extra"], orjson.dumps(dict(user.extra)) if user.extra else None)
        return None


def _status(draft: Draft) -> dict[str, Any]:
    """Return the members of a status that are set."""
    found: dict[str, Any] = orjson.loads(draft.get(["status"]) or b"{}")
    return {member: value for member, value in found.items() if value}


class PodRequestStrategy(Strategy):
    """Require the right to sign of those who change the status (`podcertificaterequest/strategy.go`)."""

    async def further_causes(self, write: Write, draft: Draft, old: Stored | None) -> list[Cause]:
        if old is None or write.subresource != "status":
            return []
        before = old.thaw()
        if _status(draft) == _status(before):
            return []
        signer: str = orjson.loads(before.get(["spec", "signerName"]) or b'""')
        for name in (signer, f"{signer.partition('/')[0]}/*"):
            asked = attributes("sign", "certificates.k8s.io", "signers", version="*", name=name)
            if (await decision(write, asked)).allowed:
                return []
        why = f'User {quote(write.user.name)} is not permitted to "sign" for signer {quote(signer)}'
        return [("FieldValueForbidden", f"Forbidden: {why}", "spec.signerName")]
