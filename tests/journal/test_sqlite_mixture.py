"""The write-ahead log beside a journal: its own one is applied, whatever happened. A mixture is not written."""

import random
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from planwire.errors import DamagedJournal, JournalUnavailable
from planwire.journal import Journal, open_journal
from planwire.journal.restoring import restore_file
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.journal.verifying import verify
from tests.journal.test_contract import said, words
from tests.journal.test_damage import PAGE, change, contents
from tests.journal.test_sqlite import is_sound, program

Backup = Callable[[Path, Path], None]


def by_copying(path: Path, to: Path) -> None:
    shutil.copy(path, to)


def by_sqlite(path: Path, to: Path) -> None:
    with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(to)) as other:
        one.backup(other)


def by_vacuum(path: Path, to: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("VACUUM INTO ?", (str(to),))


every_backup = pytest.mark.parametrize("back_up", [by_copying, by_sqlite, by_vacuum])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "live").mkdir()
    return tmp_path / "live" / "journal.db"


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    return tmp_path / "backup.db"


def write(path: Path, *texts: str) -> None:
    """A process that ends in peace: nothing is left in the log."""
    with open_journal(path) as journal:
        journal.append("s", said(*texts))
    assert not Path(f"{path}-wal").exists()


def crash(path: Path, *texts: str) -> None:
    """A process that appends, one commit a text, and dies: what it wrote is in the log only."""
    journal = open_journal(path)
    for text in texts:
        journal.append("s", said(text))
    left = {name: Path(name).read_bytes() for name in (str(path), f"{path}-wal", f"{path}-shm")}
    journal.close()
    for name, data in left.items():
        Path(name).write_bytes(data)


def many(word: str, number: int = 30) -> list[str]:
    return [f"{word} {each} {'x' * 500}" for each in range(number)]


def files(path: Path) -> list[bytes]:
    return [Path(f"{path}{ending}").read_bytes() for ending in ("", "-wal")]


def says_that_it_is_mixed(journal: Journal) -> bool:
    """What `planwire journal verify` says, unless SQLite can't even list the sessions."""
    try:
        return any("don't fit together" in each.words for each in verify(journal).troubles)
    except DamagedJournal:
        return True


def is_not_written(path: Path) -> None:
    """It can be opened and verified; nothing is written and nothing moved, whoever closes it last."""
    before = files(path)
    for _ in range(2):
        with open_journal(path) as journal:
            assert says_that_it_is_mixed(journal)
            with pytest.raises(JournalUnavailable, match=r"journal\.db-wal don't fit together: .*nothing was changed"):
                journal.append("s", said("into nowhere"))
    with pytest.raises(DamagedJournal, match="don't fit together"):
        SqliteJournal(path)
    assert files(path) == before


def opens_once_the_log_is_moved_away(path: Path, expected: list[str]) -> None:
    for ending in ("-wal", "-shm"):
        Path(f"{path}{ending}").unlink()
    with open_journal(path) as journal:
        assert words(journal.read("s")) == expected
    assert is_sound(path)


# Not its own


@every_backup
def test_an_older_backup_beside_the_log_of_its_successor_is_not_written(
    path: Path, backup: Path, back_up: Backup
) -> None:
    write(path, *many("kept"))
    back_up(path, backup)
    write(path, *many("later"))
    crash(path, *many("lost"))
    shutil.copy(backup, path)
    is_not_written(path)
    opens_once_the_log_is_moved_away(path, many("kept"))


def test_a_backup_that_lacks_only_what_the_log_has_is_made_whole(path: Path, backup: Path) -> None:
    """Every page that the two differ in is in the log."""
    write(path, *many("kept"))
    shutil.copy(path, backup)
    write(path, "one more")
    crash(path, "the last")
    shutil.copy(backup, path)
    with SqliteJournal(path) as journal:
        assert words(journal.read("s")) == [*many("kept"), "one more", "the last"]
        assert verify(journal).troubles == []
    assert is_sound(path)


def test_a_backup_in_another_order_of_pages_is_not_written_even_if_its_events_are_those_that_the_log_begins_with(
    path: Path, backup: Path
) -> None:
    with open_journal(path) as journal:
        for text in many("kept"):
            journal.append("s", said(text))
            journal.keep_snapshot("s", 1, text.encode() * 20)
    by_vacuum(path, backup)
    crash(path, *many("lost"))
    shutil.copy(backup, path)
    is_not_written(path)
    opens_once_the_log_is_moved_away(path, many("kept"))


