"""Where two JSON values differ, as readable lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def differences(made: Any, wanted: Any, path: str = "") -> Iterator[str]:
    """One line a difference; the order of a list counts, the order of keys does not."""
    if isinstance(made, dict) and isinstance(wanted, dict):
        for key in dict.fromkeys([*made, *wanted]):
            where = f"{path}/{key}"
            if key not in wanted:
                yield f"{where}: only made: {brief(made[key])}"
            elif key not in made:
                yield f"{where}: only wanted: {brief(wanted[key])}"
            else:
                yield from differences(made[key], wanted[key], where)
    elif isinstance(made, list) and isinstance(wanted, list) and len(made) == len(wanted):
        for index, (one, other) in enumerate(zip(made, wanted, strict=True)):
            yield from differences(one, other, f"{path}/{index}")
    elif made != wanted or type(made) is not type(wanted):
        yield f"{path}: made {brief(made)}, wanted {brief(wanted)}"


def brief(value: Any, limit: int = 120) -> str:
    text = json.dumps(value)
    return text if len(text) <= limit else text[:limit] + "..."
