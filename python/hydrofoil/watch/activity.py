"""Whether there is work beside requests at the present moment."""

from __future__ import annotations

import asyncio


class Activity:
    """A count of the sources of work that are busy, and a future for its zero.

    Only work of the present moment counts: a key that is to be processed again later, by any clock, makes nothing busy
    until its time has come. Whoever has work holds exactly one `begin` for all of it, so that the count is exact:

    >>> activity = Activity()
    >>> activity.begin()
    >>> activity.is_idle
    False
    >>> activity.end()
    >>> activity.is_idle
    True
    """

    __slots__ = ("_busy", "_zero", "keys")

    def __init__(self) -> None:
        self._busy = 0
        self.keys = 0
        """The keys that were processed so far: whether there is progress."""
        self._zero: asyncio.Future[None] | None = None
        """Those who wait share one future. It is made by the first of them: work that nobody waits for makes none."""

    @property
    def is_idle(self) -> bool:
        """Report whether nothing is busy."""
        return not self._busy

    def begin(self) -> None:
        """Count a source that has work from now on."""
        self._busy += 1

    def end(self) -> None:
        """Count a source that has none any more."""
        self._busy -= 1
        if not self._busy and self._zero is not None:
            zero, self._zero = self._zero, None
            if not zero.done():
                zero.set_result(None)

    async def wait(self) -> None:
        """Wait until nothing is busy. It may be busy again when the caller continues, which has to look itself."""
        if self._busy:
            if self._zero is None:
                self._zero = asyncio.get_running_loop().create_future()
            # Shielded: one of several who wait may give up.
            await asyncio.shield(self._zero)
