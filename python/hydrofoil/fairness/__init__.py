"""Priority and fairness: which requests run at once, and whose turn it is.

`service.py` follows schemas and levels and keeps the level of each kind of request, `schema.py` matches, `limits.py`
and `allocation.py` divide the seats, `estimate.py` prices requests, `dealer.py` deals the few queues of a flow. The
seats and queues of a level are native (`rust/fairness`). The loop rarely runs out of seats, but of time:
`dispatcher.py` marks the turns of the loop, and those that wait are served flow by flow. A request that finds nothing
waiting costs a look at two dicts and two native calls. `metrics.py` and `dump.py` show all of it.
"""
