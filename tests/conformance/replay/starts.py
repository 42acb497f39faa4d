"""Starts of a server with good and bad flags: whether it starts, and the words of a refusal.

A file is a YAML list of {id, flags: [...]}; `files: {name: content}` are written first (a mapping as JSON), and ${name}
in a flag is the path of one. A golden line is {"starts": true}, or {"starts": false, "exit": N, "message": "..."}; the
message must be part of the server's output (quoted or not; of `loose` cases only the exit status is compared). The
command must need nothing else to run: a server that would wait for its store is one that has accepted its flags.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.conformance.replay import golden
from tests.conformance.replay.outcome import Outcome
from tests.conformance.replay.paths import Object

FATAL = re.compile(r'"command failed" err="((?:[^"\\]|\\.)*)"')
PLAIN = re.compile(r"^Error: (.*)$", re.MULTILINE)
WAIT = 5.0
"""Seconds after which a server counts as started."""


@dataclass(frozen=True)
class Command:
    """A server with the flags that it always needs; it has started after `wait` seconds, or when it prints `ready`."""

    line: list[str]
    wait: float = WAIT
    ready: str = ""

    def start(self, flags: list[str]) -> tuple[int | None, str]:
        """Return exit status (None: it has started) and output of a server with these flags."""
        line = self.line + flags
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            assert process.stdout is not None
            up = threading.Event()

            def stop() -> None:
                up.set()
                process.kill()

            limit = threading.Timer(self.wait, stop)
            limit.start()
            output = ""
            for said in process.stdout:
                output += said
                if self.ready and self.ready in said:
                    stop()
            code = process.wait()
            limit.cancel()
        return None if up.is_set() else code, output


def answer(command: Command, case: Object) -> tuple[Object, str]:
    """Return the answer to a case and the output of the server."""
    with tempfile.TemporaryDirectory() as folder:
        flags = case["flags"]
        for name, content in case.get("files", {}).items():
            path = Path(folder, name)
            path.write_text(content if isinstance(content, str) else json.dumps(content))
            flags = [flag.replace(f"${{{name}}}", str(path)) for flag in flags]
        code, output = command.start(flags)
        output = output.replace(folder, "<dir>")
    if code is None:
        return {"starts": True}, output
    fatal = FATAL.search(output)
    message = json.loads(f'"{fatal[1]}"') if fatal else plain[1] if (plain := PLAIN.search(output)) else ""
    return {"starts": False, "exit": code, "message": "" if case.get("loose") else message}, output


def same(want: Object, got: Object, output: str) -> bool:
    """Report whether a server did as the golden line states."""
    if want["starts"] or got["starts"]:
        return bool(want["starts"] == got["starts"])
    plain = output.replace('\\"', '"').replace("\\n", "\n")
    return want["exit"] == got["exit"] and (want["message"] == got["message"] or want["message"] in plain)


def compare(command: Command, path: Path, against: Path | None = None) -> Outcome:
    """Start a server for each case of a file and compare it with the golden file."""
    lines, outcome = golden.read(golden.file_of(path, against)), Outcome()
    for case in load(path):
        got, output = answer(command, case)
        want = lines.get(case["id"], {}).get("answer")
        different = [] if want and same(want, got, output) else [f"want {want}, got {got}", *output.splitlines()[-3:]]
        outcome.add(f"{path.stem}/{case['id']}", different, 4, f"  {' '.join(case['flags'])}")
    return outcome


def record(command: Command, path: Path, into: Path | None = None) -> int:
    """Write the golden file; return the number of its lines."""
    lines = [{"id": case["id"], "answer": answer(command, case)[0]} for case in load(path)]
    golden.write_lines(golden.file_of(path, into), lines)
    return len(lines)


def load(path: Path) -> list[Object]:
    """Return the cases of a file."""
    cases: list[Object] = yaml.safe_load(path.read_text("utf-8"))
    return cases
