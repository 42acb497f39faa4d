"""Several followed states, asked in one call whether any of them has changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydrofoil.engine import Watcher, watchers_wait
from hydrofoil.watch.follow import Followed


class ChangeFlag:
    """States for which each call counts, since every request asks for them."""

    def __init__(self, followed: Sequence[Followed[Any]]) -> None:
        self._followed = tuple(followed)
        self._watchers: tuple[Watcher, ...] = ()
        self._stale = True
        for one in self._followed:
            one.on_take(self._changed)

    def _changed(self) -> None:
        """Note that a state has applied changes, or has another watcher."""
        self._stale = True

    def changed(self) -> bool:
        """Report whether a state has changed since the last call, or has changes to apply, which its `state` does."""
        if self._stale:
            self._stale = False
            self._watchers = tuple(one.watcher for one in self._followed)
            return True
        return watchers_wait(self._watchers)
