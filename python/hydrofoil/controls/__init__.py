"""The controls of a test over a server: faults, journal, time, snapshots, and their HTTP form.

Its files: `journal.py` (requests answered, watches open), `faults.py` with `fault.py` (matching and counting) and
`watching.py` (faults on the events of a watch, a gate of its stream), `controls.py` (snapshots, reset, clock),
`moments.py` (moments and durations as tests give them), `apply.py` and `waiting.py` (objects applied and awaited),
`http.py` (the same under `/hydrofoil/v1`). Without controls no filter of theirs is in the chain.
"""
