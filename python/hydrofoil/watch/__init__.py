"""Watches: streams of events, and state and queues that follow them."""
