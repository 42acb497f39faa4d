"""The one door to the extension: everything else imports its names from here."""

from __future__ import annotations

from hydrofoil._native import *  # noqa: F403 - the stub lists the names
