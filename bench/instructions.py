"""Instructions of the hot native calls, against the committed baseline: `python -m bench.instructions [--write]`.

Callgrind counts what `rust/bench/src/bin/hot.rs` executes. Counts do not depend on what else a machine does, so that
five per cent are no noise. They do depend on the compiler: the baseline names its release, and with another one there
is nothing to compare. The C library is kept from choosing its functions by the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BASELINE = ROOT / "bench" / "instructions.json"
"""The compiler, and the instructions of each call."""
LIMIT = 0.05
"""A call may become slower by this share."""
REQUESTS = {
    "create a pod": ("pod_decode_json", "pod_validate", "store_create", "pod_encode_json"),
    "create a pod in protobuf": ("pod_decode_protobuf", "pod_validate", "store_create", "pod_encode_protobuf"),
    "create a deployment": ("deployment_decode_json", "deployment_validate", "store_create", "deployment_encode_json"),
    "get a pod": ("store_get", "pod_encode_json"),
}
"""The calls of a request, each once."""
EQUAL = (("publish_to_one", "publish_to_four", "publish_to_sixteen"),)
"""Calls that cost the same: a write costs the owner nothing more for each worker."""
REQUEST_LIMIT = 0.03
"""A request may become slower by this share: calls that each become a little slower add up."""

PLAIN = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM,-BMI2,-MOVBE,-RTM"}
"""The same functions of the C library on every processor."""

Counts = dict[str, int]

_NAME = re.compile(r"c?fn=\((\d+)\) (.+)")
_CALLED = re.compile(r"cfn=\((\d+)\)")
_MEASURED = re.compile(r"hot::([a-z_]+)(?:::h[0-9a-f]{16})?$")


def compiler() -> str:
    """Return the release of rustc, as `1.95.0`."""
    done = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[1]


def parse(profile: str) -> Counts:
    """Return the instructions of each function of `hot`, with all calls in it, from a profile of callgrind.

    Each call is three lines: the function called (by number if its name was given before), the count, and the cost.
    """
    names: dict[str, str] = {}
    counts: Counts = {}
    called = ""
    told = False
    for line in profile.splitlines():
        if found := _NAME.match(line):
            names[found[1]] = found[2]
        if found := _CALLED.match(line):
            called = names[found[1]]
        elif line.startswith("calls="):
            told = True
        elif told:
            told = False
            if (found := _MEASURED.match(called)) and found[1] not in {"main", "run"}:
                counts[found[1]] = counts.get(found[1], 0) + int(line.split()[1])
    return counts


def measure() -> Counts:
    """Build the program, with the flags of the extension, and count."""
    subprocess.run(["make", "--silent", "hot"], check=True, cwd=ROOT)
    with tempfile.TemporaryDirectory() as directory:
        profile = Path(directory) / "profile"
        # Only what `run` calls is counted: filling the shard is most of the work otherwise.
        flags = ["--quiet", f"--callgrind-out-file={profile}", "--collect-atstart=no", "--toggle-collect=hot::run*"]
        line = ["valgrind", "--tool=callgrind", *flags, str(ROOT / ".cache" / "hot")]
        subprocess.run(line, check=True, cwd=ROOT, env=os.environ | PLAIN)
        return parse(profile.read_text())


def sums(counts: Counts) -> Counts:
    """Return the instructions of each request whose calls are all counted."""
    complete = {name: calls for name, calls in REQUESTS.items() if counts.keys() >= set(calls)}
    return {name: sum(counts[call] for call in calls) for name, calls in complete.items()}


def slower(before: Counts, now: Counts) -> list[str]:
    """Return the problems: calls and requests above their limits, new calls, and removed ones."""
    out = []
    for name in sorted(before.keys() | now.keys()):
        if name not in before:
            out.append(f"{name}: not in the baseline")
        elif name not in now:
            out.append(f"{name}: not measured")
        elif now[name] > before[name] * (1 + LIMIT):
            out.append(f"{name}: {before[name]:,} -> {now[name]:,} ({now[name] / before[name] - 1:+.1%})")
    for calls in EQUAL:
        known = {name: now[name] for name in calls if name in now}
        if known and max(known.values()) > min(known.values()) * (1 + LIMIT):
            out.append(f"not equal: {', '.join(f'{name} {count:,}' for name, count in known.items())}")
    old, new = sums(before), sums(now)
    for name in sorted(old.keys() & new.keys()):
        if new[name] > old[name] * (1 + REQUEST_LIMIT):
            out.append(f"{name}: {old[name]:,} -> {new[name]:,} ({new[name] / old[name] - 1:+.1%})")
    return out


def main() -> int:
    """Compare, or write the baseline; return 1 if a call became slower."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="make what is measured the baseline")
    options = parser.parse_args()
    now = measure()
    if options.write:
        BASELINE.write_text(json.dumps({"rustc": compiler(), "instructions": now}, indent=1, sort_keys=True) + "\n")
        return 0
    baseline = json.loads(BASELINE.read_text())
    before = baseline["instructions"]
    for counts, others in ((now, before), (sums(now), sums(before))):
        for name, count in sorted(counts.items()):
            change = f"{count / others[name] - 1:+8.2%}" if name in others else "     new"
            sys.stdout.write(f"{name:28}{count:14,}{change}\n")
    if baseline["rustc"] != compiler():
        sys.stdout.write(f"the baseline is of rustc {baseline['rustc']}, this is {compiler()}: no comparison\n")
        return 0
    wrong = slower(before, now)
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    if wrong:
        sys.stdout.write("refactoring? make counts WRITE=1\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
