"""Verdicts that can be undone, and a hook that waits for one, as a real process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire.errors import PlanError
from planwire.journal import Journal, open_journal
from planwire.model.events import APPROVED, CHANGES_REQUESTED, DISMISSED
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.hooks.test_claude_code import SESSION
from tests.hooks.test_reviewing import PLAN, asked, is_closed, record, said, waiting
from tests.waiting import until

LONG = 60_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with open_journal(path) as journal:
        yield journal


def give(journal: Journal, undo: int, **wanted: str) -> None:
    steer(journal, SESSION, PLAN, Wanted("review", **wanted), "ana", undo=undo)  # type: ignore[arg-type]


def test_a_hook_that_has_time_hands_the_verdict_on_after_the_delay(path: Path, journal: Journal) -> None:
    with waiting(path) as process:
        asked(journal)
        give(journal, 1_000, verdict=CHANGES_REQUESTED, text="smaller steps")
        assert record(journal).pending is not None
        answer = said(process)
    assert answer is not None
    assert answer["behavior"] == "deny"
    assert "smaller steps" in answer["message"]
    review = record(journal).review
    assert review is not None
    assert (review.by, review.verdict, review.told is not None) == ("ana", CHANGES_REQUESTED, True)


def test_a_hook_that_may_wait_less_than_ten_seconds_hands_it_on_at_once(path: Path, journal: Journal) -> None:
    with waiting(path, seconds=9) as process:
        asked(journal)
        give(journal, LONG, verdict=APPROVED)
        answer = said(process)
    assert answer is not None
    assert answer["behavior"] == "allow"
    with pytest.raises(PlanError, match="The agent has it already"):
        steer(journal, SESSION, PLAN, Wanted("withdraw"), "ana")


def test_after_an_undo_the_hook_waits_on_and_takes_the_next_verdict(path: Path, journal: Journal) -> None:
    with waiting(path) as process:
        question = asked(journal)
        give(journal, LONG, verdict=APPROVED)
        steer(journal, SESSION, PLAN, Wanted("withdraw"), "ana")
        assert process.poll() is None
        assert record(journal).asked == question
        give(journal, 300, verdict=CHANGES_REQUESTED)
        answer = said(process)
    assert answer is not None
    assert answer["behavior"] == "deny"


def test_a_hook_whose_time_is_up_takes_what_is_pending(path: Path, journal: Journal) -> None:
    with waiting(path, seconds=10.5) as process:
        asked(journal)
        give(journal, LONG, verdict=APPROVED)
        answer = said(process)
    assert answer is not None
    assert answer["behavior"] == "allow"


def test_a_hook_that_is_killed_leaves_a_verdict_like_any_other(path: Path, journal: Journal) -> None:
    with waiting(path) as process:
        asked(journal)
        give(journal, LONG, verdict=CHANGES_REQUESTED, text="smaller steps")
        process.terminate()
        process.wait(20)
        until(lambda: is_closed(journal))
    now = record(journal)
    assert now.pending is not None
    assert [each.verdict for each in now.reviews] == [DISMISSED]
