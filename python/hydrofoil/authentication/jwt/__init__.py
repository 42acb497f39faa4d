"""Tokens of JWT issuers: OpenID Connect by flags, and issuers in a configuration file."""
