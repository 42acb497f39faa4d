"""The C library of musl wheels by its name in distributions: `python -m tools.musl DIST [--patchelf PROGRAM]`.

zig links with a library that it names `libc.so`, its name before the installation. Alpine, auditwheel and all others
have `libc.musl-ARCHITECTURE.so.1`.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TAG = re.compile(r"-musllinux_\d+_\d+_(\w+)\.whl$")
LINKED = "libc.so"


def name(architecture: str) -> str:
    """Return the name of musl's library."""
    return f"libc.musl-{architecture}.so.1"


def renamed(data: bytes, architecture: str, patchelf: str) -> bytes:
    """Return a library that needs the C library by its name. Raise CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library.so"
        library.write_bytes(data)
        needed = subprocess.run([patchelf, "--print-needed", library], check=True, capture_output=True, text=True)
        if LINKED not in needed.stdout.split():
            return data
        subprocess.run([patchelf, "--replace-needed", LINKED, name(architecture), library], check=True)
        return library.read_bytes()


def record(text: str, changed: dict[str, bytes]) -> str:
    """Return the RECORD of a wheel with the digests and sizes of changed files."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    for path, digest, size in csv.reader(io.StringIO(text)):
        data = changed.get(path)
        if data is None:
            rows.writerow((path, digest, size))
        else:
            sum_ = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.writerow((path, f"sha256={sum_}", len(data)))
    return out.getvalue()


def mended(wheel: Path, patchelf: str) -> bool:
    """Write a wheel anew if its libraries need another name of the C library; report whether they did."""
    tag = TAG.search(wheel.name)
    if tag is None:
        return False
    with zipfile.ZipFile(wheel) as archive:
        files = [(info, archive.read(info)) for info in archive.infolist()]
    changed = {}
    for info, data in files:
        if info.filename.endswith(".so") and (new := renamed(data, tag[1], patchelf)) != data:
            changed[info.filename] = new
    if not changed:
        return False
    beside = wheel.with_suffix(".new")
    with zipfile.ZipFile(beside, "w") as archive:
        for info, data in files:
            content = changed.get(info.filename, data)
            if info.filename.endswith(".dist-info/RECORD"):
                content = record(data.decode(), changed).encode()
            archive.writestr(info, content, zipfile.ZIP_DEFLATED, 9)
    beside.replace(wheel)
    return True


def main() -> int:
    """Mend all wheels of a folder; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dist", type=Path)
    parser.add_argument("--patchelf", default="patchelf")
    given = parser.parse_args()
    for wheel in sorted(given.dist.glob("*.whl")):
        if mended(wheel, given.patchelf):
            print(f"{wheel.name} needs musl by its name")
    return 0


if __name__ == "__main__":
    sys.exit(main())
