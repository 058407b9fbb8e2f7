"""Files that are cut or replaced under a writer: its next append is not acknowledged."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from planwire.errors import JournalError, JournalUnavailable
from planwire.journal import Stamped, StoredAppend, Terms
from planwire.journal.sqlite import SqliteJournal
from planwire.model.events import TurnEnded
from tests.journal.test_contract import said, words
from tests.journal.test_sqlite import run


def cut_to_nothing(path: Path) -> None:
    os.truncate(path, 0)


def cut_by_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def cut_by_a_byte(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def swap(path: Path) -> None:
    shutil.copy(path, f"{path}.other")
    Path(f"{path}.other").replace(path)


def move(path: Path) -> None:
    path.rename(f"{path}.moved")


@pytest.mark.parametrize("harm", [cut_to_nothing, cut_by_half, cut_by_a_byte, swap, move])
@pytest.mark.parametrize("ending", ["", "-wal"])
def test_the_next_append_is_refused(path: Path, harm: Callable[[Path], None], ending: str) -> None:
    with SqliteJournal(path) as journal:
        for number in range(5):
            journal.append("s", said(str(number) * 100))
        harm(Path(f"{path}{ending}"))
        for _ in range(3):
            with pytest.raises(JournalUnavailable, match=r"while (the journal|it) was open"):
                journal.append("s", said("into nowhere"))


@pytest.mark.parametrize("ending", ["", "-wal"])
@pytest.mark.parametrize(
    "write",
    [
        lambda journal: journal.append("other", said("x")),
        lambda journal: journal.store("new", [StoredAppend(next(iter(journal.stored("s"))).events)]),
        lambda journal: journal.lease("s", Terms("relay")),
        lambda journal: journal.forget("s"),
    ],
    ids=["append", "store", "lease", "forget"],
)
def test_every_kind_of_write_is_refused_though_another_process_has_written(
    path: Path, write: Callable[[SqliteJournal], None], ending: str
) -> None:
    with SqliteJournal(path) as journal:
        journal.append("s", said("one"))
        run("journal.append('s', said('two'))", path)
        cut_to_nothing(Path(f"{path}{ending}"))
        with pytest.raises(JournalError):
            write(journal)


def test_what_sqlite_itself_cuts_disturbs_nobody(path: Path) -> None:
    """A second process forgets sessions, which shortens the file and empties the log, while this one writes."""
    with SqliteJournal(path) as journal:
        for number in range(20):
            journal.append(f"s{number}", said("x" * 50_000))
            run(f"journal.append('t', said('{number}')); journal.forget('s{number}')", path)
            journal.append("mine", said(str(number)))
            journal.append("mine", [Stamped(1, "agent", TurnEnded("again"))])
        assert words(journal.read("mine"))[::2] == [str(number) for number in range(20)]


def test_two_journals_of_a_process_in_one_file_share_what_they_look_through(path: Path) -> None:
    """To close a handle on a file drops all locks that the process has on it."""
    with SqliteJournal(path) as one:
        one.append("s", said("one"))
        with SqliteJournal(path) as other:
            other.append("s", said("two"))
        one._writer.execute("BEGIN IMMEDIATE")
        code = "journal._patience = 0\nimport sqlite3\nprint(journal.path)"
        assert run(code, path) == [str(path)]
        one._writer.execute("ROLLBACK")
        one.append("s", said("three"))
        assert words(one.read("s")) == ["one", "two", "three"]
    assert not Path(f"{path}-wal").exists()
