"""Custom resource definitions: what is served of them, their status, and the end of their instances."""
