"""The time of the event loop: the budget of a turn, shared by classes of work.

No other room decides who may use the loop. `shares.py` is the table of times, `sizes.py` (with `rust/pace`) that of
sizes; `turn.py` is the budget of a turn, `queues.py` has the queues for a share of it: calls, of which as many run as
there is time for (handshakes, input, watchers), and tasks, of which one continues in each turn (large answers,
results of threads, work in pieces: `pacer.py`). `arrivals.py` lets requests begin and `reads.py` parses what clients
send, so that a crowd is no long turn. A turn is marked only when a class uses its share: single requests pay for a
look at the clock and an addition.
"""
