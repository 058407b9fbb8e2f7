"""The snapshots of a JetStream journal, in a bucket: a cache, which may lose any of them.

A snapshot names the message with which its session began. So one that is written too late, after its session was
forgotten and begun anew, is never taken for one of the new session.

A snapshot too large for one value is split over several, and the value written last holds their hash. If two writers'
values get mixed, the hash differs and the snapshot is ignored.
"""

import zlib
from contextlib import suppress
from typing import Final

import msgspec

from planwire.errors import JournalUnavailable
from planwire.journal.chain import sha256
from planwire.journal.jetstream.buckets import Bucket
from planwire.journal.jetstream.client import NatsConnection
from planwire.journal.jetstream.messages import is_text, token_of
from planwire.journal.jetstream.sessions import SessionSubjects
from planwire.journal.protocol import Snapshot

#: Bytes of a message reserved for its headers and the other fields.
_ROOM: Final = 1_024
#: A snapshot of this many bytes or more is compressed.
_COMPRESSED_FROM: Final = 64 * 1024


class _SnapshotRow(msgspec.Struct, array_like=True, frozen=True):
    """A snapshot as it is stored. If its data is split over several `values`, the row has only the hash of it."""

    begun: int
    seq: int
    data: bytes
    is_compressed: bool = False
    values: int = 0
    digest: bytes = b""


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
        row = _read(found.value)
        fits = row.begun == last.begun() and row.seq <= last.mark().last
        data = self._data(_key(session, name), row) if fits else None
        return Snapshot(row.seq, data) if data is not None else None

    def keep(self, session: str, seq: int, data: bytes, name: str) -> None:
        last = self._sessions.last(session) if is_text(session) and is_text(name) else None
        if last is None:
            return
        if not 1 <= seq <= last.mark().last:
            return
        key, begun = _key(session, name), last.begun()
        found = self._bucket.get(key)
        if found is not None:
            kept = _read(found.value)
            if kept.begun == begun and kept.seq > seq:
                return
        with suppress(JournalUnavailable):
            row = self._row(key, begun, seq, bytes(data))
            self._bucket.put(key, _encode(row), found.revision if found else 0)
        now = self._sessions.last(session)
        if now is None or now.begun() != begun:  # it was forgotten meanwhile
            self.forget(session)

    def _row(self, key: str, begun: int, seq: int, data: bytes) -> _SnapshotRow:
        """The row of a snapshot. Data too large for it is written to other values first."""
        is_compressed = len(data) >= _COMPRESSED_FROM
        if is_compressed:
            data = zlib.compress(data, 1)
        size = max(self._connection.room - _ROOM, 1)
        if len(data) <= size:
            return _SnapshotRow(begun, seq, data, is_compressed)
        values = range(0, len(data), size)
        for number, begin in enumerate(values, start=1):
            self._bucket.put(f"{key}.{number}", data[begin : begin + size])
        return _SnapshotRow(begun, seq, b"", is_compressed, len(values), sha256(data).digest())

    def _data(self, key: str, row: _SnapshotRow) -> bytes | None:
        data = row.data
        if row.values:
            found = [self._bucket.get(f"{key}.{number}") for number in range(1, row.values + 1)]
            data = b"".join(each.value for each in found if each is not None)
            if sha256(data).digest() != row.digest:
                return None
        try:
            return zlib.decompress(data) if row.is_compressed else data
        except zlib.error:
            return None

    def forget(self, session: str) -> None:
        if is_text(session):
            self._bucket.purge(f"{token_of(session)}.>")


def _read(value: bytes) -> _SnapshotRow:
    """The snapshot in a value. A value that is not planwire's gives one that fits no session."""
    try:
        return _rows.decode(value)
    except msgspec.MsgspecError:
        return _SnapshotRow(-1, 0, b"")


def _key(session: str, name: str) -> str:
    return f"{token_of(session)}.{token_of(name)}"
