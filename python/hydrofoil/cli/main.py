"""`hydrofoil`: the entry point."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from hydrofoil.cli.flags import parsed


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; the exit code."""
    given = parsed(argv)
    # Only serving needs the engine: --help and --version answer without it.
    # What is made until it serves lives as long as the process: the collector looks at none of it.
    gc.disable()
    from hydrofoil import client

    client.defer()
    from hydrofoil.cli.log import configure
    from hydrofoil.server.config import Config
    from hydrofoil.server.run import run

    config = Config(**given)
    configure(config.log_format, config.verbosity)
    return run(config)


if __name__ == "__main__":
    sys.exit(main())
