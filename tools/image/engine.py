"""Buildah: it builds and runs images without a daemon."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SUITE, MIRROR = "bookworm", "http://deb.debian.org/debian"
PACKAGES = ("python3", "python3-venv", "binutils", "ca-certificates", "media-types")
"""The packages that the stage `root` of the Dockerfile installs where they are absent."""
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
PROGRAMS = ("buildah", "debootstrap", "kubectl")


class Buildah:
    """Buildah, with a store of its own in a folder; containers are a chroot in the network of the host."""

    def __init__(self, folder: Path) -> None:
        self._line = ["buildah", "--storage-driver=vfs", f"--root={folder}/store", f"--runroot={folder}/run"]
        self._folder = folder

    def do(self, *words: str) -> str:
        """Run a command; return what it prints. Raise CalledProcessError."""
        return subprocess.run([*self._line, *words], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def base(self) -> str:
        """Return the name of a Debian, made by debootstrap where it is not in the store: no registry is asked."""
        name = base_name()
        if name in self.do("images", "--format", "{{.Name}}:{{.Tag}}").split():
            return name
        with tempfile.TemporaryDirectory(dir=self._folder) as made:
            subprocess.run(
                ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, f"{made}/root", MIRROR],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            container = self.do("from", "scratch")
            self.do("add", "--quiet", container, f"{made}/root", "/")
            self.do("commit", "--quiet", "--rm", container, name)
        return name

    def build(self, context: Path, name: str, arguments: dict[str, str]) -> None:
        """Build an image."""
        given = [word for item in arguments.items() for word in ("--build-arg", "=".join(item))]
        # A proxy that looks into TLS is trusted as the host trusts it.
        trust = ["--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro"]
        line = [*self._line, "build", "--format=docker", "--isolation=chroot", *trust, *given, "--tag", name]
        subprocess.run([*line, str(context)], check=True)

    @contextmanager
    def container(self, name: str) -> Iterator[str]:
        """Yield a container of an image."""
        container = self.do("from", "--pull-never", name)
        try:
            yield container
        finally:
            self.do("rm", container)

    def size(self, container: str) -> int:
        """Return the bytes of all files of a container."""
        mounted = self.do("mount", container)
        try:
            return size(Path(mounted))
        finally:
            self.do("umount", container)

    def command(self, container: str) -> list[str]:
        """Return the line that a container runs by itself."""
        config = json.loads(self.do("inspect", "--type", "container", container))["OCIv1"]["config"]
        return [*config["Entrypoint"], *config["Cmd"]]

    def running(self, container: str, line: list[str], **mounts: Path) -> list[str]:
        """Return the line that runs a line in a container."""
        volumes = [f"--volume={path}:/{name.replace('_', '/')}" for name, path in mounts.items()]
        return [*self._line, "run", "--isolation=chroot", *volumes, container, "--", *line]


def base_name() -> str:
    """Return the name of the base, another one if its content is to be another."""
    content = " ".join((SUITE, MIRROR, *PACKAGES))
    return f"localhost/debian:{SUITE}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def size(folder: Path) -> int:
    """Return the bytes of all files of a folder; a file of several names counts once."""
    found = [path.lstat() for path in folder.rglob("*")]
    return sum({(file.st_dev, file.st_ino): file.st_size for file in found}.values())


def absent() -> list[str]:
    """Return the programs that are needed and not here."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


def last_descendant(pid: int) -> int:
    """Return the process at the end of the chain of children of a process."""
    # Each thread has children of its own.
    while children := [
        int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()
    ]:
        pid = children[-1]
    return pid
