"""`hydrofoil data`: work on data folders without a server."""
