"""The names of objects that are waited for."""

from __future__ import annotations

import pytest

from hydrofoil.controls.waiting import split


def test_names() -> None:
    assert split("deployments.apps/web") == ("deployments.apps", "web")
    for wrong in ("pods", "pods/", "/a", "a/b/c"):
        with pytest.raises(ValueError, match="no object"):
            split(wrong)
