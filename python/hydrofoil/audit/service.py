"""Auditing of one server: its policy, and the log and webhook that get the records."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from pathlib import Path

from msgspec import Struct

from hydrofoil.audit import legacy
from hydrofoil.audit.event import LONGEST_AGENT, AuditEvent, Sender, begin_event, sender_of
from hydrofoil.audit.level import NONE, RECEIVED, REQUEST
from hydrofoil.audit.log import File, LogBackend
from hydrofoil.audit.metrics import Counts
from hydrofoil.audit.options import AuditOptions, Delivery
from hydrofoil.audit.policy import Policy
from hydrofoil.audit.policy_file import load
from hydrofoil.audit.rotation import LogFile
from hydrofoil.audit.webhook import WebhookBackend
from hydrofoil.clock import Chance, Clock
from hydrofoil.headers import FORWARDED_FOR, REAL_IP, USER_AGENT
from hydrofoil.outbound import kubeconfig
from hydrofoil.outbound.target import Target
from hydrofoil.request import Incoming, User

MOST_ADDRESSES = 64
"""The number of addresses read from one header: clients can send any."""


def canonical(text: str) -> str:
    """Return an address in its usual form; empty for other text. IPv4 may have leading zeros, as Go reads it here."""
    text = text.strip()
    if text.count(".") == 3 and ":" not in text:
        parts = text.split(".")
        if all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
            text = ".".join(str(int(part)) for part in parts)
    try:
        found = ip_address(text)
    except ValueError:
        return ""
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found).partition("%")[0]


def source_addresses(forwarded: str, real: str, remote: str) -> tuple[str, ...]:
    """Return the addresses of proxies in front, as the headers X-Forwarded-For and X-Real-Ip have them, and last that
    of the connection.
    """
    if not forwarded and not real:
        return (remote,) if remote else ()
    found = [address for part in forwarded.split(",")[:MOST_ADDRESSES] if (address := canonical(part))]
    if real and (address := canonical(real)) and address not in found:
        found.append(address)
    own = canonical(remote)
    if own and (not found or found[-1] != own):
        found.append(own)
    return tuple(found)


MOST_SENDERS, LONGEST_HEADERS = 1024, 1024
"""The number of senders whose JSON is kept, and the length of their headers in characters up to which it is."""
TOKEN = re.compile(r"(?<=[?&]access_token=)[^&]*")
Sent = tuple[int, str, str, str, str]
"""The identity of a user, the three headers of its request that describe the sender, and the address."""
Delivered = tuple[bool, asyncio.Future[bool]]
"""Whether a request is refused without it, and the result of a delivery."""


class Plugin(Struct):
    """A backend with its settings."""

    delivery: Delivery
    backend: LogBackend | WebhookBackend
    legacy: bool = False

    @property
    def strict(self) -> bool:
        """Report whether a request that cannot be recorded is refused."""
        return self.delivery.mode == "blocking-strict"


class Audit:
    """Decide which requests are recorded, and hand their records over."""

    def __init__(self, policy: Policy, clock: Clock, counts: Counts) -> None:
        self.policy = policy
        self.counts = counts
        self._plugins: list[Plugin] = []
        self._lone: LogBackend | None = None
        self.waits = False
        """Whether answers may wait for their records."""
        self.clock = clock.native
        self._senders: dict[Sent, Sender] = {}

    @property
    def plugins(self) -> list[Plugin]:
        """Return the backends."""
        return self._plugins

    @plugins.setter
    def plugins(self, plugins: list[Plugin]) -> None:
        self._plugins, self._lone = plugins, None
        if len(plugins) == 1:
            found = plugins[0]
            log, other = found.backend, found.legacy or found.strict or found.delivery.truncates
            if isinstance(log, LogBackend) and not other and not log.batched:
                # The usual one takes each event as it is, and no answer waits for it.
                self._lone = log
        self.waits = self._lone is None

    @property
    def strict(self) -> bool:
        """Report whether requests wait until their arrival is recorded."""
        return any(plugin.strict for plugin in self.plugins)

    def begin(self, request: Incoming, user: User | None) -> AuditEvent | None:
        """Return the record of a request; None where the policy wants none. `user` is None if it has none."""
        info = request.info
        chosen = self.policy.every or self.policy.choose(user, info)
        level = chosen.level
        self.counts.levels[level] += 1
        if level == NONE:
            return None
        headers, uri = request.headers, request.target
        if info.query and "access_token=" in uri:
            uri = TOKEN.sub("", uri)
        agent, remote = headers.get(USER_AGENT, ""), request.remote
        sent = id(user), agent, headers.get(FORWARDED_FOR, ""), headers.get(REAL_IP, ""), remote
        sender = self._senders.get(sent)
        if sender is None or sender.user is not user:
            sender = self._sender(user, sent)
        return begin_event(request.audit_id, chosen, info, sender, uri, self.clock.nanoseconds())

    def _sender(self, user: User | None, sent: Sent) -> Sender:
        """Return the sender of a request, and keep it unless its headers are long."""
        _, agent, *others = sent
        shown = agent if len(agent) <= LONGEST_AGENT else agent[:LONGEST_AGENT] + "...TRUNCATED"
        made = sender_of(user, source_addresses(*others), shown)
        if sum(map(len, sent[1:])) <= LONGEST_HEADERS:
            if len(self._senders) >= MOST_SENDERS:
                self._senders.clear()
            self._senders[sent] = made
        return made

    def emit(
        self, event: AuditEvent, stage: str, code: int = 0, at: int = 0, *, waits: bool = False
    ) -> Sequence[Delivered]:
        """Hand over the event of a stage, unless the policy omits it; `code` is the status of the answer.

        `at` is the time of the stage, by default now. With `waits`, return the deliveries that answers wait for.
        """
        if stage in event.chosen.omitted:
            return ()
        self.counts.events += 1
        at = at or (event.received if stage is RECEIVED else self.clock.nanoseconds())
        if (log := self._lone) is not None:
            if (number := event.put(log.lines.add, stage, code, at)) < 2:
                log.added(number)
            return ()
        line: bytes | None = None
        results: list[Delivered] = []
        for plugin in self.plugins:
            if plugin.legacy:
                made = legacy.line(event, stage, code)
            else:
                if line is None:
                    line = event.encoded(stage, code, at)
                made = line
            if plugin.delivery.truncates and len(made) > plugin.delivery.event_bytes:
                if event.chosen.level >= REQUEST:
                    made = event.encoded(stage, code, at, truncated=True)
                if len(made) > plugin.delivery.event_bytes:
                    self.counts.lose("truncate", 1)
                    continue
            result = plugin.backend.take(made, waits=waits and (plugin.strict or plugin.backend.blocks))
            if result is not None:
                results.append((plugin.strict, result))
        return results

    @property
    def blocks(self) -> bool:
        """Report whether answers wait for their records."""
        return any(plugin.backend.blocks for plugin in self.plugins)

    async def close(self) -> None:
        """Deliver what waits."""
        for plugin in self.plugins:
            await plugin.backend.close()


def auditing(
    options: AuditOptions,
    clock: Clock,
    chance: Chance,
    counts: Counts,
    open_file: Callable[[AuditOptions, Clock], File] | None = None,
) -> Audit | None:
    """Return the auditing that the flags ask for; None without a policy, or without log and webhook.

    `open_file` returns the file of the log, where another process writes it.
    Raise ValueError with one line. It blocks: call it at the start.
    """
    policy = load(options.audit_policy_file) if options.audit_policy_file else None
    plugins = []
    if options.audit_log_path:
        file = (open_file or open_log)(options, clock)
        if policy is None:
            file.close()
        else:
            delivery = Delivery.of(options, "log")
            backend = LogBackend(delivery, file, clock, counts)
            plugins.append(Plugin(delivery, backend, legacy=options.audit_log_format == "legacy"))
    if options.audit_webhook_config_file and policy is not None:
        delivery = Delivery.of(options, "webhook")
        backoff = options.audit_webhook_initial_backoff
        target = server(options.audit_webhook_config_file)
        plugins.append(Plugin(delivery, WebhookBackend(delivery, target, backoff, clock, chance, counts)))
    if policy is None or not plugins:
        return None
    made = Audit(policy, clock, counts)
    made.plugins = plugins
    return made


def server(path: str) -> Target:
    """Return the server of a kubeconfig. Raise ValueError."""
    try:
        if not Path(path).exists():
            raise ValueError(f"stat {path}: no such file or directory")
        return kubeconfig.read(path)
    except ValueError as e:
        raise ValueError(f"initializing audit webhook: {e}") from None


def open_log(options: AuditOptions, clock: Clock) -> LogFile:
    """Return the file of the log. Raise ValueError."""
    path = options.audit_log_path
    try:
        return LogFile(
            path,
            clock.now,
            megabytes=options.audit_log_maxsize,
            days=options.audit_log_maxage,
            kept=options.audit_log_maxbackup,
            compresses=options.audit_log_compress,
        )
    except OSError as e:
        raise ValueError(f"ensureLogFile: open {path}: {(e.strerror or 'cannot be opened').lower()}") from None
