"""A client of a session without an event loop: planwire's own threads send it what it does not know yet.

They are few, and separate from the threads that read journals: a client that does not read holds up other clients, but
no agent.
"""

import inspect
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Condition, Lock
from typing import TYPE_CHECKING, Final

from planwire.model.records import SessionState
from planwire.session.change import SessionChange
from planwire.session.client_sync import ClientSync, Peer

if TYPE_CHECKING:
    from planwire.session.blocking import BlockingPlanSession

#: Seconds that closing a connection waits for a client to take its last lines.
PARTING_SECONDS: Final = 2.0
SENDERS: Final = 4

_log = logging.getLogger("planwire")
_senders: list[ThreadPoolExecutor] = []
_making: Final = Lock()


class BlockingConnection:
    """A client that is sent every change. `error` is why that ended, if it did.

    A plan file's text changes without an event, and no thread watches it: the file is read with every change of the
    session, and by `flush`.
    """

    def __init__(self, session: "BlockingPlanSession", peer: Peer, session_id: str) -> None:
        self.error: Exception | None = None
        self._session = session
        self._peer = peer
        self._sync = ClientSync(peer.dialect, session_id, session.read_file)
        self._known: SessionState | None = None
        self._is_due = self._is_closed = False
        self._looks_again = False
        self._told = Condition()
        self._ignore = session.on_change(self._hear)
        self._hear()

    def flush(self, timeout: float | None = None) -> None:
        """Wait until the client is gone or knows the newest state, with plan files as they are now."""
        if self._sync.follows_files(self._session.state):
            with self._told:
                self._known, self._looks_again = None, True
            self._hear()
        with self._told:
            self._told.wait_for(lambda: self.is_over or self._known is self._session.state, timeout)

    def close(self) -> None:
        """Send this client what it does not know yet, within `PARTING_SECONDS`, and then nothing more."""
        self.flush(PARTING_SECONDS)
        self._is_closed = True
        self._ignore()
        with self._told:
            self._told.notify_all()

    @property
    def is_over(self) -> bool:
        """Whether this client gets nothing more."""
        return self._is_closed or self.error is not None

    def _hear(self, _: SessionChange | None = None) -> None:
        with self._told:
            if self._is_due or self.is_over:
                return
            self._is_due = True
        with suppress(RuntimeError):  # the interpreter is about to end
            _sending().submit(self._send)

    def _send(self) -> None:
        try:
            while not self.is_over:
                state = self._session.state
                if lines := self._sync.next_lines(state):
                    for line in lines:
                        self._hand(line)
                    continue
                with self._told:
                    if self._looks_again:  # requested during this look
                        self._looks_again = False
                        continue
                    self._known = state
                    self._told.notify_all()
                    if state is self._session.state:
                        self._is_due = False
                        return
        except Exception as error:
            _log.warning("a client of session %s is gone: %s", self._session.id, error)
            with self._told:
                self.error = error
                self._told.notify_all()

    def _hand(self, line: bytes) -> None:
        sent = self._peer.send(line)
        if inspect.iscoroutine(sent):
            sent.close()
            raise TypeError("a BlockingPlanSession sends with a plain function: a PlanSession awaits one")


def _sending() -> ThreadPoolExecutor:
    with _making:
        if not _senders:
            _senders.append(ThreadPoolExecutor(SENDERS, "planwire-client"))
        return _senders[0]
