"""Files that are not what they should be: a clear error, and every byte stays where it is."""

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planwire.errors import DamagedJournal, JournalError, NewerJournal, NotAJournal
from planwire.journal import Once, Snapshot, open_journal
from planwire.journal.format import FORMAT
from planwire.journal.sqlite.file import APPLICATION_ID
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.model.events import Recorded
from tests.journal.test_contract import heard, said, words

PAGE = 4096


def write_journal(path: Path) -> list[Recorded]:
    """A journal of several pages, at rest: no log beside it."""
    with open_journal(path) as journal:
        for number in range(6):
            events = said(*(f"event {number} {n} " + "x" * 150 for n in range(15)))
            journal.append(f"session {number % 3}", events, once=Once("a page", number))
        journal.keep_snapshot("session 0", 9, b"y" * 3_000)
        return [each.recorded for each in heard(journal)]


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def change(path: Path, statement: str) -> None:
    """As another program would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def test_a_text_is_no_journal_however_short(path: Path) -> None:
    for text in ("x", "SQLite format 3\0", "a text\n" * 5, "a longer text\n" * 5_000):
        path.write_text(text)
        before = contents(path.parent)
        with pytest.raises(NotAJournal, match=r"is not a planwire journal: .*It was left as it is: name another file"):
            open_journal(path)
        assert contents(path.parent) == before


def test_a_folder_is_no_journal(tmp_path: Path) -> None:
    with pytest.raises(NotAJournal, match="not a regular file"):
        open_journal(tmp_path)


def test_an_empty_file_is_not_taken_for_a_new_journal(path: Path) -> None:
    path.touch()
    with pytest.raises(DamagedJournal, match="it is empty"):
        open_journal(path)
    assert contents(path.parent) == {"journal.db": b""}


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_somebody_elses_database_keeps_even_the_log_that_a_crash_left_behind(tmp_path: Path, mode: str) -> None:
    with closing(sqlite3.connect(tmp_path / "theirs.db", isolation_level=None)) as theirs:
        theirs.execute(f"PRAGMA journal_mode = {mode}")
        theirs.execute("CREATE TABLE events (position INTEGER PRIMARY KEY, event TEXT)")
        theirs.execute("INSERT INTO events (event) VALUES ('precious')")
        crashed = tmp_path / "crashed"
        crashed.mkdir()
        for each in tmp_path.glob("theirs.db*"):
            shutil.copy(each, crashed)
    before = contents(crashed)
    with pytest.raises(NotAJournal, match="a SQLite database of another program"):
        open_journal(crashed / "theirs.db")
    assert contents(crashed) == before


def test_a_journal_of_a_newer_format_stays_as_it_is(path: Path) -> None:
    write_journal(path)
    change(path, "PRAGMA user_version = 99")
    before = contents(path.parent)
    with pytest.raises(NewerJournal, match=r"has format 99, and this planwire knows format 1: upgrade planwire"):
        open_journal(path)
    assert contents(path.parent) == before


def test_a_process_that_is_left_behind_by_a_newer_format_stops_reading_and_writing(path: Path) -> None:
    with open_journal(path) as journal:
        journal.append("s", said("one"))
        change(path, "PRAGMA user_version = 99")
        for ask in (
            lambda: journal.append("s", said("two")),
            lambda: journal.last_seq("s"),
            lambda: journal.keep_snapshot("s", 1, b""),
            lambda: journal.forget("s"),
            lambda: open_journal(path),
        ):
            with pytest.raises(NewerJournal):
                ask()
        change(path, f"PRAGMA user_version = {FORMAT}")
        assert words(journal.read("s")) == ["one"]


def test_a_process_that_is_left_behind_by_a_newer_format_can_close_its_journal(path: Path) -> None:
    with SqliteJournal(path) as journal, closing(sqlite3.connect(path)) as newer:
        journal.lease("s")
        newer.execute("PRAGMA user_version = 99")
        newer.execute("PRAGMA wal_checkpoint")
    with closing(sqlite3.connect(path)) as newer:
        assert newer.execute("SELECT count(*) FROM leases").fetchone() == (1,)
    assert not Path(f"{path}-wal").exists()


@pytest.mark.parametrize("version", [0, -1])
def test_a_format_that_never_was_is_damage(path: Path, version: int) -> None:
    write_journal(path)
    change(path, f"PRAGMA user_version = {version}")
    with pytest.raises(DamagedJournal, match=f"its format is {version}"):
        open_journal(path)


def test_a_crash_in_the_middle_of_a_checkpoint_is_no_damage(tmp_path: Path) -> None:
    """The first page says already how large the file will be, the log still has the rest: nothing is lost."""
    path, crashed = tmp_path / "journal.db", tmp_path / "crashed.db"
    with open_journal(path) as journal:
        journal.append("s", said(*["x" * 1_000] * 50))
        shutil.copy(path, crashed)
        shutil.copy(f"{path}-wal", f"{crashed}-wal")
    whole, part = path.read_bytes(), crashed.read_bytes()
    assert len(part) < len(whole)
    crashed.write_bytes(whole[:PAGE] + part[PAGE:])
    with open_journal(crashed) as journal:
        assert journal.last_seq("s") == 50
        assert len(list(journal.read("s"))) == 50


def test_a_journal_that_was_switched_to_another_mode_gets_its_log_back(path: Path) -> None:
    events = write_journal(path)
    change(path, "PRAGMA journal_mode = DELETE")
    with open_journal(path) as journal:
        assert [each.recorded for each in heard(journal)] == events
        journal.append("s", said("more"))
        assert (path.parent / "journal.db-wal").exists()


def test_a_journal_without_its_tables_is_noticed_when_it_is_opened(path: Path) -> None:
    write_journal(path)
    change(path, "DROP TABLE events")
    with pytest.raises(DamagedJournal, match="no such table: events"):
        open_journal(path)


def test_a_row_that_is_missing_or_was_changed_is_noticed(path: Path) -> None:
    write_journal(path)
    statements = {
        "UPDATE events SET event = replace(event, 'event 0 3', 'event 0 4') WHERE position = 4": "event 4 of session",
        "UPDATE events SET at = at + 1 WHERE position = 4": "event 4 of session",
        "UPDATE events SET event = CAST(x'ff' AS TEXT) WHERE position = 4": "event 4 of session",
        "UPDATE events SET by = CAST(x'ff' AS TEXT) WHERE position = 4": "Could not decode to UTF-8",
        "DELETE FROM events WHERE position = 4": "event 4 of session 'session 0' is missing",
    }
    whole = path.read_bytes()
    for statement, complaint in statements.items():
        path.write_bytes(whole)
        change(path, statement)
        with open_journal(path) as journal, pytest.raises(DamagedJournal, match=complaint):
            list(journal.read("session 0"))


@pytest.mark.parametrize("damage", ["after = 0", "last = 29", "after = 'x'", "last = x'ff'", "checksum = 1"])
def test_a_key_for_other_events_than_its_own_is_noticed(path: Path, damage: str) -> None:
    write_journal(path)
    change(path, f"UPDATE once SET {damage} WHERE n = 3")
    with open_journal(path) as journal:
        with pytest.raises(DamagedJournal, match="the key 3 of 'a page' is not as it was written"):
            journal.append("session 0", said("again"), once=Once("a page", 3))
        assert journal.last_seq("session 0") == 30
        assert len(journal.append("session 0", said("again"), once=Once("a page", 0))) == 15


def use(path: Path, events: list[Recorded]) -> None:
    """All that can be done with a journal. Whatever fails, fails with an error of the journal's own; whatever is read
    is as it was written."""
    written = {(each.session, each.seq): each for each in events}

    def read() -> None:
        for session in {each.session for each in events}:
            for each in journal.read(session):
                assert each == written[session, each.seq]

    def open_long() -> None:
        assert journal.snapshot("session 0") in (None, Snapshot(9, b"y" * 3_000))

    def follow() -> None:
        for each in heard(journal):
            assert each.recorded == written[each.recorded.session, each.recorded.seq]

    def append() -> None:
        [more] = journal.append("session 1", said("more"))
        assert list(journal.read("session 1", more.seq - 1)) == [more]

    def repeat() -> None:
        """A key that was damaged may be unknown: then the append is another one."""
        for number in range(6):
            session = f"session {number % 3}"
            again = journal.append(session, said("again"), once=Once("a page", number))
            first = [each for each in events if words([each])[0].startswith(f"event {number} ")]
            assert words(again) == ["again"] or list(again) == first

    with suppress(JournalError), open_journal(path) as journal:
        for step in (read, open_long, follow, repeat, append, journal.sessions, lambda: journal.forget("session 2")):
            with suppress(JournalError):
                step()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[Recorded]]:
    path = tmp_path_factory.mktemp("sound") / "journal.db"
    events = write_journal(path)
    return path.read_bytes(), events


def damaged_copy(folder: str, data: bytes) -> Path:
    path = Path(folder) / "journal.db"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "change_to",
    [
        "data = CAST(replace(CAST(data AS TEXT), 'Ship', 'Skip') AS BLOB)",
        "data = CAST(data AS TEXT)",
        "data = 7",
        "data = ''",
        "seq = 2",
        "name = 'other'",
        "session = 2",
    ],
)
def test_a_snapshot_that_was_changed_counts_as_none(path: Path, change_to: str) -> None:
    with SqliteJournal(path) as journal:
        for session in ("s", "t"):
            journal.append(session, said("one", "two"))
        journal.keep_snapshot("s", 1, b"Ship it")
        assert journal.snapshot("s") == Snapshot(1, b"Ship it")
    change(path, f"UPDATE snapshots SET {change_to}")
    with SqliteJournal(path) as journal:
        found = [journal.snapshot(session, name) for session in ("s", "t") for name in ("state", "other")]
        assert found in ([None] * 4, [Snapshot(1, b"Ship it"), None, None, None])
        journal.keep_snapshot("s", 2, b"Done")
        assert journal.snapshot("s") == Snapshot(2, b"Done")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_flipped_bit_changes_an_event_in_silence(sound: tuple[bytes, list[Recorded]], data: st.DataObject) -> None:
    whole, events = sound
    place = data.draw(st.integers(0, len(whole) * 8 - 1) | st.integers(0, 128 * 8))
    flipped = bytearray(whole)
    flipped[place // 8] ^= 1 << place % 8
    with TemporaryDirectory() as folder:
        use(damaged_copy(folder, bytes(flipped)), events)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_page_of_zeros_is_an_error_or_harms_no_event(
    sound: tuple[bytes, list[Recorded]], data: st.DataObject
) -> None:
    whole, events = sound
    page = data.draw(st.integers(0, len(whole) // PAGE - 1)) * PAGE
    with TemporaryDirectory() as folder:
        use(damaged_copy(folder, whole[:page] + bytes(PAGE) + whole[page + PAGE :]), events)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_truncated_file_is_refused_and_stays_as_it_is(
    sound: tuple[bytes, list[Recorded]], data: st.DataObject
) -> None:
    whole, _ = sound
    length = data.draw(st.integers(1, len(whole) - PAGE) | st.integers(1, len(whole) // PAGE - 1).map(PAGE.__mul__))
    with TemporaryDirectory() as folder:
        path = damaged_copy(folder, whole[:length])
        with pytest.raises((DamagedJournal, NotAJournal), match="left as it is"):
            open_journal(path)
        assert contents(Path(folder)) == {"journal.db": whole[:length]}


def test_the_mark_of_a_journal_is_where_other_programs_look_for_it(path: Path) -> None:
    write_journal(path)
    assert path.read_bytes()[68:72] == APPLICATION_ID.to_bytes(4) == b"plan"
