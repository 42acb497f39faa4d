"""The server of a port of this machine."""

from __future__ import annotations

import os
import socket

from hydrofoil.bench.listening import listeners


def test_the_process_that_listens_at_a_port_is_found() -> None:
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family) as listening:
            try:
                listening.bind((host, 0))
            except OSError:
                continue
            port = listening.getsockname()[1]
            assert listeners(port) == (), "it does not listen yet"
            listening.listen()
            assert os.getpid() in listeners(port)
