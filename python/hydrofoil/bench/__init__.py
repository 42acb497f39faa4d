"""Benchmarks of API servers: every answer is checked, and every object is removed again.

Its files: `cases.py` (what each case runs and proves), `measured.py` and `runner.py` (the cases of a run, in turn where
there are two servers), `repeats.py` and `metrics.py` (medians, intervals, verdicts), `find.py` (the highest rate that
holds a bound), `thresholds.py` (`--fail-if`), `session.py` (requests and
measurements by the native client, samples of CPU and memory), `workspace.py` (the namespace, and how everything is
removed), `clean.py` (the same after a kill), `access.py` and `credentials.py` (the server of flags or a kubeconfig).
`report.py` and `compared.py` make pages of plots (`svg.py`), `compare.py` ratios and notes, `starting.py` runs
servers for `against.py`. It imports no part of the server.
"""
