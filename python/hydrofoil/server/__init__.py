"""The server: its parts put together."""
