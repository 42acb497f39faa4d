"""Admission webhooks: their configurations, reviews and calls."""
