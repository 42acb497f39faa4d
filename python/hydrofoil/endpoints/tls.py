"""TLS between a socket and a connection, and the plain sockets of a server.

The protocol is the extension's (rustls). A `Session` is the protocol of its socket and the transport of its connection,
which is made once the handshake is complete: until then a client costs little.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast

from hydrofoil import engine
from hydrofoil.pace.turn import current_turn

HANDSHAKE = 0x16
"""The type of a client's first record."""
METHODS = (b"GET /", b"HEAD ", b"POST ", b"PUT /", b"OPTIO", b"PATCH", b"DELET")
"""The starts of requests without TLS (net/http `tlsRecordHeaderLooksLikeHTTP`, and more methods)."""
PLAIN = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
Piece = bytes | bytearray | memoryview
Make = Callable[[], asyncio.Protocol]


class Listener:
    """The sessions of one server: their settings, and turns for handshakes, which cost a signature each."""

    def __init__(
        self, settings: Callable[[], engine.TlsConfig], make: Make, seconds: float, *, plain: bool = False
    ) -> None:
        """Take `settings`, which returns those of a new session, and `make`, which returns a new connection.

        A handshake may take this many seconds. `plain`: clients may do without one.
        """
        self.settings = settings
        self.make = make
        self.plain = plain
        self.seconds = seconds
        self.open: set[Session] = set()
        """Sessions whose handshake is not complete."""
        self.failed = 0
        """The number of handshakes that failed."""
        self.loop = asyncio.get_running_loop()
        self._queue = current_turn().handshakes

    def __call__(self) -> asyncio.Protocol:
        return Session(self)

    def step(self, session: Session, data: bytes) -> None:
        """Continue a handshake, in a later turn of the loop if others have used this one."""
        if self._queue.has_time:
            self._queue.run(partial(session.shake, data))
        else:
            session.hold()
            self._queue.defer(partial(session.resume, data))

    def close(self) -> None:
        """End all handshakes."""
        for session in list(self.open):
            session.abort()


class Session(asyncio.Transport, asyncio.Protocol):
    """One TLS connection: the protocol of its socket, and the transport of the connection above."""

    __slots__ = ("_above", "_listener", "_native", "_timer", "_wire", "certificates")

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._native: engine.TlsConnection | None = None
        self._above: asyncio.Protocol | None = None
        self._wire: asyncio.Transport
        self._timer: asyncio.TimerHandle | None = None
        self.certificates: tuple[bytes, ...] = ()

    # The protocol of the socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Limit the time of the handshake, however slowly it arrives."""
        wire = self._wire = cast(asyncio.Transport, transport)
        listener = self._listener
        self._timer = listener.loop.call_later(listener.seconds, wire.abort)
        listener.open.add(self)

    def data_received(self, data: bytes) -> None:
        """Pass the text of records on."""
        above = self._above
        if above is None:
            self._listener.step(self, data)
            return
        native = self._native
        assert native is not None
        try:
            text, records = native.receive(data)
        except engine.TlsError as e:
            self._broken(e)
            return
        if records:
            self._wire.write(records)
        if text:
            above.data_received(text)
        if not text or native.ended:
            self._check_end()

    def shake(self, data: bytes) -> None:
        """Continue the handshake."""
        if self._wire.is_closing():
            return
        if self._above is not None:
            self.data_received(data)
            return
        native = self._native
        if native is None:
            if data[0] != HANDSHAKE and self._listener.plain:
                self._give_way(data)
                return
            if data[0] != HANDSHAKE and data.startswith(METHODS):
                self._wire.write(PLAIN)
                self._wire.close()
                return
            native = self._native = engine.TlsConnection(self._listener.settings())
        try:
            text, records = native.receive(data)
        except engine.TlsError as e:
            self._broken(e)
            return
        if records:
            self._wire.write(records)
        if native.handshaking:
            if native.ended:
                self._wire.close()
            return
        self._done()
        self.certificates = tuple(native.certificates)
        above = self._above = self._listener.make()
        above.connection_made(self)
        if text:
            above.data_received(text)
        self._check_end()

    def _give_way(self, data: bytes) -> None:
        """Leave the socket to a connection without TLS."""
        self._done()
        connection = self._listener.make()
        self._wire.set_protocol(connection)
        connection.connection_made(self._wire)
        connection.data_received(data)

    def hold(self) -> None:
        """Read nothing more until the handshake has its turn."""
        if not self._wire.is_closing():
            self._wire.pause_reading()

    def resume(self, data: bytes) -> None:
        """Continue a handshake that was held, and read again."""
        if not self._wire.is_closing():
            self._wire.resume_reading()
        self.shake(data)

    def eof_received(self) -> bool | None:
        """Report the end of the input."""
        return self._above.eof_received() if self._above is not None else None

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end of the connection."""
        self._listener.failed += self in self._listener.open and not self._listener.plain
        self._done()
        if self._above is not None:
            self._above.connection_lost(exc)

    def pause_writing(self) -> None:
        """Report a slow reader."""
        if self._above is not None:
            self._above.pause_writing()

    def resume_writing(self) -> None:
        """Report that a slow reader has read."""
        if self._above is not None:
            self._above.resume_writing()

    def _done(self) -> None:
        """Count the session as shaken, or lost."""
        self._listener.open.discard(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _broken(self, error: engine.TlsError) -> None:
        """Send the alert, and end."""
        if error.alert and not self._wire.is_closing():
            self._wire.write(error.alert)
        self._wire.close()

    def _check_end(self) -> None:
        """End after the client's notice that it will send nothing more."""
        if self._native is not None and self._native.ended and not self._wire.is_closing():
            if self._above is not None and self._above.eof_received():
                return
            self.close()

    # The transport of the connection.

    def write(self, data: Piece) -> None:
        """Send text."""
        native = self._native
        if native is not None and not self._wire.is_closing():
            self._wire.write(native.send(data if isinstance(data, bytes) else bytes(data)))

    def writelines(self, pieces: Iterable[Piece]) -> None:
        """Send several texts as one."""
        self.write(b"".join(pieces))

    def close(self) -> None:
        """End once everything has been sent."""
        wire = self._wire
        if wire.is_closing():
            return
        if self._native is not None and (notice := self._native.close()):
            wire.write(notice)
        wire.close()

    def abort(self) -> None:
        """End at once."""
        self._wire.abort()

    def is_closing(self) -> bool:
        """Report whether nothing can be sent."""
        return self._wire.is_closing()

    def is_reading(self) -> bool:
        """Report whether input is read."""
        return self._wire.is_reading()

    def pause_reading(self) -> None:
        """Leave input unread."""
        self._wire.pause_reading()

    def resume_reading(self) -> None:
        """Read input again."""
        self._wire.resume_reading()

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that the system has not taken yet."""
        return self._wire.get_write_buffer_size()

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """Return the sizes at which writing resumes and pauses."""
        return self._wire.get_write_buffer_limits()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set the sizes at which writing pauses and resumes."""
        self._wire.set_write_buffer_limits(high, low)

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return the connection; the session itself during the handshake."""
        return self._above or self

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Replace the connection."""
        assert isinstance(protocol, asyncio.Protocol)
        self._above = protocol

    def can_write_eof(self) -> bool:
        """Report that TLS has no half-closed sockets."""
        return False

    def write_eof(self) -> None:
        """Raise NotImplementedError."""
        raise NotImplementedError

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return a fact of the connection: also `peer_certificates`, a tuple of DER, and `sslcontext`."""
        if name == "peer_certificates":
            return self.certificates
        if name == "sslcontext":
            return self._listener.settings()
        return self._wire.get_extra_info(name, default)
