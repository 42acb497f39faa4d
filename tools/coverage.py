"""Lines covered by the tests, of Python and of Rust, against their floors.

`python -m tools.coverage DIR`: DIR holds an instrumented build of the workspace and the profiles of its own tests
(`make coverage`). The Python tests run here, on the extension of that build, so that they count for both languages.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "hydrofoil"
FLOORS = {"Python": 93.0, "Rust": 88.0}
"""The least share of lines, in percent. Raise them when the shares have grown for good."""
TESTS = ("tests/unit", "tests/contract", "tests/property", "tests/api")


def run(*command: str | Path) -> str:
    """Return what a command prints. Raise CalledProcessError."""
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def tools() -> Path:
    """Return the folder of the toolchain's LLVM tools."""
    library = Path(run("rustc", "--print", "target-libdir").strip())
    return library.parent / "bin"


def extension(directory: Path) -> Path:
    """Return the instrumented extension."""
    return directory / "release" / "lib_native.so"


def python(directory: Path) -> float:
    """Return the share of lines that the tests cover, in percent; they run on the instrumented extension."""
    built = next(PACKAGE.glob("_native*.so"))
    kept = directory / built.name
    shutil.copy2(built, kept)
    report = directory / "python.json"
    try:
        shutil.copy2(extension(directory), built)
        flags = ["--cov=hydrofoil", f"--cov-report=json:{report}", "--timeout=600", "-p", "no:cacheprovider"]
        # Instrumented code is slower: turns of the loop are not measured, and tests of time and memory may fail, which
        # other runs judge.
        environment = {**os.environ, "HYDROFOIL_TURN_MS": "10000"}
        subprocess.run([sys.executable, "-m", "pytest", *TESTS, *flags], check=False, cwd=ROOT, env=environment)
    finally:
        shutil.copy2(kept, built)
    found: dict[str, Any] = json.loads(report.read_text())
    return float(found["totals"]["percent_covered"])


def rust(directory: Path) -> float:
    """Return the share of lines that all tests cover, in percent."""
    profile = directory / "all.profdata"
    listed = directory / "profiles.txt"
    listed.write_text("\n".join(str(path) for path in directory.glob("*.profraw")))
    run(tools() / "llvm-profdata", "merge", "-sparse", "-f", listed, "-o", profile)
    programs = [
        path for path in (directory / "debug" / "deps").iterdir() if path.stat().st_mode & 0o111 and path.is_file()
    ]
    programs.append(extension(directory))
    objects = [word for path in programs if path.suffix in ("", ".so") for word in ("-object", path)]
    sources = sorted((ROOT / "rust").glob("*/src"))
    text = run(tools() / "llvm-cov", "export", "-summary-only", f"-instr-profile={profile}", *objects, *sources)
    return float(json.loads(text)["data"][0]["totals"]["lines"]["percent"])


def main() -> int:
    """Print both shares; fail when one is below its floor."""
    directory = Path(sys.argv[1])
    shares = {"Python": python(directory), "Rust": rust(directory)}
    for language, share in shares.items():
        print(f"{language}: {share:.1f} % of lines, at least {FLOORS[language]:.0f} % wanted")
    return int(any(share < FLOORS[language] for language, share in shares.items()))


if __name__ == "__main__":
    sys.exit(main())
