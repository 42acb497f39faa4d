"""Views that may be behind the log: reads wait for them, refusals are checked again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar, cast

from hydrofoil import errors
from hydrofoil.engine import Draft
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import Behind, Refused, Unavailable, Undecided, Unknown

Given = ParamSpec("Given")
Made = TypeVar("Made")


@contextmanager
def as_api_errors() -> Iterator[None]:
    """Convert errors of the log to ApiError 504, 503 and 500."""
    try:
        yield
    except Behind as e:
        raise errors.timed_out() if e.asked is None else errors.too_large_version(e.asked, e.current) from None
    except (Refused, Undecided) as e:
        raise errors.log_failure(str(e)) from None
    except Unknown:
        raise errors.timed_out() from None
    except Unavailable as e:
        raise errors.ApiError(503, "ServiceUnavailable", str(e), {}, retry_after=1) from None


def rechecked(
    write: Callable[Given, Coroutine[Any, Any, Made]],
) -> Callable[Given, Coroutine[Any, Any, Made]]:
    """Return a write of a registry that runs once more if its refusal may be out of date.

    A view that is behind the log may lack an object that the write is refused for, or still have one. Then the write
    waits for the view and begins anew: with the draft as sent, and without the warnings of the first time.
    """

    @functools.wraps(write)
    def checked(*args: Given.args, **kwargs: Given.kwargs) -> Coroutine[Any, Any, Made]:
        # In memory the view is the log. Without a coroutine of its own, as nothing is repeated there.
        storage = cast(Objects, args[0]).storage
        if storage.at_once:
            return write(*args, **kwargs)
        return (once if storage.is_current() else again)(*args, **kwargs)

    async def once(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        with as_api_errors():
            return await write(*args, **kwargs)

    async def again(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        storage = cast(Objects, args[0]).storage
        reported = [given.warnings for given in args if isinstance(given, Write)]
        before = [list(warnings) for warnings in reported]
        # The first attempt may change its arguments.
        spare = [given.fork() if isinstance(given, Draft) else given for given in args]
        with as_api_errors():
            try:
                return await write(*args, **kwargs)
            except errors.ApiError:
                if storage.ready():
                    raise
            await storage.wait()
            for warnings, known in zip(reported, before, strict=True):
                warnings[:] = known
            return await write(*spare, **kwargs)  # type: ignore[arg-type]

    return checked
