"""A proxy in front of a server: it can be slow, fall silent, and cut what goes through it."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

__all__ = ["Proxy", "proxy_to"]


class Proxy:
    """Connections to `port` on this machine go on to a server. Any thread may change how."""

    def __init__(self, host: str, port: int) -> None:
        self.port = 0
        self.connections = 0  # ever made
        self._target = host, port
        self._delay = 0.0
        self._rate = 0.0
        self._refuses = False
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.StreamWriter] = set()
        self._passes = asyncio.Event()
        self._up = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def answer_late(self, seconds: float) -> None:
        """Hold back what the server says for so long."""
        self._delay = seconds

    def pass_slowly(self, rate: float) -> None:
        """Pass so many bytes a second, and hold few meanwhile."""
        self._rate = rate
        for each in tuple(self._open):
            each.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)

    def fall_silent(self) -> None:
        """Pass nothing on, and close nothing: the worst that a network does."""
        self._loop.call_soon_threadsafe(self._passes.clear)

    def cut(self, *, refuse: bool = False) -> None:
        """Cut every connection, and let no new one through if `refuse` says so."""
        self._refuses = refuse
        done = Event()

        def cut() -> None:
            for each in list(self._open):
                each.transport.abort()
            done.set()

        self._loop.call_soon_threadsafe(cut)
        done.wait(5)

    def recover(self) -> None:
        """Be a good network again."""
        self._delay, self._rate, self._refuses = 0.0, 0.0, False
        self._loop.call_soon_threadsafe(self._passes.set)

    def start(self) -> None:
        self._thread.start()
        assert self._up.wait(5)

    def stop(self) -> None:
        self.cut(refuse=True)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _run(self) -> None:
        self._passes.set()
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._up.set()
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        server.close()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self._refuses:
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, back}
        with suppress(asyncio.CancelledError):  # the proxy ends
            await asyncio.gather(self._pump(reader, back), self._pump(there, writer, is_answer=True))
        self._open -= {writer, back}

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool = False
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                if is_answer and self._delay:
                    await asyncio.sleep(self._delay)
                if self._rate:
                    await asyncio.sleep(len(data) / self._rate)
                await self._passes.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


@contextmanager
def proxy_to(host: str, port: int) -> Iterator[Proxy]:
    proxy = Proxy(host, port)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
