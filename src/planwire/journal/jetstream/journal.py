"""A journal on NATS JetStream, which any number of machines may write and follow at once.

One stream holds the events: a subject for each session, a message for each append. A writer names the last message of
the subject that it knows, and the server refuses the write if there is a later one. That alone keeps event numbers
without holes, and keys (`Once`) without duplicates. Keys don't rely on the 2 minutes for which the server remembers
message ids: they are in the headers of the messages, and the server refuses a writer whose list of keys is out of date.
(Message ids made from keys would even do harm: the server still remembers them after a `forget`.)

What an acknowledgement means is up to the servers: see `facts`.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from time import monotonic
from typing import Final, Self

from planwire.errors import DamagedJournal, JournalError
from planwire.journal.checked import Trouble
from planwire.journal.codec import encode
from planwire.journal.forks import forks
from planwire.journal.haste import ANSWER
from planwire.journal.held_lease import PROCESS_TTL, TTL, HeldLease
from planwire.journal.jetstream.api import PATIENCE, JetStreamApi
from planwire.journal.jetstream.append import Appender
from planwire.journal.jetstream.buckets import Bucket
from planwire.journal.jetstream.client import NatsConnection
from planwire.journal.jetstream.follow import OrderedConsumer
from planwire.journal.jetstream.leases import JetStreamLeases
from planwire.journal.jetstream.messages import StreamMessage, first_message_behind, is_text, last_position_of
from planwire.journal.jetstream.parts import PartStore
from planwire.journal.jetstream.sessions import SessionSubjects
from planwire.journal.jetstream.settings import read_settings
from planwire.journal.jetstream.snapshots import SnapshotBucket
from planwire.journal.jetstream.stream import JournalStream
from planwire.journal.protocol import (
    Followed,
    JournalFacts,
    KnownLease,
    KnownSession,
    Once,
    Snapshot,
    Stamped,
    Stop,
    StoredAppend,
    Terms,
)
from planwire.journal.thoughts_file import FileThoughts
from planwire.journal.unusable import went_back
from planwire.journal.user_files import thoughts_path
from planwire.model.events import Recorded

#: Seconds between a follower's checks whether it was stopped or its journal closed.
LOOK: Final = 0.02
#: Seconds that a new leader gets to take in what its servers have.
SETTLING: Final = 2.0
#: After this many seconds without a message, a follower that still expects some asks whether there are any.
ASK: Final = 1.0


class JetStreamJournal:
    """A `Journal` in a stream of a NATS server."""

    def __init__(self, url: str, create: bool = True) -> None:
        settings = read_settings(url)
        self.thoughts = FileThoughts(thoughts_path(settings.where))
        self._connection = NatsConnection(settings)
        self._api = JetStreamApi(self._connection, settings.api_prefix)
        self._stream = JournalStream(self._api, settings)
        try:
            is_new = self._stream.open(create)
        except BaseException:
            self._connection.close()
            raise
        self._api.patience = PATIENCE
        self._stream.watch()
        name = settings.name
        self._name = name
        self._sessions = SessionSubjects(self._api, name)
        self._parts = PartStore(self._api, self._stream)
        self._appender = Appender(self._api, self._sessions, self._parts)
        snapshots = self._bucket("snapshots")
        buckets = (self._bucket("leases"), self._bucket("alive", TTL), self._bucket("stated", PROCESS_TTL))
        self._snapshots = SnapshotBucket(snapshots, self._sessions, self._connection)
        self._leases = JetStreamLeases(self._connection, self._sessions, *buckets)
        if is_new and self._stream.replicas > 1:  # later a server may be down, and new buckets impossible
            for bucket in (snapshots, *buckets):
                with suppress(JournalError):
                    bucket.create()

    @property
    def is_hasty(self) -> bool:
        """Whether the journal gives up on its server soon (see `haste`)."""
        return self._connection.is_hasty

    @is_hasty.setter
    def is_hasty(self, value: bool) -> None:
        self._connection.is_hasty = value
        self._api.patience = ANSWER if value else PATIENCE

    def append(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        rows = encode(session, events)
        self._connection.check()
        if not is_text(session):  # `encode` refuses events for such a session, so there are none
            return ()
        found = self._appender.append(session, rows, expected_seq, once)
        if isinstance(found, tuple):
            first, last = found
            return tuple(self.read(session, first - 1, last))
        return tuple(Recorded(session, found + n, row.at, row.by, row.event) for n, row in enumerate(rows, start=1))

    def read(self, session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        self._connection.check()
        last = self._sessions.last(session)
        if last is None:
            return iter(())
        end = last.mark().last
        upto = end if upto is None else min(upto, end)
        after = max(after, 0)
        if after >= upto:
            return iter(())
        messages = self._parts.wholes(self._sessions.messages(session, after, last, upto))
        return self._in_order(session, after, upto, messages)

    def _in_order(self, session: str, after: int, upto: int, messages: Iterable[StreamMessage]) -> Iterator[Recorded]:
        for message in messages:
            for each in message.recorded(session):
                if after < each.seq <= upto:
                    if each.seq != after + 1:
                        raise DamagedJournal(
                            f"events after number {after} of session {session!r} are missing from the stream "
                            f"{self._name}: somebody deleted them there. Restore a backup. Nothing was changed"
                        )
                    after = each.seq
                    yield each

    def stored(self, session: str, after: int = 0) -> Iterator[StoredAppend]:
        self._connection.check()
        last = self._sessions.last(session)
        after = max(after, 0)
        if last is None or last.mark().last <= after:
            return iter(())
        messages = self._sessions.messages(session, after, last, last.mark().last)
        return (each for message in self._parts.wholes(messages) for each in message.appends(after))

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        self._connection.check()
        self._appender.store(session, appends)

    def facts(self) -> JournalFacts:
        self._connection.check()
        return self._stream.facts()

    def troubles(self) -> Iterator[Trouble]:
        self._connection.check()
        yield from (Trouble(words) for words in self._stream.losses())
        for session in self._sessions.overfull():
            words = "a message was published again, which hides events that are in the stream, or repeats them"
            yield Trouble(f"session {session!r}: {words}", session)

    def last_seq(self, session: str) -> int:
        self._connection.check()
        last = self._sessions.last(session)
        return last.mark().last if last is not None else 0

    def last_position(self) -> int:
        self._connection.check()
        return last_position_of(self._stream.last_message())

    def sessions(self) -> list[KnownSession]:
        self._connection.check()
        return self._sessions.known()

    def follow(
        self,
        after: int | None = None,
        *,
        session: str | None = None,
        stop: Stop | None = None,
        timeout: float | None = None,
    ) -> Iterator[Followed]:
        self._connection.check()
        position = self.last_position() if after is None else max(after, 0)
        subject = self._sessions.all if session is None else self._sessions.subject(session)
        return self._follow(position, subject, stop, timeout)

    def snapshot(self, session: str, name: str = "state") -> Snapshot | None:
        self._connection.check()
        return self._snapshots.find(session, name)

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None:
        self._connection.check()
        self._snapshots.keep(session, seq, data, name)

    def lease(self, session: str, terms: Terms = Terms()) -> HeldLease:
        return HeldLease(session, terms, self._keep_lease, partial(self._release_lease, session))

    def leases(self) -> list[KnownLease]:
        self._connection.check()
        return self._leases.known()

    def end_lease(self, known: KnownLease, events: Sequence[Stamped] = (), expected_seq: int | None = None) -> None:
        """Append the events, then remove the lease. After a crash in between, the next caller finds the events by
        their key and only removes the lease."""
        self._connection.check()
        found = self._leases.lapsed(known)
        if found is None:
            return
        revision, taken = found
        self.append(known.session, events, expected_seq, Once(f"the end of lease {known.name}", taken))
        self._leases.remove(revision)

    def forget(self, *sessions: str) -> None:
        """Have the server remove the sessions' messages. It overwrites none of them: their bytes stay in its files
        until it compacts those, which it does by itself once enough of a file is unused. They also stay in its
        backups, and in the log that it keeps for its replicas until that is truncated."""
        self._connection.check()
        self.thoughts.forget(*sessions)  # first: if it fails, a person can still name the sessions and try again
        for session in sessions:
            if is_text(session):
                self._snapshots.forget(session)
                self._leases.forget(session)
                self._stream.purge(self._sessions.whole(session))
                self._snapshots.forget(session)  # one that was kept in between

    def close(self) -> None:
        if self._connection.is_closed or self._connection.owner != forks():
            return
        self.thoughts.close()
        with suppress(JournalError):
            self._leases.close()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _keep_lease(self, name: str, session: str, terms: str, process: str) -> None:
        self._connection.check()
        self._leases.keep(name, session, terms, process)

    def _release_lease(self, session: str, name: str) -> None:
        if not self._connection.is_closed and self._connection.owner == forks():
            self._leases.release(session, name)

    def _bucket(self, kind: str, seconds: float = 0) -> Bucket:
        return Bucket(self._api, f"{self._name}_{kind}", lambda: self._stream.replicas, seconds)

    def _last_number(self, subject: str) -> int:
        last = self._api.get(self._name, last_by_subj=subject)
        return last.number if last is not None else 0

    def _refuse_lost(self, had: StreamMessage | None) -> None:
        """Raise `JournalUnavailable` if the stream was made anew, or lost the last message that a follower had: new
        events get positions that the follower has passed. A new leader may need a moment to take in what it has."""
        end = monotonic() + SETTLING
        while self._stream.last_message() < (had.number if had is not None else 0):
            if monotonic() >= end:
                raise went_back(self._connection.where)
            self._connection.wait(LOOK)
        if had is not None:
            found = self._api.get(self._name, seq=had.number)
            if found is not None and found.body != had.body:  # if there is none, it was forgotten
                raise went_back(self._connection.where)

    def _follow(self, position: int, subject: str, stop: Stop | None, timeout: float | None) -> Iterator[Followed]:
        consumer: OrderedConsumer | None = None
        last = 0  # the last message when this began, or when the server was last asked
        had: StreamMessage | None = None  # the last message with an event that was yielded
        heard = asked = monotonic()
        try:
            while not self._connection.is_closed and not (stop is not None and stop.is_set()):
                if consumer is None or consumer.is_lost:
                    if consumer is not None:
                        consumer.close()
                        consumer = None
                        self._refuse_lost(had)
                    last = self._last_number(subject)
                    consumer = OrderedConsumer(self._api, self._name, subject, first_message_behind(position))
                    asked = monotonic()
                now = monotonic()
                is_behind = last_position_of(last) > position
                left = inf if timeout is None or is_behind else heard + timeout - now
                if left <= 0:
                    return
                message = consumer.next(min(left, LOOK if stop is not None else 10 * LOOK))
                if message is not None:
                    whole = self._parts.whole(message)
                    for each in whole.followed(position) if whole is not None else ():
                        yield each
                        position, had = each.position, message
                        if stop is not None and stop.is_set():
                            return
                    heard = asked = monotonic()
                elif is_behind and now - asked > ASK:  # it may have been forgotten meanwhile
                    last = self._last_number(subject)
                    asked = now
        except JournalError:
            if not self._connection.is_closed:
                raise
        finally:
            if consumer is not None:
                consumer.close()
