"""Encryption of objects at rest: its file, and the file's changes."""
