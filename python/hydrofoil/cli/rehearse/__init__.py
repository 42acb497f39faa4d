"""`hydrofoil rehearse`: what a change would do to the objects of a dump, or of a running server.

All changes are made in `copy.py`, a server of this process that has the objects, so that its answers are those that a
server would give. `reading.py` takes the objects, `report.py` prints what was found; each other file is a rehearsal, or
a step of one.
"""
