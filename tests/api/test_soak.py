"""The soak itself, in small: `make soak` is the real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.conftest import ROOT


def test_every_watcher_ends_with_what_a_fresh_list_gives() -> None:
    """WA-07, WA-08, WA-20 under mixed writes, kills and slow readers."""
    environment = {**os.environ, "SECONDS": "3", "WATCHERS": "60", "RATE": "200"}
    line = [sys.executable, "-m", "bench.soak"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False, timeout=50, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["cut"] and report["events"] and report["lists"]