def test_a_vacuumed_backup_from_the_time_of_the_log_is_not_written(path: Path, backup: Path) -> None:
    write(path, *many("kept"))
    journal = open_journal(path)
    journal.append("s", said(*many("early")))
    by_vacuum(path, backup)
    journal.append("s", said(*many("late")))
    left = contents(path.parent)
    journal.close()
    for name, data in left.items():
        (path.parent / name).write_bytes(data)
    shutil.copy(backup, path)
    is_not_written(path)


@every_backup
def test_a_newer_backup_beside_an_older_log_is_not_written(path: Path, backup: Path, back_up: Backup) -> None:
    write(path, *many("kept"))
    crash(path, *many("more"))
    log = Path(f"{path}-wal").read_bytes()
    write(path, *many("later"))
    back_up(path, backup)
    shutil.copy(backup, path)
    Path(f"{path}-wal").write_bytes(log)
    Path(f"{path}-shm").write_bytes(b"")
    is_not_written(path)
    opens_once_the_log_is_moved_away(path, [*many("kept"), *many("more"), *many("later")])


@every_backup
def test_the_backup_of_another_journal_is_not_written(
    path: Path, backup: Path, tmp_path: Path, back_up: Backup
) -> None:
    write(tmp_path / "other.db", *many("theirs"))
    back_up(tmp_path / "other.db", backup)
    write(path, *many("ours"))
    crash(path, *many("lost"))
    shutil.copy(backup, path)
    is_not_written(path)
    opens_once_the_log_is_moved_away(path, many("theirs"))


def test_a_log_that_a_kill_left_behind_is_not_written_beside_a_backup(path: Path, backup: Path) -> None:
    write(path, *many("kept"))
    shutil.copy(path, backup)
    write(path, *many("later"))
    code = "journal.append('s', said('lost'))\nprint('ready', flush=True)\nsys.stdin.read()"
    with program(code, path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGKILL)
    shutil.copy(backup, path)
    is_not_written(path)


@pytest.mark.parametrize("snapshots", [False, True], ids=["appends only", "with snapshots"])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_backup_from_an_earlier_round_of_the_log_of_one_long_life_is_not_written(
    path: Path, backup: Path, rounds: int, snapshots: bool
) -> None:
    """One process that never stops: its log is copied to the file and starts over, again and again."""

    def salts() -> bytes:
        return Path(f"{path}-wal").read_bytes()[16:24]

    def write_a_round() -> None:
        before = salts()
        while salts() == before:
            journal.append("s", said("x" * 40_000))
            if snapshots:
                journal.keep_snapshot("s", 1, b"x" * 5_000)

    journal = open_journal(path)
    journal.append("s", said("first"))
    write_a_round()
    shutil.copy(path, backup)
    held = journal.last_seq("s")
    for _ in range(rounds):
        write_a_round()
    journal.append("s", said("last"))
    left = contents(path.parent)
    everything = journal.last_seq("s")
    journal.close()
    for name, data in left.items():
        (path.parent / name).write_bytes(data)
    shutil.copy(backup, path)
    is_not_written(path)
    (path.parent / "journal.db").write_bytes(left["journal.db"])
    with open_journal(path) as again:
        assert again.last_seq("s") == everything > held


def test_a_backup_is_restored_in_the_place_of_a_mixture_which_is_kept_as_it_is(path: Path, backup: Path) -> None:
    write(path, *many("kept"))
    shutil.copy(path, backup)
    write(path, *many("later"))
    crash(path, *many("lost"))
    shutil.copy(backup, path)
    mixed = files(path)
    kept = restore_file(backup, path, "before")
    assert kept is not None
    assert files(kept) == mixed
    with SqliteJournal(path) as journal:
        assert words(journal.read("s")) == many("kept")


# Its own


def test_what_twenty_processes_acknowledged_before_they_were_killed_is_there(path: Path) -> None:
    """Large events: the log is copied to the file, and begins anew, again and again."""
    code = """
import os
for number in range(10**9):
    word = f"{sys.argv[2]} {number} " + "x" * 12_000
    journal.append("s", said(word))
    os.write(1, f"{word[:20]}\\n".encode())
"""
    draw = random.Random(7)
    acknowledged: set[str] = set()
    for life in range(20):
        with program(code, path, life) as process:
            assert process.stdout is not None
            acknowledged |= {process.stdout.readline().strip() for _ in range(draw.randrange(5, 120))}
            process.send_signal(signal.SIGKILL)
            acknowledged |= {line.strip() for line in process.stdout if line.endswith("\n")}
        with open_journal(path) as journal:
            assert acknowledged <= {word[:20].strip() for word in words(journal.read("s"))}
    assert is_sound(path)


