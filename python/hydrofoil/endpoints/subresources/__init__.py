"""Subresources, and the table of them."""
