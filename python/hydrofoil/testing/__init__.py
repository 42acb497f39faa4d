"""A server in a test: embedded, reset in a millisecond, broken on purpose.

The public face in Python: `server.py` (in the caller's loop; `direct.py` takes calls of other threads), `thread.py`,
`process.py` (a child that ends with its parent), all calling `core.py` by the names of its methods; `plugin.py` with
`session_servers.py` (pytest), `session.py` and `transport.py` (clients in memory, on `server/memory.py`).
`silence.py` keeps the log from the handlers of the root logger.
"""
