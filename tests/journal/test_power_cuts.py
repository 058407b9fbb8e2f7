"""Power cuts: whatever the disk had taken of a checkpoint or an append, a SQLite journal opens and goes on.

The states are built by hand. SQLite syncs the log before it acknowledges an append and before a checkpoint, and the
file before the log starts over. So the log is whole up to the last acknowledged append. Each sector of what was not
synced may be old or new, and the file may have grown or not.
"""

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from planwire.errors import JournalUnavailable
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.journal.verifying import verify
from tests.journal.test_contract import said, words
from tests.journal.test_damage import change
from tests.journal.test_sqlite import is_sound

SECTOR = 512
#: Seeds; planwire refused the journal of seed 274 when it read the file without its log.
CUTS = range(250, 290)


class Moment(NamedTuple):
    """A file before and after a checkpoint, a log before and after the append under way, and what was acknowledged."""

    before: bytes
    after: bytes
    log: bytes
    longer_log: bytes
    acknowledged: list[str]


def files(path: Path) -> tuple[bytes, bytes]:
    return path.read_bytes(), Path(f"{path}-wal").read_bytes()


def many(word: str, number: int) -> list[str]:
    return [f"{word} {each} {'x' * (each * 37 % 900)}" for each in range(number)]


def write(journal: SqliteJournal, texts: list[str]) -> list[str]:
    for each in texts:
        journal.append("s", said(each))
    return texts


def last_moment(journal: SqliteJournal, before: bytes, acknowledged: list[str]) -> Moment:
    _, log = files(journal.path)
    journal.append("s", said("under way", "y" * 9_000))
    _, longer = files(journal.path)
    change(journal.path, "PRAGMA wal_checkpoint")
    return Moment(before, journal.path.read_bytes(), log, longer, acknowledged)


def growing(path: Path) -> Moment:
    with SqliteJournal(path) as journal:
        kept = write(journal, many("kept", 40))
    with SqliteJournal(path) as journal:
        return last_moment(journal, path.read_bytes(), kept + write(journal, many("more", 40)))


def first_events(path: Path) -> Moment:
    with SqliteJournal(path) as journal:
        return last_moment(journal, path.read_bytes(), write(journal, many("first", 30)))


def a_log_that_started_over(path: Path) -> Moment:
    """Behind its new pages are those of the round before."""
    with SqliteJournal(path) as journal:
        kept = write(journal, many("kept", 60))
        change(path, "PRAGMA wal_checkpoint")
        before = path.read_bytes()
        size = Path(f"{path}-wal").stat().st_size
        kept += write(journal, many("more", 10))
        assert Path(f"{path}-wal").stat().st_size == size
        return last_moment(journal, before, kept)


def a_session_that_was_forgotten(path: Path) -> Moment:
    """All pages move, and the file becomes shorter."""
    with SqliteJournal(path) as journal:
        journal.append("gone", said(*many("gone", 60)))
        kept = write(journal, many("kept", 30))
    with SqliteJournal(path, patience=0.01) as journal, closing(sqlite3.connect(path, isolation_level=None)) as reader:
        before = path.read_bytes()
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()  # so that all of it stays in the log
        with pytest.raises(JournalUnavailable, match="traces may be left"):
            journal.forget("gone")
        reader.execute("COMMIT")
        return last_moment(journal, before, kept + write(journal, many("more", 5)))


def torn(draw: random.Random, old: bytes, new: bytes) -> bytes:
    """Some sectors of a write that was not synced."""
    whole = max(len(old), len(new))
    size = draw.choice([len(old), len(new), draw.randrange(min(len(old), len(new)), whole + 1, SECTOR)])
    before, after = (each.ljust(whole, b"\0") for each in (old, new))
    likely = draw.random()
    sectors = [
        (after if draw.random() < likely else before)[place : place + SECTOR] for place in range(0, whole, SECTOR)
    ]
    return b"".join(sectors)[:size]


@pytest.mark.parametrize("moment", [growing, first_events, a_log_that_started_over, a_session_that_was_forgotten])
def test_a_journal_opens_after_every_cut_in_a_checkpoint_with_all_that_was_acknowledged(
    tmp_path: Path, moment: Callable[[Path], Moment]
) -> None:
    (tmp_path / "live").mkdir()
    found = moment(tmp_path / "live" / "journal.db")
    for seed in CUTS:
        draw = random.Random(seed)
        path = tmp_path / f"cut {seed}" / "journal.db"
        path.parent.mkdir()
        path.write_bytes(torn(draw, found.before, found.after))
        Path(f"{path}-wal").write_bytes(found.longer_log)
        goes_on(path, [*found.acknowledged, "under way", "y" * 9_000])


@pytest.mark.parametrize("moment", [growing, first_events, a_log_that_started_over, a_session_that_was_forgotten])
def test_a_journal_opens_after_every_cut_in_an_append_with_all_of_it_or_nothing(
    tmp_path: Path, moment: Callable[[Path], Moment]
) -> None:
    (tmp_path / "live").mkdir()
    found = moment(tmp_path / "live" / "journal.db")
    for seed in CUTS:
        draw = random.Random(seed)
        path = tmp_path / f"cut {seed}" / "journal.db"
        path.parent.mkdir()
        path.write_bytes(found.before)
        Path(f"{path}-wal").write_bytes(torn(draw, found.log, found.longer_log))
        goes_on(path, found.acknowledged)


def goes_on(path: Path, acknowledged: list[str]) -> None:
    with SqliteJournal(path) as journal:
        found = words(journal.read("s"))
        assert found in (acknowledged, [*acknowledged, "under way", "y" * 9_000])
        assert verify(journal).troubles == []
        assert words(journal.append("s", said("on"), len(found))) == ["on"]
    assert is_sound(path)
    with SqliteJournal(path) as journal:
        assert words(journal.read("s")) == [*found, "on"]
        assert journal.last_seq("gone") == 0
