"""The flag of tracing, with kube-apiserver's name (apiserver `pkg/server/options/tracing.go`)."""

from __future__ import annotations

from hydrofoil.options import Options, anything, flag


class TracingOptions(Options):
    """Traces of requests."""

    tracing_config_file: str = flag(
        "--tracing-config-file",
        "",
        anything,
        "send traces as this TracingConfiguration asks (needs hydrofoil[tracing])",
        value="FILE",
    )
