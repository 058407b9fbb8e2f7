"""One direction of the traffic: a thread that reads one pipe, asks about lines that may matter, and writes another.

It blocks while its reader is slow, which slows the writer down as if there were no relay. It holds no more than one
incomplete line.
"""

import os
import select
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import Final

from planwire.relay.actions import Action, ToAgent, ToClient, Warn
from planwire.relay.framing import Block, Framer, Sieve
from planwire.relay.injector import Injector

_CHUNK: Final = 64 * 1024
_REPORT: Final = "Please report this"


class Pipe:
    """Carries lines from one file descriptor to another. `hear` returns the actions for a line; once the line has left,
    `afterwards` gets those that are not lines themselves.

    `overhear` gets the lines that `hear` need not see, before the lines after them are heard. `hear_beginning` gets the
    first bytes of a line that is too long to be read.

    The pipe calls `at_last` when nothing more comes, and `at_end` when it is closed, then or because its reader is
    gone. The lines of the `injector` come after what the source has said so far, and before what it says next.
    """

    def __init__(
        self,
        source: int,
        target: int,
        sieve: Sieve,
        hear: Callable[[bytes], list[Action]],
        afterwards: Callable[[list[Action]], None],
        at_end: Callable[[], None] = lambda: None,
        injector: Injector | None = None,
        at_last: Callable[[], None] = lambda: None,
        overhear: Callable[[bytes], None] = lambda _: None,
        hear_beginning: Callable[[bytes], list[Action]] = lambda _: [],
    ) -> None:
        self._source = source
        self._target = target
        self._sieve = sieve
        self._hear = hear
        self._afterwards = afterwards
        self._at_end = at_end
        self._injector = injector
        self._at_last = at_last
        self._overhear = overhear
        self._hear_beginning = hear_beginning
        self._framer = Framer()
        self._is_writing = self._has_failed = False
        self.heard_at = monotonic()
        self._thread = Thread(target=self._run, name=f"planwire {source} to {target}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def join(self, seconds: float) -> bool:
        """Wait for the end. Returns whether it has come."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def silence(self) -> float:
        """Seconds since something came. While the pipe waits for a slow reader, its writer does not count as silent."""
        return 0.0 if self._is_writing else monotonic() - self.heard_at

    def _run(self) -> None:
        try:
            while chunk := self._read():
                self.heard_at = monotonic()
                self._pass_on(self._framer.feed(chunk))
                self._inject()
            self._at_last()
            self._inject()
            self._pass_on(self._framer.end())
        except OSError:  # the reader is gone
            pass
        finally:
            _let_go(self._source)
            _let_go(self._target)
            self._at_end()

    def _pass_on(self, blocks: list[Block]) -> None:
        for data, lines, begins in blocks:
            if lines and not self._sieve.skips(data):
                self._look_through(data)
            else:
                self._write(data)
                if lines:
                    self._overhear(data)
                elif begins and (actions := self._hear_beginning(data[:_CHUNK])):
                    self._afterwards(actions)

    def _look_through(self, data: bytes) -> None:
        """Write the lines as they leave: the same object, if nothing changes. Other actions come once the lines are
        written, so that no line waits for them. Where lines become more, they leave in portions."""
        rest: list[Action] = []
        pieces: list[bytes] = []
        done = size = seen = 0
        for start, end in self._sieve.lines(data):
            if start > seen:
                self._overhear(data[seen:start])
            seen = end
            line = data[start:end]
            sent = self._heard(line, rest)
            if len(sent) != 1 or sent[0] is not line:
                pieces += (data[done:start], *sent)
                size += sum(map(len, sent))
                done = end
                if size > _CHUNK:
                    self._leave(b"".join(pieces), rest)
                    rest, pieces, size = [], [], 0
        self._leave(b"".join((*pieces, data[done:])) if done else data, rest)
        if seen < len(data):
            self._overhear(data[seen:])

    def _leave(self, data: bytes, rest: list[Action]) -> None:
        self._write(data)
        if rest:
            self._afterwards(rest)

    def _inject(self) -> None:
        if self._injector is None or not self._framer.is_between_lines:
            return
        injector = self._injector
        try:
            actions = injector.ask()
        except Exception as error:  # a fault of ours: it costs what was to be said, and nothing else
            self._injector, problem = None, f"{type(error).__name__}: {error}"
            actions = [Warn(f"planwire's own lines can no longer be sent ({problem}). {_REPORT}")]
        said = b"".join(action.data for action in actions if isinstance(action, (ToAgent, ToClient)))
        if said:
            self._write(said)
        if actions:
            injector.sent(actions)

    def _heard(self, line: bytes, rest: list[Action]) -> list[bytes]:
        """What is sent for a line."""
        try:
            actions = self._hear(line)
        except Exception as error:  # a fault of ours must not cost the line, nor those after it
            actions = self._excuse(line, error)
        sent = [action.data for action in actions if isinstance(action, (ToAgent, ToClient))]
        if len(actions) > len(sent):
            rest += actions
        return sent

    def _excuse(self, line: bytes, error: Exception) -> list[Action]:
        passed_on: list[Action] = [ToClient(line)]
        if self._has_failed:
            return passed_on
        self._has_failed = True
        problem = f"a line could not be looked into and was passed on as it is ({type(error).__name__}: {error})"
        return [*passed_on, Warn(f"{problem}. {_REPORT}")]

    def _read(self) -> bytes:
        while self._injector is not None and not self._injector.wait(self._source):
            self._inject()
        while True:
            try:
                return os.read(self._source, _CHUNK)
            except BlockingIOError:  # the pipe was made non-blocking elsewhere
                select.select([self._source], [], [])

    def _write(self, data: bytes) -> None:
        self._is_writing = True
        view: bytes | memoryview = data
        try:
            while view:
                try:
                    written = os.write(self._target, view)
                except BlockingIOError:
                    select.select([], [self._target], [])
                else:
                    view = memoryview(view)[written:] if written < len(view) else b""
        finally:
            self._is_writing = False


def _let_go(descriptor: int) -> None:
    """Close our end of a pipe, so that the other side notices; the number stays taken."""
    with suppress(OSError):
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, descriptor)
        os.close(nothing)
