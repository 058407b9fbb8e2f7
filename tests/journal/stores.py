"""Journals over stores, for tests that need the journal itself, and appends that share a commit."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planwire.journal.journal import StoreJournal
from planwire.journal.memory import MemoryStore
from planwire.journal.postgres.store import PostgresStore
from planwire.journal.sqlite.file import resolved
from planwire.journal.sqlite.store import PATIENCE, SqliteStore
from tests.waiting import until

__all__ = ["MemoryJournal", "PostgresJournal", "SqliteJournal", "gathered"]


class MemoryJournal(StoreJournal):
    """A journal in memory."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())


class SqliteJournal(StoreJournal):
    """A journal in a file, which is opened to be written."""

    base: SqliteStore

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        super().__init__(SqliteStore(resolved(Path(path)), patience))
        self.path = self.base.path


class PostgresJournal(StoreJournal):
    """A journal in PostgreSQL."""

    base: PostgresStore

    def __init__(self, url: str, create: bool = True) -> None:
        super().__init__(PostgresStore(url, create))
        self.server = self.base.server


@contextmanager
def gathered(journal: StoreJournal, count: int) -> Iterator[None]:
    """Holds up the journal's appends until so many that begin in here are gathered in one batch; none: not at all."""
    group = journal._appends.group
    if not count:
        yield
        return
    with group.turn:
        yield
        until(lambda: len(group._gathering) == count)
