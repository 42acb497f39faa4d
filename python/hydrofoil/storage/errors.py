"""What storage answers when it cannot do what was asked."""

from __future__ import annotations


class StorageError(Exception):
    """A storage operation that could not be done as asked."""


class Exists(StorageError):
    """An object of that key exists: nothing was written, and the view shows it."""


class Missing(StorageError):
    """No object of that key exists: nothing was written, and the view shows none."""


class Conflict(StorageError):
    """The object stands at another revision than expected: nothing was written, and the view shows which."""


class Expired(StorageError):
    """The history no longer reaches back to the revision asked for."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(asked, oldest)
        self.asked, self.oldest = asked, oldest


class Future(StorageError):
    """The revision asked for has not been reached."""

    def __init__(self, asked: int, current: int) -> None:
        super().__init__(asked, current)
        self.asked, self.current = asked, current


class Behind(StorageError):
    """The view did not get as far as asked in time; `asked` is None for as far as the truth was."""

    def __init__(self, asked: int | None, current: int) -> None:
        super().__init__(asked, current)
        self.asked, self.current = asked, current


class Unavailable(StorageError):
    """The truth cannot be reached: nothing was written."""


class Unknown(StorageError):
    """Nobody knows whether it was written: it must not be tried again."""
