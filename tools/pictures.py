"""Make the bench's pages, and pictures of them: `python -m tools.pictures FOLDER`.

Measures a plain server and one over TLS, compares them, and takes a picture of each page as a browser draws it. A page
must have its plots and its tables, and no link to anything outside of it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.smoke import HYDROFOIL, running_server

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SMALL = ("--objects=1000", "--watchers=20", "--duration=500ms", "--encoding=json,protobuf", "--yes")
SIZE = "1280,3200"
PLAIN = 20_000
"""A picture of nothing has fewer bytes."""
OUTSIDE = re.compile(r"""(?:src|href)=["'](?:https?:)?//""")


def measured(folder: Path, name: str, *flags: str) -> None:
    """Measure a server of its own; write `name`.html and `name`.json."""
    kubeconfig = folder / f"{name}.kubeconfig"
    with running_server([*HYDROFOIL, "serve", "--port=0", f"--kubeconfig={kubeconfig}", *flags]) as running:
        assert running.stdout is not None
        while not running.stdout.readline().startswith("serving on "):
            pass
        pages = [f"--report={folder / name}.html", f"--json={folder / name}.json"]
        line = [f"--kubeconfig={kubeconfig}", f"--pid={running.pid}", f"--label={name}", *pages]
        subprocess.run([*HYDROFOIL, "bench", *line, *SMALL], check=True, stdout=subprocess.DEVNULL)


def drawn(browser: str, page: Path) -> str:
    """Take a picture of a page beside it; return what is wrong with it."""
    picture = page.with_suffix(".png")
    with tempfile.TemporaryDirectory() as own:
        line = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={own}", "--hide-scrollbars"]
        shown = subprocess.run([*line, "--dump-dom", page.as_uri()], check=True, capture_output=True, text=True).stdout
        take = [f"--window-size={SIZE}", f"--screenshot={picture}"]
        subprocess.run([*line, *take, page.as_uri()], check=True, capture_output=True)
    if "<svg" not in shown or "<table" not in shown:
        return "has no plots or no tables"
    if OUTSIDE.search(shown):
        return "has links to outside"
    return "" if picture.stat().st_size > PLAIN else "is drawn blank"


def main(folder: Path) -> int:
    """Make all pages and pictures; return the exit status."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("pictures of pages need chromium", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    measured(folder, "plain")
    measured(folder, "tls", f"--cert-dir={folder / 'certificates'}")
    both = [str(folder / f"{name}.json") for name in ("plain", "tls")]
    report = f"--report={folder / 'compared.html'}"
    subprocess.run([*HYDROFOIL, "bench", "compare", *both, report], check=True, stdout=subprocess.DEVNULL)
    wrong = [f"{page} {why}" for page in sorted(folder.glob("*.html")) if (why := drawn(browser, page))]
    print("\n".join(wrong or [f"{len(list(folder.glob('*.png')))} pictures in {folder}"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
