"""Watches: streams of events, and state and queues that follow them.

Its files: `hub.py` (woken cursors, once a turn of the loop), `stream.py` (cursor to sink), `follow.py` (state that
follows events), `change_flag.py` (several of these, asked at once), `queue.py` (keys to work on, and their
counts), `expired.py` (every 410).
"""
