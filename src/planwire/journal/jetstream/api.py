"""The requests of a JetStream journal to its server: describe a stream, read its messages, write another one.

An unanswered request is repeated for a while, because electing a new leader takes seconds. Repeating is always safe: a
message has an id, and names the message on its subject that it must follow.

Requests that must be exact go to the leader of a stream. Any replica may answer a request for many messages, and may
lack the last ones; callers therefore know which message is the last.
"""

import os
from base64 import b64decode
from collections.abc import Callable, Sequence
from threading import Lock
from time import monotonic
from typing import Any, Final, NamedTuple

import msgspec

from planwire.errors import EngineAway, JournalError, JournalUnavailable, NotWritable, UnstorableEvent
from planwire.journal.jetstream.client import NatsConnection, Unanswered
from planwire.journal.jetstream.messages import StreamMessage, header
from planwire.journal.jetstream.settings import OWN_API
from planwire.journal.jetstream.wire import WireMessage

#: Seconds to wait for one answer, and for all attempts to get one while there is a connection.
ATTEMPT: Final = 2.0
PATIENCE: Final = 10.0
#: With fewer seconds left than this, another attempt is pointless.
SHORTEST: Final = 0.1
#: `PATIENCE` while a journal is being opened.
OPENING: Final = 4.0
#: The most messages and bytes in one page.
PAGE: Final = 500
PAGE_BYTES: Final = 4 * 1024 * 1024

#: The stream has no leader just now, or its server is overloaded: ask again.
_BUSY: Final = (429, 503)
NO_PEERS: Final = 10005
NO_MESSAGE: Final = 10037
NO_STREAM: Final = 10059
NAME_IN_USE: Final = 10058
WRONG_LAST: Final = 10071
#: The message itself is at fault: it is too large for the stream, or its headers are.
_UNSTORABLE: Final = (10054, 10097)
#: How the server's description of a reached stream limit begins; and its codes for an account that has used up what it
#: may, and for a server that has.
_FULL: Final = "maximum "
_USED_UP: Final = (10002, 10023, 10028, 10047)
#: The publish may or may not have lost a race within the cluster; or its earlier attempt still waits for the other
#: replicas. Only repeating it tells.
_PERHAPS: Final = (10164, 10158)


class ApiError(JournalUnavailable):
    """The server refused a request; `number` is NATS's error code."""

    def __init__(self, number: int, description: str) -> None:
        hint = (
            "the journal was deleted while it was open: open it again"
            if number == NO_STREAM
            else "its log may say more"
        )
        super().__init__(f"the NATS server refused: {description} ({number}); {hint}")
        self.number = number


class PublishOutcome(NamedTuple):
    """The result of a publish: the message's number in the stream, or None if another message took its place. Unless
    `is_certain`, an earlier attempt that got no answer may have written it."""

    number: int | None
    is_certain: bool


class _Problem(msgspec.Struct):
    code: int = 0
    err_code: int = 0
    description: str = ""


class _Ack(msgspec.Struct):
    stream: str = ""
    seq: int = 0
    error: _Problem | None = None


class _GotMessage(msgspec.Struct):
    subject: str
    seq: int
    hdrs: str = ""
    data: str = ""


class _Got(msgspec.Struct):
    message: _GotMessage | None = None
    error: _Problem | None = None


_acks: Final = msgspec.json.Decoder(_Ack)
_gets: Final = msgspec.json.Decoder(_Got)
_encode: Final = msgspec.json.Encoder().encode


