"""Errors of storage operations."""

from __future__ import annotations


class StorageError(Exception):
    """A storage operation that failed."""


class Exists(StorageError):
    """An object of that key exists: nothing was written, and the view shows it."""


class Missing(StorageError):
    """No object of that key exists: nothing was written, and the view shows none."""


class Conflict(StorageError):
    """The object has another revision than expected: nothing was written, and the view shows which."""


class Expired(StorageError):
    """The history no longer contains the requested revision."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(asked, oldest)
        self.asked, self.oldest = asked, oldest


class Future(StorageError):
    """The requested revision has not been reached."""

    def __init__(self, asked: int, current: int) -> None:
        super().__init__(asked, current)
        self.asked, self.current = asked, current


class Behind(StorageError):
    """The view did not reach the revision in time; `asked` is None for the log's latest."""

    def __init__(self, asked: int | None, current: int) -> None:
        super().__init__(asked, current)
        self.asked, self.current = asked, current


class Outdated(StorageError):
    """The state was restored since the write began: nothing was written, and it must begin anew."""


class Unsupported(StorageError):
    """The log cannot do this."""


class Unavailable(StorageError):
    """The log is unreachable: nothing was written."""


class Refused(Unavailable):
    """The disk of the log takes no writes: nothing was written. It has one line with the reason."""


class Unknown(StorageError):
    """It is unknown whether it was written: it must not be tried again."""


class Undecided(Unknown):
    """The disk of the log failed during the write. It has one line with the reason."""


class Unopened(StorageError):
    """The log cannot be opened. It has one line that names the file."""
