"""One thread a journal, however many follow it."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire.errors import DamagedJournal, JournalError, JournalUnavailable, NewerJournal
from planwire.journal import Followed, Journal, follower, follower_of, open_journal
from planwire.journal.format import FORMAT
from planwire.journal.sqlite.journal import SqliteJournal
from tests.journal.test_contract import said, words
from tests.journal.test_damage import change
from tests.waiting import until


class Listener:
    """A subscriber that remembers."""

    def __init__(self, journal: Journal, session: str | None = None) -> None:
        self.heard: list[Followed] = []
        self.troubles: list[JournalError | None] = []
        self.unsubscribe = follower_of(journal).subscribe(self.heard.append, session, self.troubles.append)

    @property
    def words(self) -> list[str]:
        return words([each.recorded for each in self.heard])


def followers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "planwire-follower"]


def test_each_hears_of_its_session_or_of_all_from_then_on_in_one_thread(journal: Journal) -> None:
    journal.append("a", said("before"))
    everything, one, other = Listener(journal), Listener(journal, "a"), Listener(journal, "b")
    journal.append("a", said("one"))
    journal.append("b", said("two", "three"))
    until(lambda: len(everything.heard) == 3)
    assert [each.words for each in (everything, one, other)] == [["one", "two", "three"], ["one"], ["two", "three"]]
    assert everything.heard[-1].position == journal.last_position()
    assert len(followers()) == 1
    for each in (everything, one, other):
        each.unsubscribe()
    until(lambda: not followers())


@pytest.mark.parametrize("session", [None, "s"])
def test_one_who_left_hears_no_more_and_others_do(journal: Journal, session: str | None) -> None:
    gone, here = Listener(journal, session), Listener(journal, session)
    gone.unsubscribe()
    gone.unsubscribe()
    journal.append("s", said("one"))
    until(lambda: here.words == ["one"])
    assert gone.heard == []
    here.unsubscribe()
    again = Listener(journal)
    journal.append("s", said("two"))
    until(lambda: again.words == ["two"])
    assert here.words == ["one"]
    again.unsubscribe()


def test_a_journal_that_closes_ends_the_thread_and_the_waiting(journal: Journal) -> None:
    listener = Listener(journal)
    journal.close()
    until(lambda: not followers())
    assert listener.troubles == [None]
    listener.unsubscribe()
    with pytest.raises(JournalUnavailable, match="open it again"):
        Listener(journal)


def test_what_a_subscriber_could_not_take_comes_again(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower, "RETRY", 0.01)
    heard: list[str] = []
    troubles: list[JournalError | None] = []
    tries = iter(range(3))

    def hear(followed: Followed) -> None:
        if next(tries, None) is not None:
            raise JournalUnavailable("locked")
        heard.extend(words([followed.recorded]))

    unsubscribe = follower_of(journal).subscribe(hear, None, troubles.append)
    other = Listener(journal)
    journal.append("s", said("one"))
    until(lambda: heard == ["one"])
    assert [str(each) for each in troubles] == ["locked", "None"] * 3
    assert set(other.words) <= {"one"}
    unsubscribe()
    other.unsubscribe()


def test_a_subscriber_that_fails_for_good_costs_the_others_nothing(journal: Journal) -> None:
    troubles: list[JournalError | None] = []

    def fail(_: Followed) -> None:
        raise DamagedJournal("event 1 can't be read")

    follower_of(journal).subscribe(fail, None, troubles.append)
    other = Listener(journal)
    journal.append("s", said("one"))
    journal.append("s", said("two"))
    until(lambda: other.words == ["one", "two"])
    assert [str(each) for each in troubles] == ["event 1 can't be read"]
    other.unsubscribe()


def test_a_subscriber_with_an_error_in_it_deafens_nobody_else(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: Followed) -> None:
        raise ZeroDivisionError

    follower_of(journal).subscribe(fail)
    other = Listener(journal)
    journal.append("s", said("one"))
    until(lambda: other.words == ["one"])
    journal.append("s", said("two"))
    until(lambda: other.words == ["one", "two"])
    other.unsubscribe()
    assert [each.message for each in caplog.records] == ["a subscriber of the journal failed, and gets no more events"]


def test_a_subscriber_that_can_not_even_be_told_of_trouble_deafens_nobody_else(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: Followed) -> None:
        raise DamagedJournal("event 1 can't be read")

    def fail_again(_: JournalError | None) -> None:
        raise ZeroDivisionError

    follower_of(journal).subscribe(fail, None, fail_again)
    other = Listener(journal)
    journal.append("s", said("one"))
    journal.append("s", said("two"))
    until(lambda: other.words == ["one", "two"])
    other.unsubscribe()
    assert len(caplog.records) == 1


def test_an_engine_with_an_error_in_it_is_followed_again(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(follower, "RETRY", 0.01)
    follow = type(journal).follow

    def fail_once(*_: object, **__: object) -> Iterator[Followed]:
        monkeypatch.setattr(type(journal), "follow", follow)
        raise ZeroDivisionError

    monkeypatch.setattr(type(journal), "follow", fail_once)
    listener = Listener(journal)
    until(lambda: caplog.records)
    journal.append("s", said("one"))
    until(lambda: listener.words == ["one"])
    assert isinstance(listener.troubles[0], JournalUnavailable)
    listener.unsubscribe()


def test_a_row_that_can_not_be_read_deafens_no_session(tmp_path: Path) -> None:
    with open_journal(tmp_path / "journal.db") as journal:
        listener = Listener(journal, "sound")
        change(tmp_path / "journal.db", "INSERT INTO sessions (id) VALUES ('damaged')")
        change(tmp_path / "journal.db", "INSERT INTO events VALUES (1, 1, 1, 1, 'x', 'no JSON', 0, NULL)")
        until(lambda: listener.troubles)
        journal.append("sound", said("one"))
        until(lambda: listener.words == ["one"])
        assert isinstance(listener.troubles[0], DamagedJournal)
        listener.unsubscribe()


def test_a_journal_that_nothing_can_be_read_of_is_told_once_and_followed_again_once_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "RETRY", 0.01)
    looks = 0

    def look(journal: SqliteJournal) -> int:
        nonlocal looks
        looks += 1
        return last_position(journal)

    last_position = SqliteJournal.last_position
    with open_journal(tmp_path / "journal.db") as journal:
        listener = Listener(journal)
        monkeypatch.setattr(SqliteJournal, "last_position", look)
        change(tmp_path / "journal.db", "PRAGMA user_version = 99")
        until(lambda: looks > 3)
        assert [type(each) for each in listener.troubles] == [NewerJournal]
        change(tmp_path / "journal.db", f"PRAGMA user_version = {FORMAT}")
        until(lambda: listener.troubles[-1] is None)
        journal.append("s", said("one"))
        until(lambda: listener.words == ["one"])
        listener.unsubscribe()


def test_a_journal_that_nobody_uses_any_more_takes_its_follower_along() -> None:
    journal = open_journal("memory:")
    Listener(journal).unsubscribe()
    before = len(follower._followers)
    until(lambda: not followers())
    del journal
    assert len(follower._followers) == before - 1
