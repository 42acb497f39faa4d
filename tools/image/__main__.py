"""Build the image of a container and look at it: `python -m tools.image DIST`.

DIST holds the wheel. Where no registry can be reached, Debian's own packages make the base. The image must be small,
start by its own command as its own user, be healthy by its own check, answer by the kubeconfig that it writes, and end
as a container is ended.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.image.engine import Buildah, absent, last_descendant

ROOT = Path(__file__).parents[2]
NAME = "localhost/hydrofoil"
LARGEST = 120_000_000
"""The greatest sum of the sizes of all files, in bytes."""
PATIENCE = 30.0
"""The longest time of a start or an end in seconds."""
USER = 10001


def tried(engine: Buildah, container: str) -> None:
    """Start the image as it starts by itself; ask it by the kubeconfig that it writes; end it. Raise if one fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o700)
        os.chown(folder, USER, USER)
        config = json.loads(engine.do("inspect", "--type", "image", NAME))["Docker"]["config"]
        begun = time.perf_counter()
        line = engine.running(container, engine.command(container), var_lib_hydrofoil=folder)
        printed = Path(f"{name}.out")
        with printed.open("wb") as out, subprocess.Popen(line, stdout=out) as running:
            try:
                check = engine.running(container, config["Healthcheck"]["Test"][1:], var_lib_hydrofoil=folder)
                while subprocess.run(check, capture_output=True, check=False).returncode:
                    if time.perf_counter() - begun > PATIENCE or running.poll() is not None:
                        raise TimeoutError("the server of the image is not healthy")
                print(f"{printed.read_text()}healthy after {time.perf_counter() - begun:.1f} s", flush=True)
                kubectl = ["kubectl", f"--kubeconfig={folder}/admin.conf"]
                subprocess.run([*kubectl, "create", "configmap", "made"], check=True)
                subprocess.run([*kubectl, "get", "configmap", "made"], check=True)
                os.kill(last_descendant(running.pid), signal.SIGTERM)
                if code := running.wait(PATIENCE):
                    raise ChildProcessError(f"after SIGTERM the server of the image ends with {code}")
            finally:
                running.kill()
                printed.unlink()


def main() -> int:
    """Build and look; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.image")
    parser.add_argument("dist", type=Path)
    parser.add_argument("--folder", type=Path, default=ROOT / ".cache" / "image")
    given = parser.parse_args()
    if missing := absent():
        print(f"the image needs {' and '.join(missing)}", file=sys.stderr)
        return 2
    given.folder.mkdir(parents=True, exist_ok=True)
    engine = Buildah(given.folder.resolve())
    dist = str(given.dist.resolve().relative_to(ROOT))
    engine.build(ROOT, NAME, {"BASE": engine.base(), "WHEEL": "dist", "DIST": dist})
    with engine.container(NAME) as container:
        size = engine.size(container)
        print(f"the image holds {size / 1e6:.1f} MB", flush=True)
        if size > LARGEST:
            print(f"the image holds more than {LARGEST} bytes", file=sys.stderr)
            return 1
        tried(engine, container)
    return 0


if __name__ == "__main__":
    sys.exit(main())
