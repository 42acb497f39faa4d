"""The time of the event loop: the budget of a turn, shared by classes of work.

`shares.py` is the table of times and `sizes.py` that of sizes. `turn.py` has the turn of a loop with the queues of its
classes (`queues.py`); `pacer.py` is for work in pieces, `arrivals.py` for requests, `reads.py` for input.
"""
