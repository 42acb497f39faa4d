"""`hydrofoil`: the entry point."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from hydrofoil.cli.flags import parsed


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    if words[:1] == ["assets"]:
        from hydrofoil.cli import assets

        return assets.main(words[1:])
    given = parsed(words)
    # Only serving needs the engine: --help and --version answer without it.
    # Objects made before serving live as long as the process: the garbage collector can skip them.
    gc.disable()
    from hydrofoil.outbound import client

    client.defer()
    from hydrofoil.cli.log import configure
    from hydrofoil.server.config import Config
    from hydrofoil.server.run import run

    config = Config(**given)
    configure(config.log_format, config.verbosity)
    return run(config)


if __name__ == "__main__":
    sys.exit(main())
