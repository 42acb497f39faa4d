"""The flags of auditing, with kube-apiserver's names (apiserver `pkg/server/options/audit.go`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from hydrofoil.go_text import quote
from hydrofoil.options import Options, T, anything, boolean, flag, integer, seconds

MODES = ("batch", "blocking", "blocking-strict")
FORMATS = ("legacy", "json")
VERSION = "audit.k8s.io/v1"


def rate(text: str) -> float:
    """Read a number with a fraction (`strconv.ParseFloat`). Raise ValueError."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"strconv.ParseFloat: parsing {quote(text)}: invalid syntax")
    return found


def _flag(name: str, default: T, read: Callable[[str], object], help: str, value: str) -> T:
    return flag(f"--audit-{name}", default, read, help, value=value)


class AuditOptions(Options):
    """The policy, and the log and the webhook that get the events."""

    audit_policy_file: str = _flag("policy-file", "", anything, "record requests by this policy", "FILE")
    audit_log_path: str = _flag("log-path", "", anything, "write the records here; `-` is the standard output", "FILE")
    audit_log_maxage: int = _flag(
        "log-maxage", 366, integer, "days after which an old file of the log is removed; never if 0 (default {})", "N"
    )
    audit_log_maxbackup: int = _flag(
        "log-maxbackup", 100, integer, "old files of the log that are kept; all if 0 (default {})", "N"
    )
    audit_log_maxsize: int = _flag(
        "log-maxsize", 100, integer, "megabytes above which a new file is begun; never if 0 (default {})", "N"
    )
    audit_log_compress: bool = _flag("log-compress", False, boolean, "compress old files with gzip", "BOOL")
    audit_log_format: str = _flag("log-format", "json", anything, "form of the records (default {})", "legacy|json")
    audit_log_version: str = _flag("log-version", VERSION, anything, "version of the records (default {})", "VERSION")
    audit_log_mode: str = _flag(
        "log-mode",
        "blocking",
        anything,
        "batch, blocking or blocking-strict, which refuses a request that cannot be recorded (default {})",
        "MODE",
    )
    audit_log_batch_buffer_size: int = _flag(
        "log-batch-buffer-size", 10000, integer, "records that may wait, others are lost (default {})", "N"
    )
    audit_log_batch_max_size: int = _flag("log-batch-max-size", 1, integer, "records written at once (default {})", "N")
    audit_log_batch_max_wait: float = _flag(
        "log-batch-max-wait", 0.0, seconds, "how long a batch waits for more records (default 0s)", "DURATION"
    )
    audit_log_batch_throttle_enable: bool = _flag(
        "log-batch-throttle-enable", False, boolean, "limit the rate of batches", "BOOL"
    )
    audit_log_batch_throttle_qps: float = _flag(
        "log-batch-throttle-qps", 0.0, rate, "batches a second (default {})", "RATE"
    )
    audit_log_batch_throttle_burst: int = _flag(
        "log-batch-throttle-burst", 0, integer, "batches at once after a quiet time (default {})", "N"
    )
    audit_log_truncate_enabled: bool = _flag(
        "log-truncate-enabled", False, boolean, "leave the objects out of large records", "BOOL"
    )
    audit_log_truncate_max_batch_size: int = _flag(
        "log-truncate-max-batch-size", 10485760, integer, "bytes of one batch (default {})", "BYTES"
    )
    audit_log_truncate_max_event_size: int = _flag(
        "log-truncate-max-event-size", 102400, integer, "bytes of one record (default {})", "BYTES"
    )
    audit_webhook_config_file: str = _flag(
        "webhook-config-file", "", anything, "send the records to the server of this kubeconfig", "FILE"
    )
    audit_webhook_version: str = _flag("webhook-version", VERSION, anything, "their version (default {})", "VERSION")
    audit_webhook_initial_backoff: float = flag(
        "--audit-webhook-initial-backoff",
        10.0,
        seconds,
        "how long to wait before a failed call is repeated (default 10s)",
        value="DURATION",
        also=("--audit-webhook-batch-initial-backoff",),
    )
    audit_webhook_mode: str = _flag(
        "webhook-mode", "batch", anything, "batch, blocking or blocking-strict (default {})", "MODE"
    )
    audit_webhook_batch_buffer_size: int = _flag(
        "webhook-batch-buffer-size", 10000, integer, "records that may wait, others are lost (default {})", "N"
    )
    audit_webhook_batch_max_size: int = _flag(
        "webhook-batch-max-size", 400, integer, "records sent at once (default {})", "N"
    )
    audit_webhook_batch_max_wait: float = _flag(
        "webhook-batch-max-wait", 30.0, seconds, "how long a batch waits for more records (default 30s)", "DURATION"
    )
    audit_webhook_batch_throttle_enable: bool = _flag(
        "webhook-batch-throttle-enable", True, boolean, "limit the rate of batches (default true)", "BOOL"
    )
    audit_webhook_batch_throttle_qps: float = _flag(
        "webhook-batch-throttle-qps", 10.0, rate, "batches a second (default 10)", "RATE"
    )
    audit_webhook_batch_throttle_burst: int = _flag(
        "webhook-batch-throttle-burst", 15, integer, "batches at once after a quiet time (default {})", "N"
    )
    audit_webhook_truncate_enabled: bool = _flag(
        "webhook-truncate-enabled", False, boolean, "leave the objects out of large records", "BOOL"
    )
    audit_webhook_truncate_max_batch_size: int = _flag(
        "webhook-truncate-max-batch-size", 10485760, integer, "bytes of one batch (default {})", "BYTES"
    )
    audit_webhook_truncate_max_event_size: int = _flag(
        "webhook-truncate-max-event-size", 102400, integer, "bytes of one record (default {})", "BYTES"
    )


