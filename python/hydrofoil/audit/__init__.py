"""Audit: a record of each request, chosen by a policy, for a log and a webhook."""
