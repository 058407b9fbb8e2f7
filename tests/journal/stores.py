"""Journals over stores, for tests that need the journal itself."""

from pathlib import Path

from planwire.journal.journal import StoreJournal
from planwire.journal.memory import MemoryStore
from planwire.journal.sqlite.file import resolved
from planwire.journal.sqlite.store import PATIENCE, SqliteStore

__all__ = ["MemoryJournal", "SqliteJournal"]


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
