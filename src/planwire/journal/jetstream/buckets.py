"""NATS key-value buckets: each is a stream that keeps the last message of each subject.

A bucket is created with its first value, and looks like any other bucket to `nats kv`.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from planwire.journal.jetstream.api import NAME_IN_USE, NO_STREAM, ApiError, JetStreamApi, PublishOutcome, new_id
from planwire.journal.jetstream.messages import StreamMessage

_SECOND: Final = 1_000_000_000


class Row(NamedTuple):
    """A value and its revision, a number that is unique in the bucket for good."""

    key: str
    revision: int
    value: bytes


class Bucket:
    """One bucket. Keys are words separated by dots."""

    def __init__(self, api: JetStreamApi, name: str, replicas: Callable[[], int], seconds: float = 0) -> None:
        self._api = api
        self._stream = f"KV_{name}"
        self._prefix = f"$KV.{name}."
        self._replicas = replicas
        self._seconds = seconds
        self._exists = False  # False also while that is unknown
        self._read: tuple[tuple[int, int, int], list[Row]] = (0, 0, 0), []  # the version and rows read last

    def subject(self, key: str) -> str:
        return self._prefix + key

    def reachable(self, key: str) -> str:
        """The subject to send a value to."""
        return self._api.reachable(self.subject(key))

    def put(self, key: str, value: bytes, revision: int | None = None) -> int | None:
        """Replace the value that has `revision` (0: there is none yet; None: whatever is there). Returns the new
        revision, or None if the bucket has another one."""
        if not self._exists:
            self.create()
        behind = revision
        identity = new_id()
        while True:
            if revision is None:
                found = self.get(key)
                behind = found.revision if found else 0
            head = b"NATS/1.0\r\nNats-Msg-Id: %b\r\nNats-Expected-Last-Subject-Sequence: %d\r\n\r\n"
            written = self._write(key, head % (identity.encode(), behind or 0), value)
            if written.number is None and not written.is_certain:
                found = self.get(key)
                if found is not None and found.value == value and found.revision > (behind or 0):
                    return found.revision
            if written.number is not None or revision is not None:
                return written.number

    def get(self, key: str) -> Row | None:
        try:
            found = self._api.get(self._stream, last_by_subj=self.subject(key))
        except ApiError as error:
            if error.number != NO_STREAM:
                raise
            return None
        return self._row(found) if found is not None else None

    def rows(self) -> list[Row]:
        """All values, in the order of their revisions."""
        interruptions = self._api.connection.interruptions
        try:
            state = self._api.call(f"STREAM.INFO.{self._stream}")["state"]
        except ApiError as error:
            if error.number != NO_STREAM:
                raise
            return []
        version = interruptions, state["last_seq"], state["messages"]
        known, rows = self._read
        if version != known:
            found = self._api.last_of(self._stream, [f"{self._prefix}>"]) if state["messages"] else []
            if len(found) != state["messages"]:  # the replica lags behind, or one answer can't hold them all
                found = self._one_by_one()
            rows = sorted(map(self._row, found), key=lambda row: row.revision)
            self._read = version, rows
        return list(rows)

    def delete(self, revision: int) -> bool:
        """Remove the value that has a revision. Says whether it was there."""
        return self._api.delete(self._stream, revision)

    def purge(self, keys: str) -> None:
        """Remove the values of the keys that match: `*` stands for one word, `>` for the rest of the key."""
        try:
            self._api.call(f"STREAM.PURGE.{self._stream}", filter=self.subject(keys))
        except ApiError as error:
            if error.number != NO_STREAM:
                raise

    def _write(self, key: str, head: bytes, value: bytes) -> PublishOutcome:
        try:
            return self._api.write(self._stream, self.reachable(key), head, value)
        except ApiError as error:
            if error.number != NO_STREAM:
                raise
        self.create()  # the bucket was deleted
        return self._api.write(self._stream, self.reachable(key), head, value)

    def _one_by_one(self) -> list[StreamMessage]:
        found = []
        number = 1
        while (each := self._api.get(self._stream, seq=number, next_by_subj=f"{self._prefix}>")) is not None:
            found.append(each)
            number = each.number + 1
        return found

    def create(self) -> None:
        """Create the bucket unless it exists."""
        config: dict[str, Any] = {
            "name": self._stream,
            "subjects": [f"{self._prefix}>"],
            "max_msgs_per_subject": 1,
            "max_age": int(self._seconds * _SECOND),
            "storage": "file",
            "discard": "new",
            "num_replicas": self._replicas(),
            "allow_direct": True,
            "allow_rollup_hdrs": True,
        }
        if self._seconds:
            config["duplicate_window"] = min(120, int(self._seconds)) * _SECOND
        try:
            self._api.call(f"STREAM.CREATE.{self._stream}", **config)
        except ApiError as error:
            if error.number != NAME_IN_USE:
                raise
        self._exists = True

    def _row(self, found: StreamMessage) -> Row:
        return Row(found.subject.removeprefix(self._prefix), found.number, found.body)
