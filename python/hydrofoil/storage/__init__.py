"""Storage of objects: logs, and the view of them."""
