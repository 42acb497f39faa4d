"""Calls to other servers: connections, trust, and bounds of responses."""
