"""The folders of this user: where state and caches go (XDG Base Directory), also for users without a home."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

NAME = "hydrofoil"


def state_folder() -> Path:
    """Return the folder for what a later run needs again. Raise OSError."""
    return _folder("XDG_STATE_HOME", ".local/state")


def cache_folder() -> Path:
    """Return the folder for what can be made again. Raise OSError."""
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
    """Return a folder that this user alone may enter, the same in each run. Raise OSError."""
    place = Path(tempfile.gettempdir()) / f"{NAME}-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    found = place.lstat()
    # Anyone may make a folder of that name before, and would read what is put there.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{place} is not this user's own folder: remove it, or set XDG_STATE_HOME")
    return place / Path(below).name
