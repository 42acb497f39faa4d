"""Worker processes: one server, one port, and every core (`--workers`).

The process that was started owns the truth: it holds the objects, runs the controllers, and accepts connections, which
it hands to the worker with the fewest. A worker has the whole front and a view of its own, which the owner's feed fills
(`storage/link.py`); it answers by itself, and commits at the owner. `crew.py` is the owner's side of it, `worker.py`
the worker's; `process.py` starts the processes, `channel.py` is what they tell each other.
"""
