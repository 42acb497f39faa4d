"""Every lock, and every number that threads share, says why it is there: what holds, and who relies on it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.conftest import ROOT

SHARED = re.compile(
    r"^\s*(?:pub(?:\([a-z]+\))? )?static \w+: .*\b(?:Mutex|RwLock|Atomic\w+)\b.*;$"
    r"|^(?: {4})?(?:pub(?:\([a-z]+\))? )?\w+: (?!&)(?:\w+<)*(?:Mutex|RwLock|Condvar|Atomic\w+)\b(?!::).*,$"
)
"""Fields and statics; initial values have a path behind the name."""
UNNAMED = re.compile(r"^pub(?:\([a-z]+\))? struct \w+\(.*\b(?:Mutex|RwLock)<.*\);$")


def bare_locks(source: str) -> Iterator[str]:
    """Yield the lines of fields, statics and structures with a lock whose line before is no documentation."""
    lines = source.partition("#[cfg(test)]\nmod tests {")[0].splitlines()
    for number, line in enumerate(lines):
        if SHARED.match(line) or UNNAMED.match(line):
            before = number - 1
            while lines[before].lstrip().startswith("#["):
                before -= 1
            if not lines[before].lstrip().startswith("//"):
                yield line.strip()


def test_bare_locks_are_found() -> None:
    source = "/// Why.\n    a: Mutex<u8>,\n    b: AtomicU64,\n#[derive(Debug)]\npub struct C(Mutex<u8>);\n"
    assert list(bare_locks(source)) == ["b: AtomicU64,", "pub struct C(Mutex<u8>);"]


def test_every_lock_says_why() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in sorted((ROOT / "rust").glob("*/src/**/*.rs"))
        for line in bare_locks(path.read_text())
    ]
    assert not found, "\n".join(found)


def test_every_lock_of_the_package_says_why() -> None:
    """By a comment before it, or a docstring behind."""
    found = []
    for path in sorted((ROOT / "python" / "hydrofoil").rglob("*.py")):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines):
            if re.search(r"\b(?:asyncio|threading)\.(?:R?Lock|Semaphore|Condition)\(", line):
                around = lines[number - 1].lstrip(), lines[number + 1].lstrip()
                if not around[0].startswith("#") and not around[1].startswith('"""'):
                    found.append(f"{path.relative_to(ROOT)}: {line.strip()}")
    assert not found, "\n".join(found)
