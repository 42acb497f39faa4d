"""The folders of this user: where state and caches go (XDG Base Directory), also for users without a home."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

NAME = "hydrofoil"
VARIABLES = "XDG_STATE_HOME and XDG_CACHE_HOME"


class FolderError(PermissionError):
    """A user for whom there is no folder, with one line and its mend."""


def state_folder() -> Path:
    """Return the folder for what a later run needs again. Raise FolderError."""
    return _folder("XDG_STATE_HOME", ".local/state")


def cache_folder() -> Path:
    """Return the folder for what can be made again. Raise FolderError."""
    return _folder("XDG_CACHE_HOME", ".cache")


def _folder(variable: str, below: str) -> Path:
    """Return hydrofoil's folder in that of a variable, in the home, or in the temporary folder. Raise OSError.

    A container may run as a user without a name and a home, or with one that is read-only.
    """
    given = os.environ.get(variable, "")
    if given.startswith("/"):
        return Path(given) / NAME
    try:
        found = Path("~").expanduser() / below / NAME
    except RuntimeError:
        # There is neither HOME nor an entry of this user.
        return _temporary(below)
    return found if _takes_files(found) else _temporary(below)


def _takes_files(path: Path) -> bool:
    """Report whether a folder can be written to, or made."""
    present = next(place for place in (path, *path.parents) if place.exists())
    return os.access(present, os.W_OK | os.X_OK)


def _temporary(below: str) -> Path:
    """Return a folder that this user alone may enter, the same in each run. Raise FolderError."""
    place = Path(tempfile.gettempdir()) / f"{NAME}-{os.getuid()}"
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        found = place.lstat()
    except OSError as e:
        raise FolderError(f"{place}: {e.strerror} (set {VARIABLES})") from None
    # Anyone may make a folder of that name before, and would read what is put there.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise FolderError(f"{place} is not this user's own folder (remove it, or set {VARIABLES})")
    return place / Path(below).name


def holder(folder: Path) -> int:
    """Return the id of the process that has locked a data folder; 0 where the system does not show it."""
    try:
        found = (folder / "LOCK").stat()
        place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
        lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    except OSError:
        return 0
    return next((int(words[4]) for words in lines if len(words) > 5 and words[5] == place), 0)
