"""Metrics of encryption (apiserver `pkg/storage/value/metrics.go`, `encrypt/envelope/metrics/metrics.go`)."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil import engine

VALUE, ENVELOPE = "apiserver_storage_", "apiserver_envelope_encryption_"
KEY = ("transformation_type", "provider_name", "key_id_hash", "apiserver_id_hash")
NUMBERS = {
    "operations": (
        f"{VALUE}transformation_operations_total",
        "Total number of transformations. Successful transformation will have a status 'OK' and a varied status string"
        " when the transformation fails.",
        ("resource", "transformation_type", "transformer_prefix", "status"),
    ),
    "misses": (
        f"{VALUE}envelope_transformation_cache_misses_total",
        "Total number of cache misses while accessing key decryption key(KEK).",
        (),
    ),
    "generation_failures": (
        f"{VALUE}data_key_generation_failures_total",
        "Total number of failed data encryption key(DEK) generation operations.",
        (),
    ),
    "keys_used": (
        f"{ENVELOPE}key_id_hash_total",
        "Number of times a keyID is used split by transformation type, provider, and apiserver identity.",
        KEY,
    ),
    "keys_used_at": (
        f"{ENVELOPE}key_id_hash_last_timestamp_seconds",
        "The last time in seconds when a keyID was used.",
        KEY,
    ),
    "keys_seen": (
        f"{ENVELOPE}key_id_hash_status_last_timestamp_seconds",
        "The last time in seconds when a keyID was returned by the Status RPC call.",
        KEY[1:],
    ),
    "invalid_keys": (
        f"{ENVELOPE}invalid_key_id_from_status_total",
        "Number of times an invalid keyID is returned by the Status RPC call split by error.",
        ("provider_name", "error"),
    ),
    "seeds": (
        f"{ENVELOPE}dek_source_cache_size",
        "Number of records in data encryption key (DEK) source cache. On a restart, this value is an approximation of"
        " the number of decrypt RPC calls the server will make to the KMS plugin.",
        ("provider_name",),
    ),
}
"""The names, texts and labels of numbers; those whose names end in `_total` are counters."""
DURATIONS = {
    "durations": (
        f"{VALUE}transformation_duration_seconds",
        "Latencies in seconds of value transformation operations.",
        ("transformation_type", "transformer_prefix"),
    ),
    "generations": (
        f"{VALUE}data_key_generation_duration_seconds",
        "Latencies in seconds of data encryption key(DEK) generation operations.",
        (),
    ),
    "calls": (
        f"{ENVELOPE}kms_operations_latency_seconds",
        "KMS operation duration with gRPC error code status total.",
        ("provider_name", "method_name", "grpc_status_code"),
    ),
}


def bound_text(bound: float) -> str:
    """Return the upper bound of a bucket as Go writes it."""
    return "+Inf" if bound == float("inf") else f"{bound:g}"


class Conversions(Collector):
    """The conversions of objects to their stored form and back, and the calls of plug-ins."""

    def __init__(self, encryption: engine.Encryption) -> None:
        self._encryption = encryption

    def collect(self) -> Iterable[Metric]:
        """Yield the families that have samples."""
        numbers: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for family, labels, number in self._encryption.numbers():
            name, text, names = NUMBERS[family]
            if family not in numbers:
                made = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
                numbers[family] = made(name, f"[ALPHA] {text}", labels=names)
            numbers[family].add_metric(labels, number)
        yield from numbers.values()
        durations: dict[str, HistogramMetricFamily] = {}
        for family, labels, counts, total in self._encryption.durations():
            if family not in durations:
                name, text, names = DURATIONS[family]
                durations[family] = HistogramMetricFamily(name, f"[ALPHA] {text}", labels=names)
            durations[family].add_metric(labels, [(bound_text(bound), count) for bound, count in counts], total)
        yield from durations.values()

    def describe(self) -> Iterable[Metric]:
        """Yield nothing: the names are not checked against others."""
        return ()
