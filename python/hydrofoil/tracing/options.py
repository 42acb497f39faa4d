"""The flag of tracing, with kube-apiserver's name (apiserver `pkg/server/options/tracing.go`)."""

from __future__ import annotations

from dataclasses import dataclass

from hydrofoil.options import anything, flag


@dataclass(frozen=True, kw_only=True)
class TracingOptions:
    """Traces of requests."""

    tracing_config_file: str = flag(
        "--tracing-config-file",
        "",
        anything,
        "send traces as this TracingConfiguration asks (needs hydrofoil[tracing])",
        value="FILE",
    )