class Delivery(Struct, frozen=True):
    """The settings of the log or of the webhook, and their refusals."""

    plugin: str
    mode: str
    buffer: int
    """The number of records that may wait in batch mode."""
    size: int
    """The number of records in a batch."""
    wait: float
    """The seconds that a batch waits for more."""
    throttled: bool
    rate: float
    """Batches a second."""
    burst: int
    truncates: bool
    batch_bytes: int
    event_bytes: int
    version: str

    @classmethod
    def of(cls, options: AuditOptions, plugin: str) -> Delivery:
        """Return the settings of a plug-in, `log` or `webhook`."""

        def given(name: str) -> Any:
            return getattr(options, f"audit_{plugin}_{name}")

        batch = ("buffer_size", "max_size", "max_wait", "throttle_enable", "throttle_qps", "throttle_burst")
        cut = ("enabled", "max_batch_size", "max_event_size")
        values: list[Any] = [
            given("mode"),
            *(given(f"batch_{b}") for b in batch),
            *(given(f"truncate_{c}") for c in cut),
        ]
        # The fields are in this order.
        made: Any = cls
        found: Delivery = made(plugin, *values, given("version"))
        return found

    def check(self) -> None:
        """Raise ValueError with upstream's message for values that cannot be used."""
        plugin = self.plugin
        if self.mode not in MODES:
            allowed = quote(",".join(MODES))
            raise ValueError(f"invalid audit {plugin} mode {self.mode}, allowed modes are {allowed}")
        if self.mode == "batch":
            asked: list[tuple[str, float]] = [("buffer size", self.buffer), ("max batch size", self.size)]
            if self.throttled:
                asked += [("throttle QPS", self.rate), ("throttle burst", self.burst)]
            for name, value in asked:
                if value <= 0:
                    why = f"{name} {value:g}, must be a positive number"
                    raise ValueError(f"invalid audit batch {plugin} {why}")
        if self.event_bytes <= 0:
            why = f"max event size {self.event_bytes}, must be a positive number"
            raise ValueError(f"invalid audit truncate {plugin} {why}")
        if self.batch_bytes < self.event_bytes:
            why = f"must be greater than max event size ({self.event_bytes})"
            raise ValueError(f"invalid audit truncate {plugin} max batch size {self.batch_bytes}, {why}")
        if self.version != VERSION:
            if self.version.count("/") > 1:
                raise ValueError(f"unexpected GroupVersion string: {self.version}")
            raise ValueError(f'invalid group version, allowed versions are ["{VERSION}"]')


def check(options: AuditOptions) -> None:
    """Raise ValueError with one line for flags that cannot be used (`AuditOptions.Validate`)."""
    if options.audit_log_path:
        Delivery.of(options, "log").check()
        if options.audit_log_format not in FORMATS:
            allowed = quote(",".join(FORMATS))
            raise ValueError(f"invalid audit log format {options.audit_log_format}, allowed formats are {allowed}")
        for name in ("maxage", "maxbackup", "maxsize"):
            if (value := getattr(options, f"audit_log_{name}")) < 0:
                raise ValueError(f"--audit-log-{name} {value} can't be a negative number")
    if options.audit_webhook_config_file:
        Delivery.of(options, "webhook").check()
