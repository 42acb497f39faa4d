"""The group certificates.k8s.io: signing requests."""

from __future__ import annotations

import orjson

from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.outcome import Finish
from hydrofoil.registry.strategy import Strategy
from hydrofoil.registry.write import Write


class RequestStrategy(Strategy):
    """Record the user who creates a certificate signing request."""

    async def begin(self, write: Write, draft: Draft, old: Stored | None) -> Finish | None:
        if old is None:
            user = write.user
            for member, value in (("username", user.name), ("uid", user.uid), ("groups", user.groups)):
                draft.set(["spec", member], orjson.dumps(value))
            draft.set(["spec", "extra"], orjson.dumps(dict(user.extra)) if user.extra else None)
        return None
