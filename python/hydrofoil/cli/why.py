"""`hydrofoil why RESOURCE/NAME`: why an object is not ready."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from hydrofoil.cli.access import AccessOptions, find_access
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import USAGE, WRONG, Failure
from hydrofoil.options import Options, anything, flag


class WhyOptions(Options):
    """The object."""

    namespace: str = flag("--namespace", "default", anything, "namespace of the object", value="NAME", also=("-n",))


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Print why an object is not ready; return the exit code. Raise Failure."""
    from hydrofoil.cli.client import Client
    from hydrofoil.controls.why.answer import answer_why
    from hydrofoil.controls.why.reader import Reader
    from hydrofoil.errors import ApiError

    if len(words) != 1:
        raise Failure("one object is asked for", "hydrofoil why deployments/web", USAGE)
    client = Client(find_access(AccessOptions.pick(given)))
    try:
        lines = asyncio.run(answer_why(Reader(client.ask), words[0], given["namespace"]))
    except ValueError as e:
        raise Failure(str(e), code=USAGE) from None
    except ApiError as e:
        raise Failure(e.message, code=WRONG) from None
    finally:
        client.close()
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


COMMAND = Command(
    "why",
    (WhyOptions, AccessOptions),
    run,
    "Print why an object is not ready, the most likely cause first.",
    arguments="RESOURCE/NAME",
    most=1,
    examples=("hydrofoil why deployments/web", "hydrofoil why pvc/data -n shop"),
)
