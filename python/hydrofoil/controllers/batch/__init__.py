"""Workloads that end: jobs, cron jobs, and the removal of those that have ended (`pkg/controller/job`, `cronjob`).

A look at a job (`job.py`) counts its pods and finds by which condition it ends (`job_state.py`, with `job_policies.py`,
`job_pods.py`, `job_indexes.py` and `intervals.py`), makes and removes pods (`job_pod_manager.py`, after the delays of
`backoff.py`), and writes what ended so that each pod is counted once (`job_tracking.py`, `removed_finalizers.py`). A
look at a cron job (`cron_job.py`, `cron_job_run.py`) makes the job of the last moment that was missed
(`missed_schedules.py`) of its schedule (`cron_schedule.py`, `schedules.py`).
"""
