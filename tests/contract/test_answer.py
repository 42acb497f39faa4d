"""The promises of answers: rooms make them, the wire alone writes them, hooks run before first and last byte."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from hydrofoil.answer import Answer, Line, Outcome, Sink
from hydrofoil.endpoints.connection import Connections
from hydrofoil.endpoints.context import Context, Handler
from hydrofoil.endpoints.wire import Wire
from hydrofoil.pace.arrivals import ArrivalPacer
from hydrofoil.pace.turn import current_turn
from tests.contract.requests import parts

GET = b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n"


class Written:
    """A body that a test writes."""

    def __init__(self, write: Callable[[Line], Awaitable[None]]) -> None:
        self._write = write

    async def write(self, line: Line) -> None:
        """Write the body."""
        await self._write(line)


class Nobody:
    """Stands for the hub."""

    closing = False


@asynccontextmanager
async def answering(
    handler: Handler, *, seconds: float = 5.0
) -> AsyncIterator[Callable[[bytes], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]]:
    """Yield a function that sends bytes to a wire on a port of its own."""
    wire = Wire(handler, parts(Nobody(), seconds), ArrivalPacer(current_turn().request_clock))
    web = Connections(wire, header_timeout=5.0, answer_timeout=seconds, handler_cancellation=True)
    server = await asyncio.get_running_loop().create_server(web, "127.0.0.1", 0)
    writers = []

    async def send(data: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writers.append(writer)
        writer.write(data)
        return reader, writer

    yield send
    for writer in writers:
        writer.close()
    server.close()
    await web.shutdown(0.2)


async def reported(handler: Handler, data: bytes = GET) -> bytes:
    """Return the bytes a client reads until the connection is quiet or ends."""
    async with answering(handler) as send:
        reader, _ = await send(data)
        out = await reader.readuntil(b"\r\n\r\n")
        if b"Content-Length: " in out:
            return out + await reader.readexactly(int(out.split(b"Content-Length: ")[1].split(b"\r\n")[0]))
        if b"chunked" in out:
            while not out.endswith(b"0\r\n\r\n"):
                out += await reader.readline()
            return out
        return out + await reader.read()


async def test_head_and_body_go_out_as_they_were_given() -> None:
    async def handler(_: Context) -> Answer:
        return Answer(201, b"X-A: b\r\n", b"body")

    out = await reported(handler)
    assert out.startswith(b"HTTP/1.1 201 Created\r\nX-A: b\r\nDate: ")
    assert out.endswith(b"\r\nContent-Length: 4\r\n\r\nbody")


async def test_hooks_run_before_the_first_and_the_last_byte() -> None:
    order: list[str] = []

    async def handler(context: Context) -> Answer:
        context.at_start(lambda answer: order.append(f"start {answer.status}"))
        context.at_end(lambda outcome: order.append(f"end {outcome}"))

        async def stream(sink: Sink) -> None:
            order.append("stream")
            sink.write(b"one", b"two")
            await sink.drained()

        return Answer(200, b"", stream=Written(stream))

    out = await reported(handler)
    assert out.endswith(b"\r\n\r\n6\r\nonetwo\r\n0\r\n\r\n")
    assert order == ["start 200", "stream", f"end {Outcome(200, True)}"]


async def test_the_end_is_told_also_when_the_connection_breaks() -> None:
    ended: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

    async def handler(context: Context) -> Answer:
        context.at_end(ended.set_result)

        async def stream(sink: Sink) -> None:
            sink.write(b"x")
            await asyncio.get_running_loop().create_future()

        return Answer(200, b"", stream=Written(stream))

    async with answering(handler) as send:
        reader, writer = await send(GET)
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()
        async with asyncio.timeout(30):
            assert await ended == Outcome(200, False)


async def test_a_stream_that_fails_before_its_head_becomes_another_answer() -> None:
    """Work that may fail is done before the head; a failure there is answered with a Status."""

    async def handler(_: Context) -> Answer:
        async def stream(_: Sink) -> None:
            raise RuntimeError("too early")

        return Answer(200, b"", stream=Written(stream))

    out = await reported(handler)
    assert out.startswith(b"HTTP/1.1 500 ")
    assert b'"kind":"Status"' in out


async def test_a_stream_that_fails_after_its_head_breaks_the_connection() -> None:
    """So that no client takes a part for the whole."""

    async def handler(_: Context) -> Answer:
        async def stream(sink: Sink) -> None:
            sink.write(b"x")
            raise RuntimeError("too late")

        return Answer(200, b"", stream=Written(stream))

    async with answering(handler) as send:
        reader, _ = await send(GET)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await reader.readuntil(b"0\r\n\r\n")


async def test_a_sink_is_bounded_in_bytes() -> None:
    """A reader that takes nothing pauses its sink; nothing more is written until it has gone on or has gone."""
    paused: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def handler(context: Context) -> Answer:
        context.lasts()

        async def stream(sink: Sink) -> None:
            while not sink.paused():
                sink.write(b"x" * 65536)
                await asyncio.sleep(0)
            paused.set_result(True)
            await sink.drained()

        return Answer(200, b"", stream=Written(stream))

    async with answering(handler) as send:
        reader, writer = await send(GET)
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        async with asyncio.timeout(30):
            assert await paused
        reader._transport.resume_reading()  # type: ignore[attr-defined]
        async with asyncio.timeout(30):
            out = b""
            while not out.endswith(b"\r\n0\r\n\r\n"):
                out = out[-16:] + await reader.read(65536)
        writer.close()


async def test_a_reader_that_has_gone_is_told_to_who_waits_for_it() -> None:
    gone: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    async def handler(context: Context) -> Answer:
        context.lasts()

        async def stream(line: Line) -> None:
            line.begin()
            try:
                while True:
                    line.write(b"x" * 65536)
                    await line.drained()
                    await asyncio.sleep(0)
            except (ConnectionError, asyncio.CancelledError) as e:
                gone.set_result(e)
                raise

        return Answer(200, b"", stream=Written(stream))

    async with answering(handler) as send:
        reader, writer = await send(GET)
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()
        async with asyncio.timeout(30):
            assert isinstance(await gone, ConnectionError | asyncio.CancelledError)


async def test_upgrades_get_the_bare_connection_both_ways() -> None:
    class Echo:
        def __init__(self, line: Line, done: asyncio.Future[None]) -> None:
            self.line, self.done = line, done

        def feed_data(self, data: bytes) -> tuple[bool, bytes]:
            self.line.write(data.upper())
            if b"bye" in data:
                self.done.set_result(None)
            return False, b""

        def feed_eof(self) -> None:
            """Nothing follows."""

    async def handler(_: Context) -> Answer:
        async def stream(line: Line) -> None:
            line.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
            done = asyncio.get_running_loop().create_future()
            line.receive(Echo(line, done))
            await done

        return Answer(101, b"", stream=Written(stream), takes_over=True)

    async with answering(handler) as send:
        reader, writer = await send(b"GET /x HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
        writer.write(b"hello")
        assert await reader.readexactly(5) == b"HELLO"
        writer.write(b"bye")
        assert await reader.read() == b"BYE"


async def test_what_outlives_its_time_is_cut_off() -> None:
    async def handler(context: Context) -> Answer:
        context.allowed = 0.05

        async def stream(sink: Sink) -> None:
            sink.write(b"x")
            await asyncio.get_running_loop().create_future()

        return Answer(200, b"", stream=Written(stream))

    async with answering(handler) as send:
        reader, _ = await send(GET)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await reader.readuntil(b"0\r\n\r\n")


@pytest.mark.parametrize("word", [b"Connection: close\r\n", b""])
async def test_old_clients_read_to_the_end(word: bytes) -> None:
    """HTTP/1.0 knows no chunks: the end of the connection is that of the stream."""

    async def handler(_: Context) -> Answer:
        async def stream(sink: Sink) -> None:
            sink.write(b"one")
            sink.write(b"two")

        return Answer(200, b"", stream=Written(stream))

    out = await reported(handler, b"GET /x HTTP/1.0\r\nHost: x\r\n%s\r\n" % word)
    assert out.endswith(b"\r\n\r\nonetwo")
    # Old clients expect nothing else: Go omits the header.
    assert b"\r\nConnection:" not in out
