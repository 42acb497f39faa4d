"""Scenarios about what a cluster does by itself: waits, collections that are watched, Events."""
