"""Leases whose holders are gone: which turns they end, and which they don't."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic

import pytest

from planwire.journal import Journal, Stamped, Terms, open_journal
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.model.events import Event, PlanSet, ReviewAsked, SessionOpened, TurnEnded
from planwire.readmodel.states import holds_of
from planwire.session.lapses import end_lapsed
from tests import deciding
from tests.journals import items

PLAN = PlanSet(items("main", "in_progress", "pending"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with open_journal(path) as opened:
        yield opened


def lapse(path: Path, terms: Terms, session: str = "s") -> None:
    """Leave a lease behind. A holder without its lock file is a holder that died."""
    folder = Path(f"{path}-leases")
    before = {*folder.iterdir()} if folder.exists() else set()
    holder = open_journal(path)
    holder.lease(session, terms)
    [own] = {*folder.iterdir()} - before
    own.unlink()
    _left_behind.append(holder)


_left_behind: list[Journal] = []


@pytest.fixture(autouse=True)
def _tidy() -> Iterator[None]:
    yield
    while _left_behind:
        _left_behind.pop().close()


def write(journal: Journal, *events: Event, session: str = "s") -> None:
    deciding.write(journal, session, *(Stamped(1_000, "agent", event) for event in events))


def ends(journal: Journal, session: str = "s") -> list[str]:
    return [each.event.stop_reason for each in journal.read(session) if isinstance(each.event, TurnEnded)]


@pytest.mark.parametrize(
    ("events", "terms", "expected"),
    [
        ((PLAN,), Terms("relay", is_working=True), ["disconnected"]),
        ((PLAN,), Terms("relay"), ["disconnected"]),
        ((PLAN,), Terms("mcp"), ["disconnected"]),
        ((PLAN, ReviewAsked("main")), Terms("mcp"), ["disconnected"]),
        ((PLAN, TurnEnded("end_turn")), Terms("relay", is_working=True), ["end_turn", "disconnected"]),
        ((PLAN, TurnEnded("end_turn")), Terms("relay"), ["end_turn"]),
        ((PLAN, TurnEnded("cancelled")), Terms("mcp"), ["cancelled"]),
        ((SessionOpened("agent", None, None),), Terms("relay"), []),
        ((), Terms("relay", is_working=True), []),
    ],
)
def test_a_lapsed_lease_ends_the_turn_that_was_on(
    path: Path, journal: Journal, events: tuple[Event, ...], terms: Terms, expected: list[str]
) -> None:
    if events:
        write(journal, *events)
    lapse(path, terms)
    for _ in range(2):
        assert end_lapsed(journal) == []
    assert (ends(journal), journal.leases()) == (expected, [])


@pytest.mark.parametrize(
    ("lapsed", "other", "expected"),
    [
        (Terms("relay", is_working=True), Terms("relay", is_working=True), []),
        (Terms("relay", is_working=True), Terms("relay"), ["disconnected"]),
        (Terms("relay"), Terms("relay"), []),
        (Terms("mcp"), Terms("mcp"), []),
        (Terms("mcp"), Terms("relay"), []),
        (Terms("relay", is_working=True), Terms("mcp"), ["disconnected"]),
    ],
)
def test_a_turn_goes_on_with_another_holder_but_tools_outlive_no_relay(
    path: Path, journal: Journal, lapsed: Terms, other: Terms, expected: list[str]
) -> None:
    write(journal, PLAN)
    journal.lease("s", other)
    journal.lease("another session", Terms("relay"))
    lapse(path, lapsed)
    assert [each.terms for each in end_lapsed(journal)] == [other, Terms("relay")]
    assert ends(journal) == expected
    assert [each.terms for each in journal.leases()] == [other, Terms("relay")]


def test_a_late_finder_ends_no_turn_that_began_since(
    path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its look and its write another one ends the lease, and the agent goes on with another relay."""
    write(journal, PLAN, TurnEnded("end_turn"))
    lapse(path, Terms("relay"))
    late = journal.leases()
    end_lapsed(journal)
    write(journal, PLAN)
    looks = iter([late])
    monkeypatch.setattr(journal, "leases", lambda: next(looks, []))
    assert end_lapsed(journal) == []
    assert ends(journal) == ["end_turn"]


def test_a_journal_that_can_not_be_written_can_be_read(path: Path) -> None:
    with SqliteJournal(path, patience=0.05) as journal:
        write(journal, PLAN)
        held = journal.lease("t", Terms("relay"))
        lapse(path, Terms("relay", is_working=True))
        with closing(sqlite3.connect(path, isolation_level=None)) as blocker:
            blocker.execute("BEGIN IMMEDIATE")
            left = holds_of(end_lapsed(journal))
            assert (left["s"].is_lost, left["t"].is_lost) == (True, False)
            assert ends(journal) == []
        assert [each.session for each in end_lapsed(journal)] == ["t"]
        assert ends(journal) == ["disconnected"]
        held.release()


def test_those_who_look_do_not_wait_long_for_a_writer_that_keeps_the_journal(path: Path, journal: Journal) -> None:
    """Also with the patience of a journal that somebody opened to look at it."""
    write(journal, PLAN)
    lapse(path, Terms("relay", is_working=True))
    with closing(sqlite3.connect(path, isolation_level=None)) as blocker:
        blocker.execute("BEGIN IMMEDIATE")
        begun = monotonic()
        assert holds_of(end_lapsed(journal))["s"].is_lost
        assert monotonic() - begun < 5
