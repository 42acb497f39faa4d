"""Tokens of service accounts: keys, claims, their issue and their acceptance."""
