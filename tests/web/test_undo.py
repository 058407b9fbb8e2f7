"""A verdict given on the board can be undone for some seconds: what the page says of it, and what a request gets."""

from collections.abc import Iterator
from time import time

import pytest

from planwire.journal import load_state
from planwire.model.events import APPROVED, PlanReviewed, ReviewPending
from planwire.model.records import PlanRecord
from tests.waiting import until
from tests.web.board import items, running_board
from tests.web.steering import Here


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    """A session with a plan of planwire's, on a board with the usual delay."""
    monkeypatch.delenv("PLANWIRE_UNDO_SECONDS")
    with running_board() as board:
        board.open()
        board.write("s1", items("pending", "pending", via="tools"))
        yield Here(board, "s1")


def plan(here: Here) -> PlanRecord:
    return load_state(here.journal, "s1").plans["main"]


def test_a_verdict_is_pending_for_five_seconds_and_can_be_undone(patient: Here) -> None:
    given = patient.act("review", verdict=APPROVED, text="well done").json()
    assert given["words"] == "Sending “Approve” in 5 s. Until then you can undo it."
    pending = plan(patient).pending
    assert pending is not None
    assert (pending.event.delay, [each.text for each in pending.event.remarks]) == (5_000, ["well done"])
    page = patient.page()
    assert 'data-pending="user"' in page
    assert f'data-until="{pending.until}"' in page
    assert "well done" not in page
    [shown] = patient.board.json("/sessions/s1.json")["plans"]
    assert shown["pending"] == {
        "by": "user",
        "way": "",
        "at": pending.at,
        "until": pending.until,
        "verdict": APPROVED,
        "answer": None,
    }
    assert shown["reviews"] == []
    assert patient.act("withdraw").json()["words"] == "Undone. Nothing was sent."
    assert "data-pending" not in patient.page()
    assert (plan(patient).pending, plan(patient).reviews, plan(patient).remarks) == (None, (), ())
    assert patient.act("withdraw").json()["unchanged"]


def test_the_board_hands_on_what_nobody_undid_and_refuses_to_undo_it_then(patient: Here) -> None:
    long_ago = int(time() * 1_000) - 60_000
    event = ReviewPending("main", 5_000, PlanReviewed("main", 2, APPROVED, via="planwire"))
    patient.board.write("s1", event, by="user", at=long_ago)
    until(lambda: plan(patient).pending is None)
    review = plan(patient).review
    assert review is not None
    assert (review.by, review.verdict) == ("user", APPROVED)
    refused = patient.act("withdraw")
    assert (refused.status_code, refused.json()["error"]) == (422, "The agent has it already. Nothing was taken back.")
