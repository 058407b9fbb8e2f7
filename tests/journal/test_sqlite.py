"""The SQLite engine among other processes: writers that are killed, followers, forks, locks, full disks."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, time
from typing import Any

import pytest

from planwire.errors import JournalUnavailable, NoJournal
from planwire.journal import Stamped, open_journal
from planwire.journal.sqlite import drafts as sqlite_drafts
from planwire.journal.sqlite import rows as sqlite_rows
from planwire.journal.sqlite.file import transaction
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.journal.sqlite.rows import insert
from planwire.model.events import TurnEnded
from tests.journal.test_contract import PATIENCE, heard, said, words

NOBODY = 65534
PREAMBLE = """
import sys
from planwire.errors import *
from planwire.model.events import TurnEnded
from planwire.journal import Stamped, open_journal
journal = open_journal(sys.argv[1])
def said(*words):
    return [Stamped(1, "agent", TurnEnded(word)) for word in words]
"""


@contextmanager
def program(code: str, *arguments: object) -> Iterator["subprocess.Popen[str]"]:
    """Another process with a journal of its own on the same file."""
    command = [sys.executable, "-P", "-c", PREAMBLE + code, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def run(code: str, *arguments: object) -> list[str]:
    with program(code, *arguments) as process:
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        return output.splitlines()


def is_sound(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))


# Processes


def test_what_was_acknowledged_survives_a_kill_and_no_append_is_there_by_half(path: Path) -> None:
    """Four threads of a process write batches of three, and say so; it is killed in the middle of it, three times."""
    code = r"""
import os
from threading import Thread
def work(name):
    for number in range(10**9):
        word = f"{sys.argv[2]} {name} {number}"
        journal.append("s", said(word, word, word))
        os.write(1, f"{word}\n".encode())
for name in range(4):
    Thread(target=work, args=(name,)).start()
"""
    acknowledged: set[str] = set()
    for life in range(3):
        with program(code, path, life) as process:
            assert process.stdout is not None
            acknowledged |= {process.stdout.readline().strip() for _ in range(25)}
            process.send_signal(signal.SIGKILL)
            acknowledged |= {line.strip() for line in process.stdout if line.endswith("\n")}
        with open_journal(path) as journal:
            found = list(journal.read("s"))
        assert [each.seq for each in found] == list(range(1, len(found) + 1))
        assert set(Counter(words(found)).values()) == {3}
        assert acknowledged <= set(words(found))
    assert is_sound(path)


def test_processes_that_write_one_session_at_once_lose_nothing_and_a_follower_sees_it_all(path: Path) -> None:
    code = """
for number in range(60):
    while True:
        seen = journal.last_seq("s")
        try:
            journal.append("s", said(f"{sys.argv[2]} {number}", str(seen)), seen)
            break
        except Conflict:
            pass
"""
    with open_journal(path) as journal:
        following = journal.follow(0, timeout=PATIENCE)
        with program(code, path, "a") as one, program(code, path, "b") as other:
            seen = [next(following).recorded for _ in range(240)]
            assert one.wait(PATIENCE) == other.wait(PATIENCE) == 0
        assert seen == list(journal.read("s"))
        assert words(seen)[1::2] == list(map(str, range(0, 240, 2)))
        for name in "ab":
            own = [word for word in words(seen)[::2] if word.startswith(name)]
            assert own == [f"{name} {number}" for number in range(60)]


def test_a_file_that_many_processes_create_at_once_is_one_file(path: Path) -> None:
    code = "print('ready', flush=True); journal.append('s', said(sys.argv[2]))"
    with program(code, path, 0) as a, program(code, path, 1) as b, program(code, path, 2) as c:
        assert [each.wait(PATIENCE) for each in (a, b, c)] == [0, 0, 0]
    with open_journal(path) as journal:
        assert sorted(words(journal.read("s"))) == ["0", "1", "2"]
    assert [each.name for each in path.parent.iterdir()] == ["journal.db"]


def test_a_journal_that_crossed_a_fork_says_so_and_the_parent_goes_on(path: Path) -> None:
    code = """
import os
journal.append("s", said("before"))
if os.fork() == 0:
    for ask in (lambda: journal.append("s", []), lambda: journal.last_seq("s")):
        try:
            ask()
        except JournalUnavailable as error:
            print("forked off" in str(error))
    journal.close()
    sys.exit()
