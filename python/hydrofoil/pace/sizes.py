"""The sizes that send work to a thread, or to the end of a turn. Those of native code are in `rust/pace`."""

from __future__ import annotations

from hydrofoil import engine

LARGE = engine.LARGE
"""The bytes of input, together with the object it changes, from which work leaves the loop: about a millisecond."""
TOKEN = 16 * 1024
"""The bytes of a token from which it is parsed and verified on a thread."""
WATCHERS_AT_ONCE = 32
"""The woken watchers that have their events before the write is answered; more have them at the end of the turn."""
