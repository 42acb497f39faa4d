"""Validating webhooks: all at the same time (apiserver `pkg/admission/plugin/webhook/validating/dispatcher.go`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hydrofoil.admission.matching.target import Target
from hydrofoil.admission.webhooks.calls import CallFailed
from hydrofoil.admission.webhooks.dispatch import Round
from hydrofoil.admission.webhooks.hook import Hook
from hydrofoil.clock import stopwatch
from hydrofoil.errors import FAULTS

KEY = "validating.webhook.admission.k8s.io/round_0_index_{}"


class Validating(Round):
    """One request."""

    kind = "validating"
    mutating = False

    async def run(self, hooks: Sequence[Hook]) -> None:
        """Ask the webhooks that want to be asked, and wait for all. Raise ApiError: that of the first to refuse."""
        wanted = [(hook, at) for hook in hooks if (at := await self.wanted(hook)) is not None]
        if not wanted:
            return
        for _, at in wanted:
            await self.seen.forms(at.kind)
        refused: list[BaseException] = []
        if len(wanted) == 1:
            await self._one(0, *wanted[0], refused)
        else:
            await asyncio.gather(*(self._one(i, *each, refused) for i, each in enumerate(wanted)))
        if refused:
            raise refused[0]

    async def _one(self, index: int, hook: Hook, at: Target, refused: list[BaseException]) -> None:
        begun = stopwatch()
        error: BaseException | None = None
        try:
            await self.ask(hook, at)
        except FAULTS as e:
            error = e
        self.observe(hook, stopwatch() - begun, error)
        try:
            if isinstance(error, CallFailed):
                self.failed(hook, error, KEY.format(index))
            elif error is not None:
                refused.append(error)
        except FAULTS as e:
            refused.append(e)
