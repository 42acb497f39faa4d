"""The flags of durable and of shared storage, of the history and of cached encodings."""

from __future__ import annotations

from hydrofoil.go_text import quote
from hydrofoil.options import Options, Refused, Texts, amount, anything, boolean, flag, seconds, span, words

ALWAYS, NEVER = "always", "never"
INTERVAL = "interval="


def sync(text: str) -> str:
    """Read when writes are durable."""
    if text in (ALWAYS, NEVER):
        return text
    if not text.startswith(INTERVAL):
        raise Refused(f"<flag> must be always, interval=DURATION or never, not {quote(text)}")
    if not span(text.removeprefix(INTERVAL)):
        raise Refused(f"<flag> needs a positive duration, not {quote(text)}; always has none")
    return text


def interval(text: str) -> float | None:
    """Return the time in seconds after which writes are durable at most; None: when the system writes them."""
    if text.startswith(INTERVAL):
        return span(text.removeprefix(INTERVAL))
    return None if text == NEVER else 0.0


def servers(text: str) -> Texts:
    """Read the URLs of etcd's members; without a scheme they are plain."""
    found = [url if "://" in url else f"http://{url}" for url in words(text)]
    for url in found:
        if not url.startswith(("http://", "https://")):
            raise Refused(f"<flag> needs URLs such as https://127.0.0.1:2379, not {quote(url)}")
    return Texts(found)


class StorageOptions(Options):
    """Place of the objects, length of the history, and size of cached encodings."""

    data_dir: str = flag(
        "--data-dir",
        "",
        anything,
        "keep the objects in this folder, beyond the process (default: in memory)",
        value="DIR",
    )
    data_sync: str = flag(
        "--data-sync",
        ALWAYS,
        sync,
        "when a write to --data-dir survives a power failure: always: before its answer; interval=DURATION: after that "
        "time at most; never: when the system wrote it. A crash of the server alone loses nothing (default {})",
        value="SYNC",
    )
    max_request_bytes: int = flag(
        "--max-request-bytes",
        1536 * 1024,
        amount,
        "bytes of one write at most without --etcd-servers, as a cluster's etcd has by default; 0: any (default {})",
        value="BYTES",
    )
    etcd_servers: Texts = flag(
        "--etcd-servers",
        Texts(),
        servers,
        "keep the objects in etcd, shared by any number of servers, kube-apiserver among them (default: in memory)",
        value="URL,...",
    )
    etcd_prefix: str = flag("--etcd-prefix", "/registry", anything, "the prefix of all keys in etcd (default {})")
    etcd_cafile: str = flag("--etcd-cafile", "", anything, "authorities of etcd's certificates", value="FILE")
    etcd_certfile: str = flag("--etcd-certfile", "", anything, "client certificate for etcd", value="FILE")
    etcd_keyfile: str = flag("--etcd-keyfile", "", anything, "its key", value="FILE")
    etcd_compaction_interval: float = flag(
        "--etcd-compaction-interval",
        300.0,
        seconds,
        "how often one of all servers compacts etcd's history; 0: never (default 5m)",
        value="DURATION",
    )
    encryption_provider_config: str = flag(
        "--encryption-provider-config",
        "",
        anything,
        "encrypt objects in --data-dir or etcd as this file configures it (default: not at all)",
        value="FILE",
    )
    encryption_provider_config_automatic_reload: bool = flag(
        "--encryption-provider-config-automatic-reload",
        False,
        boolean,
        "read --encryption-provider-config again when it changes",
        value="BOOL",
    )
    history_window: float = flag(
        "--history-window",
        300.0,
        span,
        "how long past versions stay readable (default 5m)",
        value="DURATION",
    )
    history_events: int = flag(
        "--history-events", 200_000, amount, "past versions kept a resource at most (default {})", value="N"
    )
    history_bytes: int = flag(
        "--history-bytes", 256 << 20, amount, "bytes of past versions kept a resource at most (default {})", value="N"
    )
    cache_bytes: int | None = flag(
        "--list-cache-bytes",
        None,
        amount,
        "bytes of encoded lists kept at most (default: 16 MiB and half of what the objects have)",
        value="N",
    )


def check_encryption(options: StorageOptions) -> None:
    """Raise ValueError for flags of encryption that do not fit together."""
    if options.encryption_provider_config_automatic_reload and not options.encryption_provider_config:
        text = "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config"
        raise ValueError(text)
