"""The flags that select the served resources."""

from __future__ import annotations

from hydrofoil.apis.emulation import parse_emulated_version
from hydrofoil.apis.releases.data import minors
from hydrofoil.options import Options, Refused, Texts, boolean, flag, pairs


def gates(text: str) -> dict[str, bool]:
    """Read feature gates (component-base `featuregate`); each needs a value (DEP-18)."""
    out: dict[str, bool] = {}
    for key, value in pairs(text):
        name = key.removeprefix("kube:")
        if value is None:
            raise Refused(f"missing bool value for {name}")
        try:
            out[name] = boolean(value)
        except ValueError as e:
            raise Refused(f"invalid value of {name}={value}, err: {e}") from None
    return out


def versions(text: str) -> dict[str, bool]:
    """Read keys that are switched on or off (GR-04, GR-05); a key without a value is on."""
    out: dict[str, bool] = {}
    for key, value in pairs(text):
        if key.startswith("api/") and key.partition("/")[2] in ("all", "ga", "beta", "alpha"):
            if value not in ("true", "false"):
                raise Refused(f"invalid value {key}={value or ''}")
            out[key] = value == "true"
            continue
        try:
            out[key] = not value or boolean(value)
        except ValueError as e:
            raise Refused(f"invalid value of {key}: {value}, err: {e}") from None
    return out


class ApiOptions(Options):
    """Served resources and features."""

    runtime_config: dict[str, bool] = flag(
        "--runtime-config", {}, versions, "switch group-versions or resources on or off", value="KEY=BOOL,..."
    )
    emulated_version: Texts = flag(
        "--emulated-version",
        Texts(),
        parse_emulated_version,
        f"show the resources and features of this version: 1.{minors()[0]} to 1.{minors()[-1]}",
        value="VERSION",
    )
    feature_gates: dict[str, bool] = flag(
        "--feature-gates", {}, gates, "switch features on or off: the gates of kube-apiserver", value="KEY=BOOL,..."
    )
