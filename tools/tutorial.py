"""Run the commands of pages, and compare what they print: `python -m tools.tutorial PAGE... [--install FROM=TO]`.

Code blocks of `console` hold commands after `$ ` (a here-document continues to its END) and their output. In that,
`...` matches any text, alone on a line any lines. All commands of a page run in one shell, in an empty folder.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
MARK = "=-=-= next"
SECONDS = 180


class Step(NamedTuple):
    """A command and its output."""

    line: int
    command: str
    output: str


def steps(text: str) -> Iterator[Step]:
    """Yield the steps of a page."""
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        lines = block[1].splitlines()
        at = 0
        while at < len(lines):
            begun = at
            command = [lines[at].removeprefix("$ ")]
            at += 1
            if command[0].endswith("<<END"):
                while lines[at] != "END":
                    command.append(lines[at])
                    at += 1
                command.append(lines[at])
                at += 1
            output = []
            while at < len(lines) and not lines[at].startswith("$ "):
                output.append(lines[at])
                at += 1
            yield Step(first + begun, "\n".join(command), "\n".join(output))


def pattern(output: str) -> re.Pattern[str]:
    """Return the pattern of an output."""
    parts = []
    for line in output.splitlines():
        any_lines = line == "..."
        parts.append(r"(?:.*\n)*?" if any_lines else re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r" *\n")
    return re.compile("".join(parts))


def script(found: list[Step]) -> str:
    """Return a script that runs all steps, with a mark after each."""
    # Servers in the background end with the page.
    lines = ["exec 2>&1", "set -m", "trap 'kill $(jobs -p) 2>/dev/null' EXIT"]
    for number, step in enumerate(found):
        if step.command.endswith("&"):
            # It has printed its lines once it answers, or has ended.
            output = f".output{number}"
            # The shell may look before its job has opened the file.
            lines.append(f": > {output}; {step.command.removesuffix('&')} > {output} 2>&1 &")
            lines.append(
                f"until grep -q '^\\(serving\\|ui\\) on' {output} || ! kill -0 $!; do sleep 0.05; done; cat {output}"
            )
        else:
            lines.append(step.command)
        lines.append(f"echo '{MARK}'")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run pages; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--install", action="append", default=[], help="install TO where a page installs FROM")
    parser.add_argument("--within", type=float, default=SECONDS, help="the seconds that each page may take")
    given = parser.parse_args()
    failed = 0
    for page in given.pages:
        begun = time.monotonic()
        failed += differing(page, given.install)
        took = time.monotonic() - begun
        print(f"{page}: {took:.0f} s")
        failed += took > given.within
    return 1 if failed else 0


def differing(page: Path, installed: list[str]) -> int:
    """Run a page; return how many commands print something else."""
    text = page.read_text()
    for change in installed:
        name, _, place = change.partition("=")
        text = text.replace(f"install --quiet {name}\n", f"install --quiet {place}\n")
    found = list(steps(text))
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            k: v
            for k, v in os.environ.items()
            if k not in ("KUBECONFIG", "PYTHONPATH", "VIRTUAL_ENV", "XDG_STATE_HOME")
        }
        environment |= {"HOME": folder, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
        line = ["bash", "-c", script(found)]
        done = subprocess.run(
            line, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    printed = done.stdout.split(f"{MARK}\n")
    failed = 0
    for step, output in zip(found, printed, strict=False):
        shown = re.sub(r"^\[\d+\].*\n", "", output, flags=re.MULTILINE)
        if not pattern(step.output).fullmatch(shown):
            failed += 1
            print(f"{page}:{step.line}: $ {step.command}\nprints\n{shown}instead of\n{step.output}\n")
    if len(printed) <= len(found):
        failed += 1
        print(f"{page}: ended after {len(printed) - 1} of {len(found)} commands")
    print(f"{page}: {len(found)} commands, {failed} differ")
    return failed


if __name__ == "__main__":
    sys.exit(main())
