"""The chart of README: CPU of one operation of this server and of kube-apiserver, measured in one run.

`python -m tools.chart docs/chart.svg [FILE]`: FILE is the `--json` of `hydrofoil bench compare --against
kube-apiserver`; without it the run is made, which needs a kube-apiserver (`make kube-apiserver`) and an etcd.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

CASES = {
    "list": "list of 10,000",
    "pages": "page of 500",
    "fanout": "event to 100 watchers",
    "writes": "write",
}
METRIC = "cpu_us_per_op"
LEFT, WIDE, ROW, TOP, BAR = 170, 430, 44, 58, 14
OURS, THEIRS, INK = "#3b6ea5", "#b8b8b8", "#888888"


class Pair(NamedTuple):
    """The CPU of one operation, in microseconds."""

    name: str
    ours: float
    theirs: float


def measure(path: Path) -> None:
    """Measure both servers in turn. Raise CalledProcessError."""
    line = [sys.executable, "-m", "hydrofoil", "bench", "compare", *CASES, "--against", "kube-apiserver", "--yes"]
    subprocess.run([*line, "--repeat", "3", "--json", str(path)], check=True, stdout=subprocess.DEVNULL)


def pairs(document: dict[str, Any]) -> list[Pair]:
    """Return the figures of both servers by case, this one's first."""
    found = {}
    names = [run["label"] for run in document["runs"]]
    ours, theirs = (next(i for i, name in enumerate(names) if name.startswith(of)) for of in ("hydrofoil", "kube"))
    for row in document["rows"]:
        values = row["values"]
        if row["metric"] == METRIC and row["case"] in CASES and None not in values:
            found[row["case"]] = Pair(CASES[row["case"]], values[ours], values[theirs])
    return [found[case] for case in CASES if case in found]


def short(microseconds: float) -> str:
    """Return a time in the unit that fits it."""
    return f"{microseconds / 1000:.3g} ms" if microseconds >= 1000 else f"{microseconds:.3g} us"


def draw(found: list[Pair], machine: dict[str, Any], day: str) -> str:
    """Return the picture: each pair on a scale of its own, as a list and an event differ by a factor of thousands."""
    height = TOP + ROW * len(found) + 26
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + 130} {height}" font-family="sans-serif"'
        f' font-size="13" fill="{INK}">',
        f'<text x="8" y="22" font-size="15">CPU of one operation, beside kube-apiserver</text>'
        f'<rect x="{LEFT}" y="33" width="12" height="12" fill="{OURS}"/><text x="{LEFT + 18}" y="44">Hydrofoil</text>'
        f'<rect x="{LEFT + 110}" y="33" width="12" height="12" fill="{THEIRS}"/>'
        f'<text x="{LEFT + 128}" y="44">kube-apiserver with etcd</text>',
    ]
    for at, pair in enumerate(found):
        y = TOP + at * ROW
        wide = max(pair.ours / pair.theirs * WIDE, 1.0) if pair.theirs else WIDE
        parts.append(
            f'<text x="8" y="{y + 24}">{escape(pair.name)}</text>'
            f'<rect x="{LEFT}" y="{y + 4}" width="{min(wide, WIDE):.1f}" height="{BAR}" fill="{OURS}"/>'
            f'<text x="{LEFT + min(wide, WIDE) + 6:.1f}" y="{y + 16}">{short(pair.ours)}, '
            f"{pair.theirs / pair.ours:.1f} times less</text>"
            f'<rect x="{LEFT}" y="{y + 4 + BAR + 2}" width="{WIDE}" height="{BAR}" fill="{THEIRS}"/>'
            f'<text x="{LEFT + WIDE + 6}" y="{y + 16 + BAR + 2}">{short(pair.theirs)}</text>'
        )
    note = f"{day}, {machine['cores']} cores ({machine['cpu']}), TLS, JSON, 4 KB an object; every answer checked"
    parts.append(f'<text x="8" y="{height - 8}" font-size="11">{escape(note)}</text></svg>')
    return "\n".join(parts) + "\n"


def main() -> int:
    """Measure, or take a file; write the picture and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("picture", type=Path)
    parser.add_argument("figures", type=Path, nargs="?")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = given.figures or Path(folder) / "figures.json"
        if given.figures is None:
            measure(figures)
        document = json.loads(figures.read_text())
    first = document["runs"][0]
    given.picture.write_text(draw(pairs(document), first["machine"], first["time"][:10]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
