"""Messages as they are written: an ordered consumer of a JetStream stream.

The server pushes messages in order, each with its number in the delivery. After a gap, a lost connection or silence
(the server sends a heartbeat every `HEARTBEAT` seconds) the consumer is lost, and its reader begins another one after
the last message taken. Flow control limits what the server sends ahead: its request for room is answered only once
every message that came has been taken. So a slow reader misses nothing, and its memory doesn't fill up.
"""

import os
from collections import deque
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import Final

from planwire.errors import DamagedJournal
from planwire.journal.jetstream.api import JetStreamApi
from planwire.journal.jetstream.messages import StreamMessage, header
from planwire.journal.jetstream.wire import WireMessage

HEARTBEAT: Final = 1.0
#: Seconds of silence after which a consumer counts as lost.
SILENCE: Final = 3.0
_SECOND: Final = 1_000_000_000


class OrderedConsumer:
    """A stream's messages on a subject from a number on, and those that are added. For use by one thread."""

    def __init__(
        self, api: JetStreamApi, stream: str, subject: str, number: int, *, headers_only: bool = False
    ) -> None:
        self._api = api
        self._stream = stream
        self._name = os.urandom(8).hex()
        self._come: deque[WireMessage] = deque()
        self._bell = Lock()
        self._bell.acquire()
        self._delivered = 0
        self._heard = monotonic()
        self._answer = ""  # the subject on which the server waits to hear that there is room
        self._is_lost = False
        connection = api.connection
        inbox, self._end = connection.subscribe(self._hear)
        try:
            api.call(
                f"CONSUMER.CREATE.{stream}.{self._name}",
                stream_name=stream,
                config={
                    "name": self._name,
                    "deliver_subject": inbox,
                    "deliver_policy": "by_start_sequence",
                    "opt_start_seq": number,
                    "filter_subject": subject,
                    "ack_policy": "none",
                    "max_deliver": 1,
                    "flow_control": True,
                    "idle_heartbeat": int(HEARTBEAT * _SECOND),
                    "inactive_threshold": 30 * _SECOND,
                    "headers_only": headers_only,
                    "mem_storage": True,
                    "num_replicas": 1,
                },
            )
        except BaseException:
            self._end()
            raise
        self._heard = monotonic()

    @property
    def is_lost(self) -> bool:
        """Whether nothing more will come, or messages may be missing: begin another consumer."""
        return not self._come and (self._is_lost or monotonic() - self._heard > SILENCE)

    def next(self, seconds: float) -> StreamMessage | None:
        """The next message, or None if none comes within `seconds`."""
        if not self._come and (self._bell.acquire(timeout=max(seconds, 0)) is False or not self._come):
            self._api.connection.check_flow()
            return None
        reply = self._come[0]
        number, delivered = _numbers(reply.reply)
        is_next = delivered == self._delivered + 1
        if is_next:
            self._delivered = delivered  # before the message leaves the queue: `_hear` adds the two up
        self._come.popleft()
        if not self._come and self._answer:
            answer, self._answer = self._answer, ""
            self._api.connection.send(answer)
        if not is_next:
            self._is_lost = True
            self._come.clear()
            return None
        return StreamMessage(number, reply.subject, reply.headers, reply.body)

    def wake(self) -> None:
        with suppress(RuntimeError):  # it is awake already
            self._bell.release()

    def close(self) -> None:
        """End the subscription and delete the consumer. If the request is lost, the server removes an idle consumer
        by itself."""
        connection = self._api.connection
        self._end()
        if not connection.is_closed:
            connection.send(self._api.subject(f"CONSUMER.DELETE.{self._stream}.{self._name}"))

    def _hear(self, reply: WireMessage | None) -> None:
        """Take a message, on the thread of the connection."""
        self._heard = monotonic()
        if reply is None:
            self._is_lost = True
        elif reply.status == "100":
            answer = reply.reply or (header(reply.headers, b"Nats-Consumer-Stalled") or b"").decode()
            if answer and self._come:
                self._answer = answer
            elif answer:
                self._api.connection.send(answer)
            last = header(reply.headers, b"Nats-Last-Consumer")
            if last is not None and int(last) > self._delivered + len(self._come):
                self._is_lost = True
        elif reply.status:
            self._is_lost = True  # the consumer, its stream or its server is gone
        else:
            self._come.append(reply)
        self.wake()


def _numbers(subject: str) -> tuple[int, int]:
    """A message's numbers in the stream and in the delivery, from its acknowledgement subject."""
    parts = subject.split(".")
    at = 5 if len(parts) == 9 else 7
    try:
        return int(parts[at]), int(parts[at + 1])
    except (IndexError, ValueError) as error:
        raise DamagedJournal(f"a message came with the reply subject {subject!r}, which has no numbers") from error
