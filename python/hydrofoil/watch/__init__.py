"""Watches: streams of events, and state and queues that follow them.

Its files: `hub.py` (woken cursors, once a turn of the loop), `stream.py` (cursor to sink), `follow.py` (state that
follows events), `change_flag.py` (several of these, asked at once), `queue.py` (keys to work on, and their
counts), `activity.py` (who has work now), `expired.py` (every 410).

Facts that a strategy needs of other objects are a `State`: a function of the objects of a collection (`replace` all,
`apply` a change). `Followed` (`watch/follow.py`) has the state and a cursor into the ring; reading it first brings it
up to the view, so one's own write is in it, and it is right after a start on full storage, after a write of another
server and after the ring passed it by. A read costs one native call when no event waits. Definitions served
(`apiextensions/served.py`), API services (`aggregation/registrations.py`), the API services that definitions want
(`aggregation/wanted.py`) and the addresses and node ports of services (`registry/allocation/allocated.py`) are such
states: a write reserves its allocation beside the state until its outcome is known.

Actions on events are a `Queue` of keys (`watch/queue.py`): each once at a time, from the present object, ending in a
conditional write, and again later when that fails. The write that it belongs to waits for its key (`done`), so that
clients see the order that they always saw; a worker never waits for its own queue. `Activity` counts the queues that
have work, those of controllers included: what settles a server waits for its end without polling.
"""
