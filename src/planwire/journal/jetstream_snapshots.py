"""The snapshots of a JetStream journal, in a bucket: a cache, which may lose any of them.

A snapshot says with which message its session began. So one that comes too late, when its session was forgotten and
began anew, is never taken for one of the new session.
"""

from contextlib import suppress
from typing import Final

import msgspec

from planwire.errors import JournalUnavailable
from planwire.journal.jetstream_buckets import Bucket
from planwire.journal.jetstream_client import NatsConnection
from planwire.journal.jetstream_messages import is_text, token_of
from planwire.journal.jetstream_sessions import SessionSubjects
from planwire.journal.protocol import Snapshot

__all__ = ["SnapshotBucket"]

#: Bytes of a message that its headers and the fields beside the data may need.
_ROOM: Final = 1_024


class _SnapshotRow(msgspec.Struct, array_like=True, frozen=True):
    begun: int
    seq: int
    data: bytes


_rows: Final = msgspec.msgpack.Decoder(_SnapshotRow)
_encode: Final = msgspec.msgpack.Encoder().encode


class SnapshotBucket:
    """The snapshots of all sessions."""

    def __init__(self, bucket: Bucket, sessions: SessionSubjects, connection: NatsConnection) -> None:
        self._bucket = bucket
        self._sessions = sessions
        self._connection = connection

    def find(self, session: str, name: str) -> Snapshot | None:
        if not (is_text(session) and is_text(name)):
            return None
        found = self._bucket.get(_key(session, name))
        last = self._sessions.last(session) if found is not None else None
        if found is None or last is None:
            return None
        row = _rows.decode(found.value)
        mark = last.mark()
        fits = row.begun == (mark.begun or last.number) and row.seq <= mark.last
        return Snapshot(row.seq, row.data) if fits else None

    def keep(self, session: str, seq: int, data: bytes, name: str) -> None:
        last = self._sessions.last(session) if is_text(session) and is_text(name) else None
        if last is None or len(data) > self._connection.max_payload - _ROOM:
            return
        mark = last.mark()
        begun = mark.begun or last.number
        if not 1 <= seq <= mark.last:
            return
        key = _key(session, name)
        found = self._bucket.get(key)
        if found is not None:
            kept = _rows.decode(found.value)
            if kept.begun == begun and kept.seq > seq:
                return
        with suppress(JournalUnavailable):
            self._bucket.put(key, _encode(_SnapshotRow(begun, seq, bytes(data))), found.revision if found else 0)
        now = self._sessions.last(session)
        if now is None or (now.mark().begun or now.number) != begun:  # it was forgotten meanwhile
            self.forget(session)

    def forget(self, session: str) -> None:
        if is_text(session):
            self._bucket.purge(f"{token_of(session)}.>")


def _key(session: str, name: str) -> str:
    return f"{token_of(session)}.{token_of(name)}"
