"""Files that are cut or replaced under a writer: its next append is not acknowledged."""

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planwire.errors import Conflict, JournalError, JournalUnavailable
from planwire.journal import Stamped, StoredAppend, Terms
from planwire.journal.sqlite import journal as sqlite_journal
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.journal.verifying import verify
from planwire.model.events import TurnEnded
from tests.journal.test_contract import PATIENCE, said, words
from tests.journal.test_sqlite import program, run


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


@pytest.mark.parametrize("has_written", [True, False], ids=["written", "closed"])
@pytest.mark.parametrize("harm", [swap, move])
def test_a_writer_without_its_shared_memory_costs_those_that_came_later_nothing(
    path: Path, harm: Callable[[Path], None], has_written: bool
) -> None:
    with SqliteJournal(path) as journal:
        journal.append("s", said("one"))
        harm(Path(f"{path}-shm"))
        run("journal.append('t', said('two'))", path)
        for _ in range(3 * has_written):
            with pytest.raises(JournalUnavailable, match=r"while (the journal|it) was open"):
                journal.append("s", said("into nowhere"))
        run("journal.append('t', said('three'))", path)
    with SqliteJournal(path) as journal:
        assert [words(journal.read(session)) for session in "st"] == [["one"], ["two", "three"]]


@pytest.mark.parametrize("has_written", [True, False], ids=["written", "closed"])
@pytest.mark.parametrize("other", ["another journal", "an older state", "no journal"])
@pytest.mark.parametrize("before", ["append", "forget", "nothing"])
def test_a_file_that_is_written_over_where_it_lies_gets_no_further_events_and_stays_as_it_is(
    path: Path, tmp_path: Path, before: str, other: str, has_written: bool
) -> None:
    """`cp` writes into the file that has the name: it is neither another file nor a shorter one."""
    copy = tmp_path / "copy.db"
    with SqliteJournal(copy) as journal:
        journal.append("backup", said(*map(str, range(200))))
    if other == "an older state":
        shutil.copyfile(copy, path)
        with SqliteJournal(path) as journal:
            journal.append("backup", said("more"))
    elif other == "no journal":
        copy.write_bytes(b"no journal " * 10_000)
    with SqliteJournal(path) as journal:
        if before != "nothing":
            journal.append("s", said("one", "two", "three"))
        if before == "forget":  # then the log is empty
            journal.forget("s")
        shutil.copyfile(copy, path)
        for _ in range(3 * has_written):
            with pytest.raises(JournalUnavailable, match=r"while (the journal|it) was open"):
                journal.append("s", said("into nowhere"))
    assert path.read_bytes() == copy.read_bytes()


def fill_a_round(journal: SqliteJournal) -> None:
    """Write until the log starts over, after which it grows no more."""
    log = journal.path.with_name(f"{journal.path.name}-wal")
    size = -1
    while log.stat().st_size != size:
        size = log.stat().st_size
        journal.append("s", said("x" * 400_000))


@pytest.mark.parametrize("has_written", [True, False], ids=["written", "closed"])
@pytest.mark.parametrize("by_another", [True, False], ids=["another process wrote last", "alone"])
@pytest.mark.parametrize("later", [1, 30], ids=["of this round", "of an earlier round"])
@pytest.mark.parametrize("over", [["", "-wal"], ["-wal"]], ids=["file and log", "log"])
def test_a_log_that_is_written_over_with_an_earlier_state_gets_no_further_events(
    path: Path, over: list[str], later: int, by_another: bool, has_written: bool
) -> None:
    """Once a log has started over it keeps its length, so a copy of it is no shorter."""
    with SqliteJournal(path) as journal:
        fill_a_round(journal)
        journal.append("s", said("saved"))
        for ending in ("", "-wal"):
            shutil.copyfile(f"{path}{ending}", f"{path}.saved{ending}")
        for _ in range(later):
            journal.append("s", said("x" * 200_000))
        if by_another:
            run("journal.append('t', said('theirs'))", path)
        for ending in over:
            shutil.copyfile(f"{path}.saved{ending}", f"{path}{ending}")
        for _ in range(3 * has_written):
            with pytest.raises(JournalError):
                journal.append("s", said("into nowhere"))
    for ending in over:
        assert Path(f"{path}{ending}").read_bytes() == Path(f"{path}.saved{ending}").read_bytes()


def test_what_checkpoints_write_disturbs_nobody(path: Path) -> None:
    code = """
for number in range(60):
    journal.append("theirs", said("x" * 200_000))
"""
    with SqliteJournal(path) as journal, ThreadPoolExecutor() as pool:
        other = pool.submit(run, code, path)
        for _ in range(60):
            journal.append("mine", said("x" * 200_000))
            journal.last_seq("theirs")
        other.result(PATIENCE)
        assert (journal.last_seq("mine"), journal.last_seq("theirs")) == (60, 60)


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
        for number in range(4):
            journal.append(f"s{number}", said("x" * 50_000))
            run(f"journal.append('t', said('{number}')); journal.forget('s{number}')", path)
            journal.append("mine", said(str(number)))
            journal.append("mine", [Stamped(1, "agent", TurnEnded("again"))])
        assert words(journal.read("mine"))[::2] == [str(number) for number in range(4)]


@pytest.mark.parametrize("write", [True, False], ids=["written", "empty"])
def test_a_log_that_another_process_empties_right_after_a_commit_is_no_cut(path: Path, write: bool) -> None:
    with SqliteJournal(path) as journal, closing(sqlite3.connect(path, isolation_level=None)) as other:
        for number in range(3):
            other.execute("UPDATE sqlite_sequence SET seq = seq")
            journal.append("s", said(str(number)))
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if write:
                other.execute("UPDATE sqlite_sequence SET seq = seq")
        assert words(journal.read("s")) == ["0", "1", "2"]


