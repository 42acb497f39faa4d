"""The log that the flags name, and the encryption of its objects."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from hydrofoil.clock import Clock
from hydrofoil.server.config import Config
from hydrofoil.storage.local import LocalLog
from hydrofoil.storage.log import Log
from hydrofoil.storage.options import check_encryption, interval

if TYPE_CHECKING:
    from hydrofoil.storage.encryption.service import Service as Encryption


async def encryption(config: Config, clock: Clock) -> Encryption | None:
    """Return the encryption that the flags ask for. Raise ValueError with one line."""
    check_encryption(config)
    if not config.encryption_provider_config:
        return None
    from hydrofoil.storage.encryption.service import Service

    # A folder that is not reached, and a plug-in, may take their time.
    reload = config.encryption_provider_config_automatic_reload
    return await asyncio.to_thread(partial(Service, config.encryption_provider_config, clock, reload=reload))


def source(config: Config, encryption: Encryption | None = None) -> Log:
    """Return the log that the flags name."""
    native = None if encryption is None else encryption.native
    if config.etcd_servers:
        from hydrofoil.storage.etcd import EtcdLog

        return EtcdLog(config, config.event_ttl, config.request_timeout, native)
    if not config.data_dir:
        return LocalLog()
    from hydrofoil.storage.durable import DurableLog

    log = DurableLog(config.data_dir, interval(config.data_sync), encryption=native)
    if encryption is not None:
        encryption.serve(log.unread, log.read_again)
    return log
