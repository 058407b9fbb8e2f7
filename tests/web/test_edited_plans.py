"""A plan that is edited and approved on the board: what the page offers, and what comes of the request."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from planwire.journal import Terms
from planwire.model.events import APPROVED, CHANGES_REQUESTED, Choice, PlanReviewed, PlanSet, ReviewAsked, SessionOpened
from planwire.model.kinds import text_of
from planwire.steering.reviews import EDIT_LABEL
from tests.web.steering import Here
from tests.web.test_asked import proposal, replies

YES, NO = Choice("approve", "Approve", "allow_once"), Choice("changes", "Request changes", "reject_once")
OPENED = SessionOpened("Claude Code", "Claude Code", "/work", "Port it")
EDITED = "# Port the parser\n\n1. Read, and write tests"


@contextmanager
def held(here: Here, *, takes_edit: bool = True) -> Iterator[None]:
    """A hook holds a plan back."""
    lease = here.journal.lease(here.session, Terms("hook", can=("answer", "words"), question="q1"))
    here.write(OPENED, proposal("1. Read"), ReviewAsked("plan-mode", (YES, NO), "q1", takes_edit))
    try:
        yield
    finally:
        lease.release()


def approve(here: Here, **body: Any) -> Any:
    seen = here.record("plan-mode").revision
    return here.act("review", "plan-mode", **{"verdict": APPROVED, "question": "q1", "seen": seen, **body})


def test_only_a_question_that_takes_an_edit_offers_one(here: Here) -> None:
    with held(here):
        page = here.page()
        plan = here.board.client.get(f"{here.address}/plans/plan-mode", headers={"accept": "application/json"}).json()
        assert plan["question"]["takes_edit"] is True
        assert approve(here).status_code == 200
        assert EDIT_LABEL not in here.page(), "the answer is on its way"
    assert replies(page) == [
        ("Approve", {"act": "review", "option": "approve", "question": "q1"}),
        ("Request changes", {"act": "review", "option": "changes", "question": "q1"}),
        (EDIT_LABEL, {"act": "review", "verdict": APPROVED, "question": "q1"}),
    ]
    assert "Your words go along with a request for changes." in page


def test_a_question_that_takes_none_refuses_one(here: Here) -> None:
    with held(here, takes_edit=False):
        assert EDIT_LABEL not in here.page()
        refused = approve(here, edited=EDITED)
        assert refused.status_code == 422
        assert refused.json()["error"].startswith("The agent doesn't take an edited plan")


def test_an_edited_plan_is_written_with_its_approval(here: Here) -> None:
    with held(here):
        said = approve(here, edited=EDITED, text="as discussed")
        assert said.json()["words"].startswith(
            "Approved as you edited it, with 1 comment. Queued for the agent: “Approve”."
        )
        record = here.record("plan-mode")
        assert (text_of(record.state.plan), record.by, record.version) == (EDITED, "user", 2)
        assert [type(each.event) for each in here.events()[3:5]] == [PlanSet, PlanReviewed]
        assert "version 2" in here.page()


def test_an_act_with_an_edited_plan_that_comes_twice_is_done_once(here: Here) -> None:
    with held(here):
        first = approve(here, edited=EDITED, seen=2, key="one").json()
        assert approve(here, edited=EDITED, seen=2, key="one").json() == first
        assert here.record("plan-mode").version == 2


def test_a_plan_that_moved_on_is_not_overwritten(here: Here) -> None:
    with held(here):
        seen = here.record("plan-mode").revision
        here.write(proposal("1. Read all of it"), ReviewAsked("plan-mode", (YES, NO), "q1", True))
        moved = approve(here, edited=EDITED, seen=seen)
        assert moved.status_code == 409
        assert moved.json()["anyway"] is False
        assert approve(here, edited=EDITED, verdict=CHANGES_REQUESTED).status_code == 422
