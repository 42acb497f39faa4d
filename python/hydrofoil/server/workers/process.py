"""The processes of workers: their start by a fork, later ones by a fresh interpreter, and their end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

PARENT_DEATH = 1
"""`PR_SET_PDEATHSIG` of prctl(2)."""


class Ends(NamedTuple):
    """The sockets of one worker, at one of the two sides."""

    channel: socket.socket
    """Messages."""
    connections: socket.socket
    """Clients, as descriptors."""
    requests: socket.socket
    """Writes that the worker asks for."""
    outcomes: socket.socket
    """What became of them."""
    audit: socket.socket
    """Lines of the audit log."""

    def close(self) -> None:
        """Close all."""
        for end in self:
            end.close()


def pair_of_ends() -> tuple[Ends, Ends]:
    """Return the owner's ends and the worker's."""
    kinds = (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_STREAM, socket.SOCK_STREAM, socket.SOCK_STREAM)
    pairs = [socket.socketpair(socket.AF_UNIX, kind) for kind in kinds]
    return Ends(*(ours for ours, _ in pairs)), Ends(*(theirs for _, theirs in pairs))


def end_with_parent(parent: int) -> None:
    """End this process by a signal when its parent ends: no worker outlives the owner, however that ends."""
    ctypes.CDLL(None, use_errno=True).prctl(PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # It has ended before the call.
        os._exit(1)


def fork(work: Callable[[], int], others: Sequence[Ends]) -> int:
    """Begin a worker as a copy of this process, which has no thread yet; return its id.

    `others` are the ends that the worker must not hold, or their readers never see an end.
    """
    parent = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if not pid:
        leave(work, others, parent)
    return pid


def leave(work: Callable[[], int], others: Sequence[Ends], parent: int) -> NoReturn:
    """Do the work of a worker and end, whatever happens: the copy must never do the owner's."""
    code = 1
    try:
        end_with_parent(parent)
        for ends in others:
            ends.close()
        code = work()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code)


def spawn(command: Sequence[str], slot: int, ends: Ends, region: int) -> int:
    """Begin a worker as a fresh interpreter; return its id. Raise OSError."""
    descriptors = [region, *(end.fileno() for end in ends)]
    line = [*command, str(os.getpid()), str(slot), *map(str, descriptors)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    # Its end is waited for by its id, as that of a fork.
    process = subprocess.Popen(line, pass_fds=descriptors, env=environment, stdin=subprocess.DEVNULL)
    process.returncode = 0
    return process.pid