class JetStreamApi:
    """The requests, on one connection. Any thread may call it."""

    def __init__(self, connection: NatsConnection, prefix: str = OWN_API) -> None:
        self.connection = connection
        self.patience = OPENING
        self._prefix = prefix

    def subject(self, question: str) -> str:
        """The subject of a request to JetStream's API."""
        return f"{self._prefix}.{question}"

    def reachable(self, subject: str) -> str:
        """The subject to publish on for a subject that begins with `$`, which doesn't cross domains as it is."""
        return subject if self._prefix == OWN_API else f"{self._prefix}.{subject}"

    def call(self, what: str, **arguments: object) -> dict[str, Any]:
        """The answer to any request of JetStream's API, such as `STREAM.INFO.NAME`; `ApiError` if it is an error."""
        reply = self.ask(self.subject(what), _encode(arguments) if arguments else b"")
        found: dict[str, Any] = msgspec.json.decode(reply.body)
        _refuse(msgspec.convert(found.get("error"), _Problem | None))
        return found

    def ask(self, subject: str, body: bytes, headers: bytes = b"") -> WireMessage:
        """The answer to a request, asking again while the server is busy; `EngineAway` if none comes."""
        end = monotonic() + self.patience
        while True:
            self.connection.check()
            try:
                reply = self.connection.request(subject, body, headers, min(ATTEMPT, end - monotonic()))
                if not _is_busy(reply):
                    return reply
                reason = "JetStream does not answer: is it on (nats-server -js), and may this user use it?"
            except Unanswered as error:
                reason = str(error)
            if monotonic() + SHORTEST >= end:
                raise self.connection.away(reason)
            self.connection.wait(end - monotonic())

    def write(
        self, stream: str, subject: str, head: bytes, body: bytes, is_apt: Callable[[], bool] = lambda: True
    ) -> PublishOutcome:
        """Write a message whose headers name the one that it must follow. `ApiError` if there is no such stream.
        `is_apt` says before each attempt whether the numbers in the message still mean what they did."""
        is_certain = True
        end = monotonic() + self.patience
        while True:
            self.connection.check()
            if not is_apt():
                return PublishOutcome(None, is_certain)
            try:
                reply = self.connection.request(subject, body, head, min(ATTEMPT, end - monotonic()))
                ack = _ack_of(reply, stream) if not reply.status else None
                reason = f"no stream takes {subject}"
            except Unanswered as error:
                ack, reason, is_certain = None, str(error), False
            else:
                if ack is None:  # also while its servers elect another leader
                    self.call(f"STREAM.INFO.{stream}")
            if ack is not None:
                if ack.error is None:
                    return PublishOutcome(ack.seq, True)
                if ack.error.err_code == WRONG_LAST:
                    return PublishOutcome(None, is_certain)
                reason = ack.error.description
                if _is_full(ack.error) or (ack.error.err_code not in _PERHAPS and ack.error.code not in _BUSY):
                    raise self._refusal(ack.error) if is_certain else self.connection.away(reason)
                is_certain = False
            if monotonic() + SHORTEST >= end:
                raise self.connection.away(reason)
            try:
                self.connection.wait(end - monotonic())
            except EngineAway:
                raise self.connection.away(reason) from None

    def _refusal(self, problem: _Problem) -> JournalError:
        """The error for a message that no attempt has written."""
        said = problem.description
        if _is_full(problem):
            return NotWritable(f"{self.connection.where} takes no more ({said}): forget sessions, or raise the limit")
        kind = UnstorableEvent if problem.err_code in _UNSTORABLE else JournalUnavailable
        return kind(f"the NATS server refused to write the events: {said} ({problem.err_code}). Nothing was written")

    def get(self, stream: str, **which: object) -> StreamMessage | None:
        """A message from the stream's leader: `last_by_subj=…`, or `seq=…, next_by_subj=…`."""
        found = _gets.decode(self.ask(self.subject(f"STREAM.MSG.GET.{stream}"), _encode(which)).body)
        if found.message is None:
            if found.error is not None and found.error.err_code != NO_MESSAGE:
                _refuse(found.error)
            return None
        each = found.message
        return StreamMessage(each.seq, each.subject, b64decode(each.hdrs), b64decode(each.data))

    def delete(self, stream: str, number: int) -> bool:
        """Remove a message. Says whether it was there."""
        try:
            self.call(f"STREAM.MSG.DELETE.{stream}", seq=number)
        except ApiError:
            return False
        return True

    def near(self, stream: str, subject: str, number: int) -> StreamMessage | None:
        """The first message of a subject from a number on, from any replica."""
        reply = self.ask(self.subject(f"DIRECT.GET.{stream}"), _encode({"seq": number, "next_by_subj": subject}))
        return None if reply.status else _direct(reply)

    def page(self, stream: str, subject: str, number: int, most: int = PAGE) -> list[StreamMessage]:
        """Messages of a subject from a number on."""
        wanted = {"seq": number, "next_by_subj": subject, "batch": min(most, PAGE), "max_bytes": PAGE_BYTES}
        return self._many(stream, wanted)

    def last_of(self, stream: str, subjects: Sequence[str]) -> list[StreamMessage]:
        """The last messages of up to 1,000 subjects."""
        return self._many(stream, {"multi_last": list(subjects)})

    def _many(self, stream: str, wanted: dict[str, object]) -> list[StreamMessage]:
        subject, body = self.subject(f"DIRECT.GET.{stream}"), _encode(wanted)
        end = monotonic() + self.patience
        while True:
            self.connection.check()
            answers = _Answers()
            token = self.connection.expect(answers, subject)
            try:
                self.connection.send(subject, body, token=token)
                answers.wait(min(ATTEMPT, end - monotonic()))
            finally:
                self.connection.drop(token, subject)
            if answers.found or answers.status in {"204", "404", "413"}:
                return [_direct(each) for each in answers.found]
            if monotonic() + SHORTEST >= end:
                raise self.connection.away("no answer to a request for messages")
            self.connection.wait(end - monotonic())


