"""The command that begins a worker in place of one that has ended: it is not for people."""

from __future__ import annotations

import gc
import sys


def main() -> int:
    """Work for the owner, whose id is the first argument; the others are the worker's number and its descriptors."""
    gc.disable()
    from hydrofoil.cli.log import configure
    from hydrofoil.server.process import bound_memory
    from hydrofoil.server.workers.process import end_with_parent
    from hydrofoil.server.workers.worker import ends_of, run

    owner, slot, region, *descriptors = map(int, sys.argv[1:])
    end_with_parent(owner)
    bound_memory()
    configure("text", 0)
    return run(
        slot, ends_of(descriptors), region, lambda start: configure(start.config.log_format, start.config.verbosity)
    )


if __name__ == "__main__":
    sys.exit(main())
