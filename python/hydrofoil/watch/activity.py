"""Whether there is work beside requests at the present moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


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

    __slots__ = ("_busy", "_parked", "_yielding", "_yields", "_zero", "is_ordered", "keys", "progress")

    def __init__(self) -> None:
        self._busy = 0
        self.progress: Callable[[], int] | None = None
        """Return a number that grows with each change of the state: work that has failed, most of it because of another
        write, is repeated when all other work is done and has changed something."""
        self.is_ordered = False
        """Whether the same requests have to have the same outcome: then nothing is repeated by the machine's time."""
        self._parked: dict[object, tuple[int, Callable[[], None]]] = {}
        """Work that has failed, with the progress at that time."""
        self.keys = 0
        """The keys that were processed so far: whether there is progress."""
        self._yields: dict[asyncio.Future[None], int] = {}
        """The futures of sources that let others go first, with the number of keys at which their patience ends."""
        self._yielding = 0
        """The number of these sources, each of which is busy itself."""
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
        self._resume()
        if not self._busy and self._parked:
            self.repeat()
        if not self._busy and self._zero is not None:
            zero, self._zero = self._zero, None
            if not zero.done():
                zero.set_result(None)

    def count_key(self) -> None:
        """Count a key that was processed."""
        self.keys += 1
        for future, end in self._yields.items():
            if self.keys >= end and not future.done():
                future.set_result(None)

    def _resume(self) -> None:
        """Let those continue that wait for others, if there are no others."""
        if self._busy <= self._yielding:
            for future in self._yields:
                if not future.done():
                    future.set_result(None)

    @property
    def has_others(self) -> bool:
        """Report, to a busy source, whether another one is busy that does not let others go first."""
        return self._busy > self._yielding + 1

    async def yield_to_others(self, most: int) -> None:
        """Wait until no source is busy but those that wait here, or until so many keys were processed.

        The caller is a busy source itself, and calls this once at a time.
        """
        self._yielding += 1
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._yields[future] = self.keys + most
        try:
            # Those that wait already may have waited for this one.
            self._resume()
            await future
        finally:
            self._yielding -= 1
            del self._yields[future]

    def park(self, work: object, repeat: Callable[[], None]) -> None:
        """Repeat work that has failed when all other work is done, and has changed something; once for each call."""
        assert self.progress is not None
        self._parked[work] = self.progress(), repeat

    def leave(self, work: object) -> None:
        """Forget work that has failed."""
        self._parked.pop(work, None)

    def repeat(self) -> None:
        """Repeat parked work for which something has changed since."""
        if self.progress is None:
            return
        present = self.progress()
        for work, (progress, repeat) in list(self._parked.items()):
            if progress != present:
                del self._parked[work]
                repeat()

    async def wait(self) -> None:
        """Wait until nothing is busy. It may be busy again when the caller continues, which has to look itself."""
        if self._busy:
            if self._zero is None:
                self._zero = asyncio.get_running_loop().create_future()
            # Shielded: one of several who wait may give up.
            await asyncio.shield(self._zero)