os.wait()
journal.append("s", said("after"))
"""
    assert run(code, path) == ["True"] * 2
    with open_journal(path) as journal:
        assert words(journal.read("s")) == ["before", "after"]


# Whose file it is


def test_only_its_owner_can_read_the_file_and_its_log_and_enter_the_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "new"))
    monkeypatch.delenv("PLANWIRE_JOURNAL", raising=False)
    before = os.umask(0)
    try:
        with open_journal() as journal:
            journal.append("s", said("secret"))
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in (tmp_path / "new").rglob("*")}
    finally:
        os.umask(before)
    assert modes == {"planwire": 0o700, "journal.db": 0o600, "journal.db-wal": 0o600, "journal.db-shm": 0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_no_journal_is_created_in_a_folder_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tmp_path / "plasn" / "journal.db"
    monkeypatch.setenv("PLANWIRE_JOURNAL", str(wrong))
    for name in (wrong, str(wrong), f"sqlite:{wrong}", None):
        with pytest.raises(NoJournal, match=f"there is no folder {wrong.parent} to create the journal journal.db in"):
            open_journal(name)
    assert list(tmp_path.iterdir()) == []


def test_a_link_leads_to_the_journal_and_to_its_log(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    open_journal(tmp_path / "elsewhere" / "journal.db").close()
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere" / "journal.db")
    with open_journal(tmp_path / "link.db") as through_link, open_journal(tmp_path / "elsewhere/journal.db") as direct:
        through_link.append("s", said("one"))
        direct.append("s", said("two"))
        assert words(through_link.read("s")) == ["one", "two"]


def test_a_relative_path_stays_where_it_was_when_the_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_journal("journal.db") as journal:
        monkeypatch.chdir("/")
        journal.append("s", said("one"))
        assert journal.last_seq("s") == 1
    assert (tmp_path / "journal.db").exists()


@contextmanager
def as_somebody_without_rights() -> Iterator[None]:
    """No rights stop root: so root becomes nobody for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_no_journal_is_made_in_a_folder_that_can_not_be_written() -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "journal.db"
        path.parent.chmod(0o555)
        try:
            with as_somebody_without_rights(), pytest.raises(JournalUnavailable, match=r"journal\.db can't be used"):
                open_journal(path)
        finally:
            path.parent.chmod(0o755)


@pytest.mark.parametrize("create", [True, False], ids=["to write", "to read"])
def test_a_journal_in_a_folder_that_can_not_be_entered_is_not_said_to_be_missing(create: bool) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "team" / "journal.db"
        path.parent.mkdir()
        open_journal(path).close()
        path.parent.parent.chmod(0)
        try:
            with as_somebody_without_rights(), pytest.raises(JournalUnavailable, match=r"\(Permission denied\)"):
                open_journal(path, create=create)
        finally:
            path.parent.parent.chmod(0o755)


def test_a_path_through_a_file_can_not_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalUnavailable, match="check the path"):
        open_journal(tmp_path / "file" / "journal.db")


# Trouble


def test_a_file_that_stays_locked_costs_patience_and_nothing_else(path: Path) -> None:
    with SqliteJournal(path, patience=0.05) as journal, closing(sqlite3.connect(path, isolation_level=None)) as other:
        journal.append("s", said("one"))
        other.execute("BEGIN IMMEDIATE")
        for ask in (lambda: journal.append("s", said("two")), lambda: journal.forget("s")):
            with pytest.raises(JournalUnavailable, match="another process has kept it locked for too long"):
                ask()
        assert words(journal.read("s")) == ["one"]
        other.execute("ROLLBACK")
        journal.append("s", said("three"), 1)
        assert words(journal.read("s")) == ["one", "three"]


def test_a_full_database_takes_nothing_by_half_and_goes_on_once_there_is_room(path: Path) -> None:
    with SqliteJournal(path) as journal:
        journal.append("s", said("one"))
        journal._writer.execute("PRAGMA max_page_count = 20")
        with pytest.raises(JournalUnavailable, match="the disk is full, and this was not written"):
            journal.append("s", said("two", "x" * 100_000))
        assert words(journal.read("s")) == ["one"]
        journal._writer.execute("PRAGMA max_page_count = 1000000")
        journal.append("s", said("three"), 1)
    assert is_sound(path)


def test_a_disk_that_takes_no_more_loses_nothing_that_was_acknowledged(path: Path) -> None:
    """The system refuses to let any file of the process grow, in the middle of its appends."""
    code = """
import resource
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
for number in range(1000):
    try:
        journal.append("s", said(f"{number} a", "x" * 5000, f"{number} b"), 3 * number)
    except JournalUnavailable as error:
        assert "full" in str(error), error
        break
else:
    raise AssertionError("there was room for everything")
print(number)
assert journal.last_seq("s") == 3 * number
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
journal.append("s", said("room again"), 3 * number)
"""
    [number] = run(code, path)
    with open_journal(path) as journal:
        assert journal.last_seq("s") == 3 * int(number) + 1
        assert words(journal.read("s"))[-2:] == [f"{int(number) - 1} b", "room again"]
    assert is_sound(path)


