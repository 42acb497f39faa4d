"""The flags of etcd 3.6, which the program in its place accepts (etcd `server/embed/config.go`)."""

from __future__ import annotations

from collections.abc import Sequence

BOOLEAN = frozenset(
    (
        "auto-tls",
        "client-cert-auth",
        "debug",
        "discovery-insecure-skip-tls-verify",
        "discovery-insecure-transport",
        "enable-distributed-tracing",
        "enable-grpc-gateway",
        "enable-log-rotation",
        "enable-pprof",
        "enable-v2",
        "experimental-compact-hash-check-enabled",
        "experimental-enable-distributed-tracing",
        "experimental-enable-lease-checkpoint",
        "experimental-enable-lease-checkpoint-persist",
        "experimental-initial-corrupt-check",
        "experimental-memory-mlock",
        "experimental-peer-skip-client-san-verification",
        "experimental-stop-grpc-service-on-defrag",
        "experimental-txn-mode-write-with-shared-buffer",
        "force-new-cluster",
        "initial-election-tick-advance",
        "memory-mlock",
        "peer-auto-tls",
        "peer-client-cert-auth",
        "peer-skip-client-san-verification",
        "pre-vote",
        "socket-reuse-address",
        "socket-reuse-port",
        "strict-reconfig-check",
        "unsafe-no-fsync",
        "version",
    )
)
"""Flags that need no value."""
VALUED = frozenset(
    (
        "advertise-client-urls",
        "auth-token",
        "auth-token-ttl",
        "auto-compaction-mode",
        "auto-compaction-retention",
        "backend-batch-interval",
        "backend-batch-limit",
        "backend-bbolt-freelist-type",
        "bcrypt-cost",
        "bootstrap-defrag-threshold-megabytes",
        "cert-file",
        "cipher-suites",
        "client-cert-allowed-hostname",
        "client-cert-file",
        "client-crl-file",
        "client-key-file",
        "compact-hash-check-time",
        "compaction-batch-limit",
        "compaction-sleep-interval",
        "config-file",
        "corrupt-check-time",
        "cors",
        "data-dir",
        "discovery",
        "discovery-cacert",
        "discovery-cert",
        "discovery-dial-timeout",
        "discovery-endpoints",
        "discovery-fallback",
        "discovery-keepalive-time",
        "discovery-keepalive-timeout",
        "discovery-key",
        "discovery-password",
        "discovery-proxy",
        "discovery-request-timeout",
        "discovery-srv",
        "discovery-srv-name",
        "discovery-token",
        "discovery-user",
        "distributed-tracing-address",
        "distributed-tracing-instance-id",
        "distributed-tracing-sampling-rate",
        "distributed-tracing-service-name",
        "downgrade-check-time",
        "election-timeout",
        "experimental-bootstrap-defrag-threshold-megabytes",
        "experimental-compact-hash-check-time",
        "experimental-compaction-batch-limit",
        "experimental-compaction-sleep-interval",
        "experimental-corrupt-check-time",
        "experimental-distributed-tracing-address",
        "experimental-distributed-tracing-instance-id",
        "experimental-distributed-tracing-sampling-rate",
        "experimental-distributed-tracing-service-name",
        "experimental-downgrade-check-time",
        "experimental-snapshot-catchup-entries",
        "experimental-warning-apply-duration",
        "experimental-warning-unary-request-duration",
        "experimental-watch-progress-notify-interval",
        "feature-gates",
        "grpc-keepalive-interval",
        "grpc-keepalive-min-time",
        "grpc-keepalive-timeout",
        "heartbeat-interval",
        "host-whitelist",
        "initial-advertise-peer-urls",
        "initial-cluster",
        "initial-cluster-state",
        "initial-cluster-token",
        "key-file",
        "listen-client-http-urls",
        "listen-client-urls",
        "listen-metrics-urls",
        "listen-peer-urls",
        "log-format",
        "log-level",
        "log-output",
        "log-outputs",
        "log-package-levels",
        "log-rotation-config-json",
        "logger",
        "max-concurrent-streams",
        "max-learners",
        "max-request-bytes",
        "max-snapshots",
        "max-txn-ops",
        "max-wals",
        "metrics",
        "name",
        "peer-cert-allowed-cn",
        "peer-cert-allowed-hostname",
        "peer-cert-file",
        "peer-client-cert-file",
        "peer-client-key-file",
        "peer-crl-file",
        "peer-key-file",
        "peer-trusted-ca-file",
        "quota-backend-bytes",
        "raft-read-timeout",
        "raft-write-timeout",
        "self-signed-cert-validity",
        "snapshot-catchup-entries",
        "snapshot-count",
        "tls-max-version",
        "tls-min-version",
        "trusted-ca-file",
        "v2-deprecation",
        "wal-dir",
        "warning-apply-duration",
        "warning-unary-request-duration",
        "watch-progress-notify-interval",
    )
)
"""Flags that have a value."""


def parse_flags(argv: Sequence[str]) -> dict[str, str]:
    """Return the flags of a command line with their values. Raise ValueError with one line for an unknown one."""
    found: dict[str, str] = {}
    words = list(argv)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        bare = name.lstrip("-")
        if not name.startswith("-") or not bare:
            raise ValueError(f"{word!r} is not a valid flag")
        if bare not in BOOLEAN and bare not in VALUED:
            raise ValueError(f"flag provided but not defined: -{bare}")
        if not equals and bare in VALUED:
            if not words:
                raise ValueError(f"flag needs an argument: -{bare}")
            value = words.pop(0)
        found[bare] = value
    return found