@pytest.mark.parametrize("forgets", [False, True], ids=["appends", "a session is forgotten"])
def test_a_file_into_which_half_of_the_log_was_copied_is_opened_and_whole(
    tmp_path: Path, forgets: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint copies the pages in their order. Wherever it stopped, nothing is lost."""
    path = tmp_path / "journal.db"
    with open_journal(path) as journal:
        journal.append("gone", said(*many("gone")))
        journal.append("s", said(*many("kept")))
    journal = SqliteJournal(path)
    journal._writer.execute("PRAGMA wal_autocheckpoint = 0")
    journal.append("s", said(*many("more")))
    if forgets:
        monkeypatch.setattr(journal, "_patience", 0.01)
        with closing(sqlite3.connect(path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchone()  # so that all of it stays in the log
            with pytest.raises(JournalUnavailable, match="traces may be left"):
                journal.forget("gone")
    journal.append("s", said("last"))
    base, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    journal.close()
    final = path.read_bytes()
    for copied in range(len(final) // PAGE + 1):
        half = tmp_path / f"half {copied}"
        half.mkdir()
        end = copied * PAGE
        (half / "journal.db").write_bytes(final[:end] + base[end:])
        (half / "journal.db-wal").write_bytes(log)
        with open_journal(half / "journal.db") as again:
            assert words(again.read("s")) == [*many("kept"), *many("more"), "last"]
            assert again.last_seq("gone") == (0 if forgets else 30)


@pytest.mark.parametrize("left", [b"", b"x" * 31, b"no log at all " * 500])
def test_a_log_that_holds_nothing_is_no_reason_to_refuse(path: Path, left: bytes) -> None:
    write(path, *many("kept"))
    Path(f"{path}-wal").write_bytes(left)
    with open_journal(path) as journal:
        assert words(journal.read("s")) == many("kept")


def test_what_another_program_wrote_into_the_log_is_believed(path: Path) -> None:
    write(path, *many("kept"))
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        theirs.execute("INSERT INTO sessions (id) VALUES ('theirs')")
        left = contents(path.parent)
    assert left["journal.db-wal"]
    for name, data in left.items():
        (path.parent / name).write_bytes(data)
    with open_journal(path):
        pass
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM sessions WHERE id = 'theirs'").fetchone() == (1,)


def test_a_log_that_another_program_began_is_applied(path: Path) -> None:
    write(path, *many("kept"))
    with open_journal(path) as journal:
        change(
            path, "INSERT INTO events SELECT 31, session, 31, at, by, event, checksum, link FROM events WHERE seq = 1"
        )
        change(path, "INSERT INTO sessions (id) VALUES ('theirs')")
        change(path, "VACUUM")
        journal.append("mine", said("here"))
        left = contents(path.parent)
    for name, data in left.items():
        (path.parent / name).write_bytes(data)
    with open_journal(path) as journal:
        assert [journal.last_seq("s"), journal.last_seq("mine")] == [31, 1]


def test_a_log_that_holds_only_the_second_of_two_vacuums_is_applied(path: Path) -> None:
    with open_journal(path) as journal:
        journal.append("s", said(*many("kept")))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:  # as two who forget at once do it
            for _ in range(2):
                other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                other.execute("VACUUM")
        left = contents(path.parent)
        with open_journal(path) as same:
            assert same.last_seq("s") == 30
        journal.append("s", said("behind them"))
    for name, data in left.items():
        (path.parent / name).write_bytes(data)
    with open_journal(path) as journal:
        assert journal.last_seq("s") == 30


def test_a_journal_in_which_others_write_is_opened_whenever_one_looks(path: Path) -> None:
    code = """
print("ready", flush=True)
for number in range(10**9):
    journal.append(f"s{number % 7}", said("x" * 6_000))
"""
    with program(code, path) as one, program(code, path) as other:
        for process in (one, other):
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for _ in range(60):
            with open_journal(path) as journal:
                journal.append("mine", said("here"))
    with open_journal(path) as journal:
        assert journal.last_seq("mine") == 60
