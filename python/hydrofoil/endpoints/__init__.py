"""Endpoints: requests in, answers out."""
