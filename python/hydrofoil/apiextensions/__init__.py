"""Custom resource definitions: the resources they serve, their status, and the removal of their instances."""
