"""Workloads that end: jobs, cron jobs, and the removal of those that have ended (`pkg/controller/job`, `cronjob`)."""