def test_an_emptied_log_is_no_cut_for_a_writer_that_has_only_looked(path: Path) -> None:
    with SqliteJournal(path) as journal, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("UPDATE sqlite_sequence SET seq = seq")
        with pytest.raises(Conflict):
            journal.append("s", said("too early"), expected_seq=7)
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert words(journal.append("s", said("one"))) == ["one"]


#: Whether any process has the file of the second argument open.
ALONE = """
import sqlite3
alone = sqlite3.connect(sys.argv[2], timeout=0, isolation_level=None)
alone.execute("PRAGMA locking_mode = EXCLUSIVE")
try:
    alone.execute("BEGIN EXCLUSIVE")
    print("nobody else has it")
except sqlite3.OperationalError:
    print("somebody has it")
"""


def test_a_journal_keeps_its_locks_when_another_of_its_process_in_the_same_file_is_closed(path: Path) -> None:
    """To close any handle on a file drops all locks that the process has on it."""
    with SqliteJournal(path) as one:
        one.append("s", said("one"))
        with SqliteJournal(path) as other:
            other.append("s", said("two"))
        assert run(ALONE, path.with_name("another.db"), path) == ["somebody has it"]
        one.append("s", said("three"))
        assert words(one.read("s")) == ["one", "two", "three"]
    assert run(ALONE, path.with_name("another.db"), path) == ["nobody else has it"]


@pytest.mark.parametrize("step", ["open_file", "WriterGuard"])
def test_a_journal_that_is_opened_while_the_last_one_closes_works(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """SQLite then removes the log and the shared memory, and makes them anew."""
    one = SqliteJournal(path)
    one.append("s", said("one"))
    original = getattr(sqlite_journal, step)

    def close_first(*arguments: Any) -> Any:
        one.close()
        return original(*arguments)

    monkeypatch.setattr(sqlite_journal, step, close_first)
    with SqliteJournal(path) as other:
        assert run(ALONE, path.with_name("another.db"), path) == ["somebody has it"]
        other.append("s", said("two"))
        other.append("s", said("three"))
        assert words(other.read("s")) == ["one", "two", "three"]


def test_shared_memory_that_is_cut_short_kills_nobody_and_loses_nothing(path: Path) -> None:
    """The system kills a process that touches memory behind the end of its file: so another process does it."""
    code = """
import os
from planwire.journal.sqlite import guard
guard._PAUSE = 0  # a writer without pauses looks less often
def cut(size):
    os.truncate(sys.argv[1] + "-shm", size)
other = open_journal(sys.argv[1])
for size in (0, 1, 4096, 32768):
    for use in (
        lambda: journal.append("s", said("one")),
        lambda: journal.last_seq("s"),
        lambda: list(journal.read("s")),
        lambda: journal.keep_snapshot("s", 1, b"x"),
        lambda: other.append("s", said("x" * 500_000)),
        lambda: open_journal(sys.argv[1]).close(),
    ):
        cut(size)
        use()
print(journal.last_seq("s"))
cut(0)
journal.close()
"""
    assert run(code, path) == ["8"]
    with SqliteJournal(path) as journal:
        assert journal.last_seq("s") == 8
        assert verify(journal).troubles == []


def test_a_process_that_is_killed_in_the_middle_of_an_append_disturbs_nobody(path: Path) -> None:
    """It leaves pages in the log that count for nothing."""
    code = """
import os, signal
from planwire.journal.sqlite import journal as engine
insert = engine.rows.insert
def insert_and_die(*given):
    insert(*given)
    os.kill(os.getpid(), signal.SIGKILL)
engine.rows.insert = insert_and_die
journal.append("t", said("x" * 2_000_000))  # more than fits into memory, so the log has some of it
"""
    with SqliteJournal(path) as journal:
        for number in range(3):
            journal.append("s", said("x" * 500_000 * number, "mine"))
            size = Path(f"{path}-wal").stat().st_size
            with program(code, path) as other:
                assert other.wait(PATIENCE) == -signal.SIGKILL
            assert Path(f"{path}-wal").stat().st_size > size
        journal.append("s", said("last"))
        assert journal.last_seq("t") == 0
    with SqliteJournal(path) as journal:
        assert journal.last_seq("s") == 7
        assert verify(journal).troubles == []


def test_a_session_that_another_process_forgets_is_no_sign_of_another_file(path: Path) -> None:
    with SqliteJournal(path) as journal:
        for number in range(3):
            journal.append("s", said(str(number)))
            run("journal.forget('s'); journal.append('t', said('theirs')); journal.forget('t')", path)
            journal.lease("s", Terms("relay"))
        journal.append("s", said("again"))
        assert words(journal.read("s")) == ["again"]


def test_an_older_journal_that_is_put_in_place_under_a_writer_by_restore_is_noticed(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with SqliteJournal(path) as journal:
        journal.append("s", said("one"))
    shutil.copyfile(path, copy)
    with SqliteJournal(path) as journal:
        journal.append("s", said("two"))
        copy.replace(path)
        with pytest.raises(JournalUnavailable, match=r"while it was open.*open it again"):
            journal.append("s", said("three"))
        with pytest.raises(JournalUnavailable, match=r"while it was open.*open it again"):
            journal.last_seq("s")
