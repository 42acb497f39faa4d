"""Strategies of built-in kinds, by group."""
