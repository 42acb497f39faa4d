"""Loops that act on what the API shows."""
