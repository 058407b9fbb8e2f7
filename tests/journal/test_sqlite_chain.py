"""The chain of hashes in a SQLite file: new ones have it, older ones get it, and older planwires don't mind it."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from planwire.journal import Once, StoredAppend, StoredEvent, open_journal
from planwire.journal.chain import NO_LINK, link
from planwire.journal.sqlite.chain import has_column
from planwire.journal.verifying import verify
from tests.journal.test_contract import said, words
from tests.journal.test_stored import stored

RELEASED = Path(__file__).parent / "released"
#: What a planwire without links does to write an event.
OLDER = "INSERT INTO events (session, seq, at, by, event, checksum) VALUES (?, ?, ?, ?, ?, ?)"


def has_links(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return has_column(connection)


def test_an_older_journal_gets_links_with_its_next_append_and_none_by_being_read(tmp_path: Path) -> None:
    for release in sorted(RELEASED.iterdir()):
        path = Path(shutil.copy(release / "journal.db", tmp_path / f"{release.name}.db"))
        with open_journal(path) as journal:
            session = journal.sessions()[0].id
            before = stored(journal, session)
            assert verify(journal).troubles == []
            assert not has_links(path)
            journal.append(session, said("new"))
            *old, new = stored(journal, session)
        assert has_links(path)
        assert old == before
        assert {each.link for each in old} == {None}
        assert new.link == link(NO_LINK, session, new.seq, new.at, new.by, new.text)


def test_an_older_planwire_goes_on_writing_and_the_chain_begins_anew_behind_it(path: Path) -> None:
    with open_journal(path) as journal:
        journal.append("s", said("one"))
        [event] = stored(journal, "s")
        with closing(sqlite3.connect(path, isolation_level=None)) as older:
            older.execute(OLDER, (1, 2, event.at, event.by, event.text.decode(), _checksum(2, event)))
        assert words(journal.append("s", said("three", "four"))) == ["three", "four"]
        assert words(journal.read("s")) == ["one", "one", "three", "four"]
        [check] = verify(journal).sessions
    assert (check.events, check.linked, check.begins, check.troubles) == (4, 3, [1, 3], [])


def _checksum(seq: int, event: StoredEvent) -> int:
    from planwire.journal.sqlite.rows import checksum

    return checksum("s", seq, event.at, event.by, event.text)


def test_a_long_append_with_a_key_stays_together_across_pages(path: Path) -> None:
    with open_journal(path) as journal:
        journal.append("s", said("one"))
        journal.append("s", said(*map(str, range(2_500))), once=Once("page", 1))
        journal.append("s", said(*map(str, range(2_500))))
        appends = list(journal.stored("s"))
    keyed = [each for each in appends if each.once]
    assert [len(each.events) for each in keyed] == [2_500]
    assert sum(len(each.events) for each in appends) == 5_001
    assert max(len(each.events) for each in appends if not each.once) <= 1_000


def test_an_event_that_is_no_text_is_carried_as_it_is(path: Path) -> None:
    odd = StoredEvent(1, 1, "agent", b"\xff\x00\xfe", None)
    with open_journal(path) as journal:
        journal.store("s", [StoredAppend((odd,))])
        assert stored(journal, "s") == [odd]
