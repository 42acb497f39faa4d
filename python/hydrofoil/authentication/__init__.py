"""Credentials of requests, and the tokens of service accounts."""