@pytest.mark.parametrize("taken", ["journal.db", "journal.db-wal"])
def test_a_file_that_is_taken_away_is_noticed_by_all_who_use_it(path: Path, taken: str) -> None:
    with open_journal(path) as journal:
        journal.append("s", said("one"))
        following = journal.follow(0, timeout=PATIENCE)
        next(following)
        (path.parent / taken).unlink()
        for ask in (
            lambda: journal.append("s", said("two")),
            lambda: journal.last_seq("s"),
            lambda: journal.keep_snapshot("s", 1, b""),
            lambda: journal.forget("s"),
            lambda: next(following),
        ):
            with pytest.raises(JournalUnavailable, match="deleted or replaced while it was open"):
                until_it_fails(ask)


def until_it_fails(ask: Callable[[], object]) -> None:
    """It may take a moment: files are not looked at every time."""
    end = monotonic() + PATIENCE
    while monotonic() < end:
        ask()


def test_a_journal_that_was_replaced_leaves_its_successor_alone(path: Path) -> None:
    """The last connection deletes the log, by its name; by then that is another journal's."""
    with open_journal(path) as old:
        old.append("s", said("old"))
        for each in path.parent.iterdir():
            each.unlink()
        new = open_journal(path)
        new.append("s", said("new"))
        log = Path(f"{path}-wal").stat().st_ino
    assert Path(f"{path}-wal").stat().st_ino == log
    with new:
        new.append("s", said("newer"))
        assert words(new.read("s")) == ["new", "newer"]


# Forgetting


def traces(folder: Path, *names: str) -> list[str]:
    """The names that are still somewhere in the raw bytes of any file."""
    found = b"".join(each.read_bytes() for each in folder.iterdir() if each.is_file())
    return [name for name in names if name.encode() in found]


def test_nothing_of_a_forgotten_session_is_left_in_the_bytes_of_any_file(path: Path) -> None:
    """Sessions that are interleaved and of all sizes make SQLite move rows between pages, and leave copies behind."""
    sizes = (1, 4, 25, 150, 700)
    with open_journal(path) as journal:
        for number in range(600):
            name = f"<session {number * 7 % 30:02}>"
            journal.append(name, [Stamped(1, name, TurnEnded(name * sizes[number % 5]))])
            if number % 4 == 0:
                journal.keep_snapshot(name, 1, name.encode() * sizes[number % 3 + 1])
        names = [each.id for each in journal.sessions()]
        assert traces(path.parent, *names) == names
        for number, name in enumerate(names):
            journal.forget(name)
            assert traces(path.parent, *names[: number + 1]) == []
        assert journal.sessions() == []


def test_a_journal_that_forgot_leaves_no_log_when_it_closes(path: Path) -> None:
    journal = open_journal(path)
    journal.append("s", said("one"))
    journal.forget("s")
    journal.close()
    assert sorted(each.name for each in path.parent.glob(f"{path.name}*")) == [path.name]


def test_a_session_is_forgotten_while_another_process_follows(path: Path) -> None:
    code = "print('ready', flush=True)\nfor each in journal.follow(0):\n    print(each.recorded.session, flush=True)"
    with open_journal(path) as journal, program(code, path) as follower:
        assert follower.stdout is not None
        assert follower.stdout.readline() == "ready\n"
        journal.append("<secret>", said("<secret>"))
        assert follower.stdout.readline() == "<secret>\n"
        journal.forget("<secret>")
        assert traces(path.parent, "<secret>") == []
        journal.append("other", said("one"))
        assert follower.stdout.readline() == "other\n"


def test_a_reader_who_keeps_the_log_in_use_is_reported_and_the_next_try_cleans_it(path: Path) -> None:
    with SqliteJournal(path, patience=0.1) as journal, closing(sqlite3.connect(path, isolation_level=None)) as other:
        journal.append("<secret>", said("<secret>"))
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM events").fetchone()
        with pytest.raises(JournalUnavailable, match=r"traces may be left in .* \(another process keeps the log"):
            journal.forget("<secret>")
        assert journal.last_seq("<secret>") == 0
        other.execute("COMMIT")
        journal.forget("<secret>")
        assert traces(path.parent, "<secret>") == []


# Interrupted


