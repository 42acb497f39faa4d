"""The differences of two answers, as lines."""

from __future__ import annotations

import json
from typing import Any


def differences(want: Any, got: Any, subset: bool = False, path: str = "") -> list[str]:
    """Return a line for each difference; with `subset`, `got` may have more members and items."""
    if isinstance(want, dict) and isinstance(got, dict):
        lines = []
        for key in want:
            if key not in got:
                lines.append(f"{path}.{key}: missing, want {json.dumps(want[key])[:160]}")
            else:
                lines += differences(want[key], got[key], subset, f"{path}.{key}")
        if not subset:
            lines += [f"{path}.{k}: not wanted, got {json.dumps(got[k])[:160]}" for k in got if k not in want]
        return lines
    if isinstance(want, list) and isinstance(got, list):
        if subset:
            missing = [w for w in want if all(differences(w, g, subset) for g in got)]
            return [f"{path}: no item like {json.dumps(w)[:200]}" for w in missing]
        if len(want) != len(got):
            return [f"{path}: {len(want)} items wanted, got {len(got)}: {json.dumps(got)[:300]}"]
        pairs = enumerate(zip(want, got, strict=True))
        return [line for i, (w, g) in pairs for line in differences(w, g, subset, f"{path}[{i}]")]
    if want != got or isinstance(want, bool) != isinstance(got, bool):
        return [f"{path}: want {json.dumps(want)[:200]}, got {json.dumps(got)[:200]}"]
    return []
