"""Handlers, one verb a module."""