def test_an_interrupt_in_the_middle_of_a_commit_leaves_a_journal_that_works(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def insert_and_be_interrupted(*given: Any) -> None:
        insert(*given)
        raise KeyboardInterrupt

    with SqliteJournal(path) as journal:
        journal.append("s", said("one"))
        with monkeypatch.context() as patched:
            patched.setattr(sqlite_rows, "insert", insert_and_be_interrupted)
            with pytest.raises(KeyboardInterrupt):
                journal.append("s", said("two"))
        assert words(journal.append("s", said("three"), 1)) == ["three"]
        assert [each.recorded.seq for each in heard(journal)] == [1, 2]


class Interrupted(sqlite3.Connection):
    """A connection on which an interrupt comes while a transaction begins, which it does all the same."""

    class Cursor(sqlite3.Cursor):
        def execute(self, statement: str, *parameters: Any) -> "Interrupted.Cursor":
            super().execute(statement, *parameters)
            if statement == "BEGIN IMMEDIATE":
                raise KeyboardInterrupt
            return self

    def cursor(self, *_: Any) -> Any:
        return super().cursor(Interrupted.Cursor)


def test_an_interrupt_while_a_transaction_begins_keeps_no_lock_on_the_file(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, factory=Interrupted)) as connection:
        with pytest.raises(KeyboardInterrupt), transaction(connection, 1):
            raise AssertionError("it began")
        assert not connection.in_transaction


def test_interrupts_at_any_moment_leave_nobody_waiting_for_ever(path: Path) -> None:
    storm = """
import signal, threading, time
signal.signal(signal.SIGALRM, signal.default_int_handler)
ending = threading.Event()
def write(session):
    while not ending.is_set():
        try:
            journal.append(session, said("theirs"))
        except JournalUnavailable:  # whoever wrote for all was interrupted
            pass
writers = [threading.Thread(target=write, args=(f"writer {number}",)) for number in range(2)]
for writer in writers:
    writer.start()
came, end = 0, time.monotonic() + 20
while came < 400 and time.monotonic() < end:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.00005 * (came % 40 + 1))
        while True:
            journal.append("main", said("mine"))
    except (KeyboardInterrupt, JournalUnavailable):
        came += 1
signal.signal(signal.SIGALRM, signal.SIG_IGN)
ending.set()
for writer in writers:
    writer.join()
journal.append("main", said("last"))
journal.close()
print(came)
"""
    [came] = run(storm, path)
    assert int(came) > 100
    with open_journal(path) as journal:
        assert words(journal.read("main"))[-1] == "last"
        assert [each.seq for each in journal.read("main")] == [*range(1, journal.last_seq("main") + 1)]


# Drafts and links


def kill_while_creating(path: Path, moment: str) -> None:
    """A process that is killed at a moment of the creation of a journal."""
    code = f"""
import os, signal
from planwire.journal.sqlite import drafts as sqlite_drafts
from planwire.journal.sqlite import file as sqlite_file
{moment} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
open_journal(sys.argv[2])
"""
    with program(code, path.with_name("another.db"), path) as process:
        assert process.wait(PATIENCE) == -signal.SIGKILL


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir() if "another" not in each.name}


def test_the_draft_of_a_killed_creator_is_swept_once_it_is_old_and_not_before(path: Path) -> None:
    kill_while_creating(path, "sqlite_drafts.JournalDraft.take_name")
    [draft] = names(path.parent)
    assert draft.startswith(".journal.db.")
    open_journal(path).close()
    assert names(path.parent) == {draft, "journal.db"}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sqlite_drafts, "time", lambda: time() + 90)
        with closing(sqlite3.connect(path.parent / draft, isolation_level=None)) as maker:
            maker.execute("BEGIN EXCLUSIVE")
            run("import planwire.journal.sqlite.drafts as d; d._OLD = -1; d.sweep_drafts(journal.path)", path)
            assert draft in names(path.parent)
        open_journal(path).close()
    assert names(path.parent) == {"journal.db"}


def test_a_draft_that_is_the_journal_already_loses_its_second_name_at_once(path: Path) -> None:
    kill_while_creating(path, "sqlite_drafts._remove")
    assert len(names(path.parent)) == 2
    with open_journal(path) as journal:
        assert names(path.parent) == {"journal.db", "journal.db-wal", "journal.db-shm"}
        journal.append("s", said("one"))


def test_files_that_only_look_like_drafts_stay(path: Path) -> None:
    others = {".journal.db.swp", ".journal.db.0123456", ".other.db.01234567", "journal.db.01234567"}
    for name in others:
        (path.parent / name).touch()
        os.utime(path.parent / name, (0, 0))
    open_journal(path).close()
    assert names(path.parent) == others | {"journal.db"}


@pytest.mark.parametrize("opened", [open_journal, SqliteJournal])
def test_a_link_that_leads_nowhere_is_refused_and_nothing_is_made_at_its_end(
    tmp_path: Path, opened: Callable[[Path], object]
) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "missing" / "journal.db")
    with pytest.raises(NoJournal, match=r"it is a link to .*missing/journal\.db, and nothing is there\. Nothing was"):
        opened(link)
    assert names(tmp_path) == {"link.db"}