class _Answers:
    """The answers to a request for many messages: the messages, then a status."""

    def __init__(self) -> None:
        self.found: list[WireMessage] = []
        self.status = ""
        self._is_over = False
        self._come = Lock()
        self._come.acquire()

    def __call__(self, reply: WireMessage | None) -> None:
        if self._is_over:
            return
        if reply is not None and not reply.status:
            self.found.append(reply)
            return
        self.status = reply.status if reply is not None else ""
        self._is_over = True
        self._come.release()

    def wait(self, seconds: float) -> None:
        """Wait for the final status, or until no answer has come for `seconds`."""
        seen = -1
        while not self._come.acquire(timeout=max(seconds, 0)) and len(self.found) > max(seen, 0):
            seen = len(self.found)


def _is_full(problem: _Problem) -> bool:
    return problem.description.startswith(_FULL) or problem.err_code in _USED_UP


def _is_busy(reply: WireMessage) -> bool:
    """Whether an answer says 503. The body of a message is never JSON, but may contain JSON that says so."""
    return reply.status == "503" or (reply.body.startswith(b"{") and b'"code":503' in reply.body[:400])


def _ack_of(reply: WireMessage, stream: str) -> _Ack:
    """The stream's acknowledgement. `Unanswered` if another subscriber answered: any client may listen on a subject."""
    try:
        ack = _acks.decode(reply.body)
    except msgspec.MsgspecError:
        ack = _Ack()
    if ack.error is None and not (ack.stream == stream and ack.seq):
        raise Unanswered(f"a client answers on the subjects of the stream {stream} in its place")
    return ack


def _direct(reply: WireMessage) -> StreamMessage:
    """The message in the answer to a direct get, which names its number and subject in added headers."""
    number = int(header(reply.headers, b"Nats-Sequence") or 0)
    return StreamMessage(number, (header(reply.headers, b"Nats-Subject") or b"").decode(), reply.headers, reply.body)


def _refuse(problem: _Problem | None) -> None:
    if problem is not None:
        raise ApiError(problem.err_code, problem.description)


def new_id() -> str:
    return os.urandom(12).hex()
