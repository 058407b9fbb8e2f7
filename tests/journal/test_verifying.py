"""Whether a journal is as it was written: what verify finds in a SQLite file that somebody else has changed."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from planwire.errors import JournalError
from planwire.journal import Journal, Once, StoredAppend, StoredEvent, load_state, open_journal
from planwire.journal.checked import PositionCheck
from planwire.journal.copying import copy_journal
from planwire.journal.verifying import SessionCheck, check_session, verify
from tests.journal.test_contract import said
from tests.journal.test_damage import change
from tests.journal.test_stored import stored


@pytest.fixture
def written(path: Path) -> Path:
    with open_journal(path) as journal:
        for number in range(10):
            journal.append("s", said(f"word {number}"), once=Once("page", number) if number % 2 else None)
        journal.append("other", said("one", "two"))
    return path


def found(path: Path) -> list[tuple[str | None, int | None]]:
    with open_journal(path) as journal:
        verified = verify(journal)
    assert all("\n" not in each.words for each in verified.troubles)
    return [(each.session, each.seq) for each in verified.troubles]


def test_a_sound_journal_of_any_engine_has_no_troubles(journal: Journal) -> None:
    journal.append("s", said("one", "two"))
    journal.append("s", said("three"), once=Once("page", 1))
    journal.append("t", said("one"))
    journal.thoughts.forget("s")
    journal.forget("t")
    told: list[int] = []
    verified = verify(journal, heard=lambda check: told.append(check.events))
    assert verified.troubles == []
    [check] = verified.sessions
    assert (check.session, check.events) == ("s", 3)
    assert told[-1] == 3


@pytest.mark.parametrize(
    ("harm", "where"),
    [
        ("UPDATE events SET event = replace(event, 'word 4', 'word 5') WHERE seq = 5", [("s", 5)]),
        ("UPDATE events SET at = at + 1 WHERE seq = 5", [("s", 5)]),
        ("UPDATE events SET by = 'user' WHERE seq = 5", [("s", 5)]),
        ("DELETE FROM events WHERE seq = 5", [("s", 5)]),
        ("DELETE FROM events WHERE seq IN (5, 6) AND session = 1", [("s", 5)]),
        ("DELETE FROM events WHERE session = 1 AND seq = 1", [("s", 1)]),
        (
            "UPDATE events SET seq = CASE seq WHEN 5 THEN -6 ELSE -5 END WHERE seq IN (5, 6)",
            [("s", 5), ("s", 6), ("s", 7)],
        ),
        ("UPDATE events SET link = randomblob(32) WHERE seq = 5", [("s", 5), ("s", 6)]),
        ("UPDATE events SET link = NULL WHERE seq = 5", [("s", 5), ("s", 6)]),
        ("UPDATE events SET checksum = 1 WHERE seq = 5", [("s", 5)]),
        ("UPDATE events SET position = 999 WHERE seq = 5 AND session = 1", [("s", 5)]),
        ("UPDATE events SET position = -1 WHERE seq = 1 AND session = 1", [("s", 1)]),
        ("UPDATE once SET last = 99 WHERE n = 9", [(None, None), (None, None)]),
        ("INSERT INTO sessions (id) VALUES ('empty')", [("empty", None)]),
        ("DELETE FROM sessions WHERE id = 'other'", [(None, None), (None, None)]),
    ],
)
def test_a_change_a_hole_and_a_swap_are_found(
    written: Path, harm: str, where: list[tuple[str | None, int | None]]
) -> None:
    assert found(written) == []
    change(written, harm)
    if "CASE" in harm:
        change(written, "UPDATE events SET seq = -seq WHERE seq < 0")
    assert found(written) == where


@pytest.mark.parametrize(
    ("harm", "where"),
    [
        ("UPDATE events SET link = 'abc' WHERE seq = 5", [("s", 5), ("s", 6)]),
        ("UPDATE events SET link = 3 WHERE seq = 10", [("s", 10)]),
        ("UPDATE events SET by = x'ff' WHERE seq = 10", [("s", 10)]),
        ("UPDATE events SET at = 'abc' WHERE session = 1 AND seq IN (1, 10)", [("s", 1), ("s", 10)]),
        ("UPDATE events SET seq = 'abc' WHERE seq = 10", [("s", None), ("s", None)]),
        ("UPDATE events SET checksum = 'abc' WHERE seq = 10", [("s", 10)]),
        ("UPDATE sessions SET id = x'ff' WHERE id = 'other'", [(None, None), (None, None)]),
        ("UPDATE once SET source = x'ff', after = 'abc' WHERE n = 9", [(None, None)]),
    ],
)
def test_a_value_of_another_type_is_found_and_costs_nobody_more_than_an_error(
    written: Path, harm: str, where: list[tuple[str | None, object]]
) -> None:
    change(written, harm)
    assert found(written) == where
    with open_journal(written) as journal, open_journal("memory:") as target:
        uses: tuple[Callable[[], object], ...] = (
            lambda: [msgspec.json.encode(each) for each in journal.sessions()],
            lambda: [*journal.read("s")],
            lambda: [*journal.read("s", 9)],
            lambda: [*journal.follow(0, timeout=0)],
            lambda: [*journal.stored("s")],
            lambda: load_state(journal, "s"),
            lambda: journal.append("s", said("more"), once=Once("page", 9)),
            lambda: journal.append("s", said("more")),
            lambda: copy_journal(journal, target),
        )
        for use in uses:
            with suppress(JournalError):
                use()


def test_a_change_with_a_checksum_to_match_is_found_by_its_link(written: Path) -> None:
    """Whoever knows the format can make a checksum; no link before the end of the chain can be made to fit."""
    from planwire.journal.sqlite.rows import checksum

    with open_journal(written) as journal:
        event = stored(journal, "s", 4)[0]
    text = event.text.replace(b"word 4", b"word X")
    new = checksum("s", 5, event.at, event.by, text)
    change(written, f"UPDATE events SET event = '{text.decode()}', checksum = {new} WHERE seq = 5")
    assert found(written) == [("s", 5)]


def test_a_flipped_byte_in_the_file_is_found(written: Path) -> None:
    data = written.read_bytes()
    written.write_bytes(data.replace(b"word 4", b"wird 4"))
    assert found(written) == [("s", 5)]


def test_an_event_that_can_not_be_read_is_found_on_any_engine(journal: Journal) -> None:
    journal.append("s", said("one"))
    [event] = stored(journal, "s")
    odd = type(event)(2, 1, "agent", b"no JSON", None)
    journal.store("s", [StoredAppend((odd,))])
    [trouble] = verify(journal).troubles
    assert (trouble.session, trouble.seq) == ("s", 2)
    assert "can't be read" in trouble.words


def test_a_note_shows_an_end_that_was_cut_off_and_lists_sessions_that_are_gone(written: Path) -> None:
    with open_journal(written) as journal:
        note = verify(journal).note()
        assert verify(journal, note=note).troubles == []
        journal.append("s", said("later"))
        journal.forget("other")
        again = verify(journal, note=note)
    assert (again.troubles, again.gone) == ([], ["other"])
    change(written, "DELETE FROM events WHERE session = 1 AND seq > 8")
    change(written, "DELETE FROM once WHERE last > 8")
    assert found(written) == []
    with open_journal(written) as journal:
        [trouble] = verify(journal, note=note).troubles
    assert "ends with event 8, but had 10 events when the note was made" in trouble.words


def test_a_note_shows_a_history_that_was_written_anew(journal: Journal) -> None:
    journal.append("s", said("one", "two"))
    note = verify(journal).note()
    journal.forget("s")
    journal.append("s", said("one", "other", "three"))
    [trouble] = verify(journal, note=note).troubles
    assert "event 2 of session 's' is not the one that was there when the note was made" in trouble.words
    assert "or the session was forgotten and begun anew" in trouble.words


def test_of_very_many_troubles_the_first_are_named_and_all_are_counted() -> None:
    with open_journal("memory:") as journal:
        journal.store("s", [StoredAppend(tuple(_unreadable(seq) for seq in range(1, 101)))])
        check: SessionCheck = check_session(journal, "s")
    assert (len(check.troubles), check.unnamed) == (20, 80)


def _unreadable(seq: int) -> StoredEvent:
    return StoredEvent(seq, 1, "agent", b"{", None)


def test_a_session_that_is_begun_anew_while_its_events_are_checked_is_in_order() -> None:
    check = PositionCheck()
    assert [*check.troubles(1, "s", 1, 1), *check.troubles(1, "s", 2, 2), *check.troubles(2, "s", 1, 3)] == []
    assert [each.words for each in check.troubles(2, "s", 1, 4)] == [
        "event 1 of session 's' reaches followers after event 1"
    ]
