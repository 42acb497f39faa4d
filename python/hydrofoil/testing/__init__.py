"""A server in a test: embedded, reset in a millisecond, broken on purpose."""
