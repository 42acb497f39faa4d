"""Tolerations of pods (`pkg/util/tolerations`)."""

from __future__ import annotations

from typing import Any

Toleration = dict[str, Any]


def merge_tolerations(given: list[Toleration]) -> list[Toleration]:
    """Return tolerations without those that another one covers (`MergeTolerations`)."""
    found: list[Toleration] = []
    for at, one in enumerate(given):
        later = (each for each in given[at + 1 :] if each != one)
        if not any(covers(each, one) for each in found) and not any(covers(each, one) for each in later):
            found.append(one)
    return found


def covers(wide: Toleration, one: Toleration) -> bool:
    """Report whether a toleration tolerates all that another one does (`isSuperset`)."""
    if wide == one:
        return True
    operator = wide.get("operator", "")
    if one.get("key", "") != wide.get("key", "") and (wide.get("key") or operator != "Exists"):
        return False
    if wide.get("effect") and one.get("effect", "") != wide["effect"]:
        return False
    if wide.get("effect") == "NoExecute" and (most := wide.get("tolerationSeconds")) is not None:
        seconds = one.get("tolerationSeconds")
        if seconds is None or seconds > most:
            return False
    if operator in ("Equal", ""):
        # Equality is compared with one that is written out, whichever form the wider one has.
        return bool(one.get("operator", "") == "Equal" and one.get("value", "") == wide.get("value", ""))
    return bool(operator == "Exists")
