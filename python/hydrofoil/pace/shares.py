"""The seconds that each class of work may take of one turn of the event loop.

A class that has used its share continues in a later turn, so the sum bounds a turn: it is `TURN`, and a class that gets
more takes it from another one. A share is measured after each piece of work: it is exceeded by one piece at most, which
`sizes.py` bounds.
"""

from __future__ import annotations

TURN = 0.005
"""The longest turn: what a timer, a probe or a watcher waits for at most."""

HANDSHAKES = 0.0005
"""TLS handshakes. Each is a signature of about 0.1 ms, and a flood of them must not keep those who are logged in."""
READS = 0.0004
"""Input that is parsed: a thousand clients that send their requests together would else be one turn of 30 ms."""
ARRIVALS = 0.0014
"""Requests that begin. Most are answered within the same turn, so this is the throughput of the server."""
QUEUED = 0.0002
"""Requests from the queues of priority levels. A short time makes many turns, in which other flows have their own."""
WATCHERS = 0.001
"""Watchers of events, bookmarks and controllers."""
EXPRESSIONS = 0.0005
"""CEL expressions of all requests together; one that takes longer begins anew on a thread."""
ANSWERS = 0.0005
"""One large answer, whose reader may be as fast as the server."""
RESULTS = 0.00025
"""The work on a result that comes from a thread, one in each turn. It is not measured: large work has left the loop."""
BOOKKEEPING = 0.00025
"""One task that works in pieces: controllers, indices, metrics."""

SHARES = {
    "handshakes": HANDSHAKES,
    "reads": READS,
    "arrivals": ARRIVALS,
    "queued": QUEUED,
    "watchers": WATCHERS,
    "expressions": EXPRESSIONS,
    "answers": ANSWERS,
    "results": RESULTS,
    "bookkeeping": BOOKKEEPING,
}
"""All shares, in the order in which the classes continue."""
