"""What rests on a view that may be older than the truth: reads wait for it, refusals are judged again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar, cast

from hydrofoil import errors
from hydrofoil.engine import Draft
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import Behind, Unavailable, Unknown

Given = ParamSpec("Given")
Made = TypeVar("Made")


@contextmanager
def told() -> Iterator[None]:
    """Tell what the log could not do as answers: 504 and 503."""
    try:
        yield
    except Behind as e:
        raise errors.timed_out() if e.asked is None else errors.too_large_version(e.asked, e.current) from None
    except Unknown:
        raise errors.timed_out() from None
    except Unavailable as e:
        raise errors.ApiError(503, "ServiceUnavailable", str(e), {}, retry_after=1) from None


def judged_afresh(
    write: Callable[Given, Coroutine[Any, Any, Made]],
) -> Callable[Given, Coroutine[Any, Any, Made]]:
    """A write of a registry that is judged once more when what it was refused for may be no longer true."""

    @functools.wraps(write)
    def judged(*args: Given.args, **kwargs: Given.kwargs) -> Coroutine[Any, Any, Made]:
        # Without a coroutine of its own where there is nothing to judge anew.
        if cast(Objects, args[0]).storage.direct:
            return write(*args, **kwargs)
        return again(*args, **kwargs)

    async def again(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        storage = cast(Objects, args[0]).storage
        told_of = [given.warnings for given in args if isinstance(given, Write)]
        before = [list(warnings) for warnings in told_of]
        # The first try may change what it is given.
        spare = [given.fork() if isinstance(given, Draft) else given for given in args]
        with told():
            try:
                return await write(*args, **kwargs)
            except errors.ApiError:
                if storage.ready():
                    raise
            await storage.wait()
            for warnings, known in zip(told_of, before, strict=True):
                warnings[:] = known
            return await write(*spare, **kwargs)  # type: ignore[arg-type]

    return judged
