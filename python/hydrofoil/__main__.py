"""`python -m hydrofoil`."""

import sys

from hydrofoil.cli.main import main

sys.exit(main())
