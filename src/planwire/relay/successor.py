"""The agent of a relay in a proxy chain: the next component, reached through the conductor.

The relay has a pipe in each direction, as always. Three threads split what comes from the conductor into these pipes,
and join what leaves them.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import BinaryIO

from planwire.acp.conversation import AGENT, CLIENT
from planwire.relay.chain import Chain


class Successor:
    """The agent: as much of a process's interface as the relay needs."""

    def __init__(self, source: int = 0, target: int = 1) -> None:
        self.stdin: BinaryIO
        self.stdout: BinaryIO
        self.returncode: int | None = None
        self._chain = Chain()
        self._source = source
        self._target = target
        self._knowing = Lock()  # the chain, which all threads use
        self._saying = Lock()  # lines leave whole
        self._ended = Event()
        from_client, self._to_relay = _pipe()
        self._from_relay_to_client, to_client = _pipe()
        self._from_relay_to_agent, self.stdin = _pipe()
        self.stdout, self._from_agent = _pipe()
        self._kept = (from_client, to_client)
        self._bringing: list[Thread] = []
        self._client = (from_client.fileno(), to_client.fileno())

    @contextmanager
    def carried(self, patience: float) -> Iterator[tuple[int, int]]:
        """Carry lines, and at the end give the conductor what the relay said last. Yields the ends of the pipes from
        and to the client."""
        self._start()
        yield self._client
        for end in self._kept:
            with suppress(OSError):
                end.close()
        for thread in self._bringing:
            thread.join(patience)

    def _start(self) -> None:
        chain = self._chain
        carried = ((self._from_relay_to_client, chain.for_client), (self._from_relay_to_agent, chain.for_agent))
        for source, wrap in carried:
            thread = Thread(target=self._bring, args=(source, wrap), name="planwire chain", daemon=True)
            self._bringing.append(thread)
            thread.start()
        Thread(target=self._part, name="planwire conductor", daemon=True).start()

    def wait(self) -> int:
        """Wait for the end of the chain: the conductor has closed our input, and the relay has said everything."""
        self._ended.wait()
        self.returncode = 0
        return self.returncode

    def terminate(self) -> None:
        """Stop waiting for an agent that does not end: to end it is the conductor's task."""
        self._ended.set()

    kill = terminate

    def _part(self) -> None:
        ends = {CLIENT: self._to_relay, AGENT: self._from_agent}
        with os.fdopen(self._source, "rb", closefd=False) as conductor:
            for line in conductor:
                with self._knowing:
                    heard = self._chain.hear(line)
                for sender, message in heard:
                    with suppress(OSError):
                        end = ends.get(sender)
                        self._say(message) if end is None else _write(end, message)
        for end in (self._to_relay, self._from_agent):
            end.close()

    def _bring(self, source: BinaryIO, wrap: Callable[[bytes], list[bytes]]) -> None:
        """Wrap what leaves the relay. Once nothing more comes for the agent, the chain is at its end."""
        for line in source:
            with self._knowing:
                wrapped = wrap(line)
            with suppress(OSError):
                for each in wrapped:
                    self._say(each)
        if source is self._from_relay_to_agent:
            self._ended.set()

    def _say(self, message: bytes) -> None:
        with self._saying:
            view = memoryview(message.rstrip(b"\r\n") + b"\n")
            while view:
                view = view[os.write(self._target, view) :]


def _write(end: BinaryIO, message: bytes) -> None:
    end.write(message.rstrip(b"\r\n") + b"\n")
    end.flush()


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    reading, writing = os.pipe()
    return os.fdopen(reading, "rb"), os.fdopen(writing, "wb")
