"""The settings of a server."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Config:
    """What the command line decides; names follow kube-apiserver's flags."""

    host: str = "127.0.0.1"
    port: int = 8080
    tls_cert_file: str = ""
    tls_private_key_file: str = ""
    kubeconfig: str = ""
    controllers: str = "*"
    runtime_config: dict[str, bool] = field(default_factory=dict)
    feature_gates: dict[str, bool] = field(default_factory=dict)
    service_cluster_ip_range: str = "10.0.0.0/24"
    service_node_port_range: tuple[int, int] = (30000, 32767)
    service_account_issuer: str = ""
    max_requests_inflight: int = 400
    max_mutating_requests_inflight: int = 200
    request_timeout: float = 60.0
    """How long a request may take that is no watch, in seconds."""
    livez_grace_period: float = 0.0
    """How long after the start hooks that have not ended do not fail `/livez`, in seconds."""
    shutdown_delay_duration: float = 0.0
    """How long a server that is not ready any more goes on answering, in seconds."""
    show_hidden_metrics_for_version: str = ""
    header_timeout: float = 32.0
    """How long a new connection may take to its first request, in seconds (apiserver `secure_serving.go`)."""
    idle_timeout: float = 90.0
    """How long a connection may wait for its next request, in seconds (the same); no less than the former."""
    service_endpoints: dict[str, str] = field(default_factory=dict)
    """Where services are reached, since there is no cluster network: namespace/name, host:port."""
    history_window: float = 300.0
    """How long past versions stay readable, in seconds (upstream: --etcd-compaction-interval)."""
    history_events: int = 200_000
    history_bytes: int = 256 << 20
    cache_bytes: int | None = None
    """The encodings of lists that are kept; `None`: by the size of the objects."""
    log_format: str = "text"
    verbosity: int = 0

    def controls(self, name: str) -> bool:
        """Whether a controller runs: `*`, a list of names, `-name` to leave one out."""
        words = [w.strip() for w in self.controllers.split(",") if w.strip()]
        if f"-{name}" in words:
            return False
        return name in words or "*" in words
