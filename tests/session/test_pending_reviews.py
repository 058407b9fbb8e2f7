"""Verdicts that can be taken back for some seconds: either they are undone, or they are handed on."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from planwire import BlockingPlanSession, PlanSession, open_journal
from planwire.errors import InputError, NothingChanges, PlanError
from planwire.journal import Journal, Stamped, load_state
from planwire.journal.memory import MemoryJournal
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    DISMISSED,
    Choice,
    Comment,
    Event,
    PlanReviewed,
    PlanSet,
    ReviewAsked,
    ReviewPending,
    ReviewUndone,
    TurnEnded,
)
from planwire.model.plan import MarkdownPlan
from planwire.model.records import PlanRecord
from planwire.model.unheard import CLIENT, news
from planwire.session.pending_reviews import PendingReviews, undo_delay
from planwire.session.steering import Steered, steer
from planwire.steering.reach import ANSWER, NOBODY, Reach
from planwire.steering.wanted import Wanted
from tests.waiting import eventually, until

#: Milliseconds of a delay that no test lives to see the end of, and of one that is over at once.
LONG, SHORT = 60_000, 1
OPTIONS = (Choice("yes", "Yes", "allow_once"), Choice("no", "No", "reject_once"))
TEXT = "# Move the tables\n\n- [ ] Copy\n- [ ] Switch\n"


@pytest.fixture(autouse=True)
def _a_relay_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.session.steering.session_reach", lambda *_: Reach(frozenset((ANSWER,))))


@pytest.fixture(params=["memory", "sqlite"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    """A journal on each engine that this machine has."""
    with open_journal("memory:" if request.param == "memory" else tmp_path / "journal.db") as opened:
        yield opened


def say(journal: Journal, *events: Event, by: str = "agent", session: str = "s") -> None:
    journal.append(session, [Stamped(time.time_ns() // 1_000_000, by, each) for each in events])


def ask(journal: Journal, question: str = "q", session: str = "s", *, takes_edit: bool = False) -> None:
    say(
        journal,
        PlanSet(MarkdownPlan("p", TEXT), via=ACP),
        ReviewAsked("p", OPTIONS, question, takes_edit),
        session=session,
    )


def give(journal: Journal, by: str = "ana", undo: int = LONG, session: str = "s", **wanted: Any) -> Steered:
    return steer(journal, session, "p", Wanted("review", **wanted), by, undo=undo)


def take_back(journal: Journal, by: str = "ana", session: str = "s") -> Steered:
    return steer(journal, session, "p", Wanted("withdraw"), by)


def hand_on(journal: Journal, *, at_once: bool = True) -> bool:
    return PendingReviews(journal).hand_on(load_state(journal, "s"), at_once=at_once)


def plan(journal: Journal, session: str = "s") -> PlanRecord:
    return load_state(journal, session).plans["p"]


def events(journal: Journal, kind: type[Event], session: str = "s") -> list[Any]:
    return [each.event for each in journal.read(session) if isinstance(each.event, kind)]


# -- a pending verdict


def test_a_pending_verdict_changes_nothing_and_nobody_is_told_of_it(journal: Journal) -> None:
    ask(journal)
    before = plan(journal)
    said = (Comment("copy first", "s1"), Comment("then the rest"))
    done = give(journal, verdict=CHANGES_REQUESTED, text="smaller steps", comments=said)
    assert done.words == "Sending “No” in 60 s. Until then you can undo it."
    now = plan(journal)
    assert now.pending is not None
    assert (now.pending.by, now.pending.event.verdict.verdict) == ("ana", CHANGES_REQUESTED)
    assert (now.asked, now.reviews, now.remarks, now.revision) == (before.asked, (), (), before.revision)
    assert now.decision is None
    assert now.needs_person
    assert not news(load_state(journal, "s"))


def test_handing_on_writes_the_verdict_with_all_that_goes_with_it(journal: Journal) -> None:
    ask(journal)
    give(journal, verdict=CHANGES_REQUESTED, text="smaller steps", comments=(Comment("copy first", "s1"),))
    pending = plan(journal).pending
    assert pending is not None
    assert hand_on(journal)
    now = plan(journal)
    assert now.pending is None
    assert now.decision is not None
    assert (now.decision.by, now.decision.option, now.decision.question) == ("ana", "no", "q")
    assert [(each.text, each.step, each.review, each.by) for each in now.remarks] == [
        ("smaller steps", None, now.decision.seq, "ana"),
        ("copy first", "s1", now.decision.seq, "ana"),
    ]
    assert [each.pending for each in events(journal, PlanReviewed)] == [pending.seq]
    assert not hand_on(journal), "it is handed on once"


def test_an_approval_of_an_edited_plan_is_undone_with_the_edit_and_handed_on_with_it(journal: Journal) -> None:
    ask(journal, takes_edit=True)
    seen = plan(journal).revision
    give(journal, verdict=APPROVED, edited="# Only copy", seen=seen, question="q")
    assert plan(journal).state.plan == MarkdownPlan("p", TEXT)
    take_back(journal)
    assert plan(journal).state.plan == MarkdownPlan("p", TEXT)
    give(journal, verdict=APPROVED, edited="# Only copy", seen=seen, question="q")
    assert hand_on(journal)
    now = plan(journal)
    assert now.state.plan == MarkdownPlan("p", "# Only copy")
    assert now.decision is not None
    assert (now.decision.verdict, now.decision.revision, now.decision.is_stale) == (APPROVED, now.revision, False)


def test_after_an_undo_the_question_is_open_as_before_for_everybody(journal: Journal) -> None:
    ask(journal)
    before = plan(journal)
    give(journal, verdict=APPROVED, text="well done")
    assert take_back(journal).words == "Undone. Nothing was sent."
    assert plan(journal) == before
    assert not hand_on(journal)
    give(journal, "ben", undo=0, verdict=CHANGES_REQUESTED)
    decision = plan(journal).decision
    assert decision is not None
    assert (decision.by, decision.verdict) == ("ben", CHANGES_REQUESTED)


def test_an_undo_that_comes_too_late_is_refused_in_words(journal: Journal) -> None:
    ask(journal)
    give(journal, verdict=APPROVED)
    hand_on(journal)
    with pytest.raises(PlanError, match="The agent has it already"):
        take_back(journal)
    assert events(journal, ReviewUndone) == []


def test_nobody_undoes_another_persons_verdict_and_nobody_undoes_nothing(journal: Journal) -> None:
    ask(journal)
    with pytest.raises(NothingChanges, match="nothing to undo"):
        take_back(journal)
    give(journal, verdict=APPROVED)
    with pytest.raises(PlanError, match="Only ana can undo this"):
        take_back(journal, "ben")
    assert plan(journal).pending is not None


def test_the_same_verdict_again_changes_nothing_and_another_one_replaces_it(journal: Journal) -> None:
    ask(journal)
    give(journal, verdict=APPROVED)
    with pytest.raises(NothingChanges):
        give(journal, verdict=APPROVED)
    give(journal, verdict=CHANGES_REQUESTED)
    hand_on(journal)
    assert [each.verdict for each in events(journal, PlanReviewed)] == [CHANGES_REQUESTED]


@pytest.mark.parametrize("undo", [LONG, 0])
def test_the_answer_of_another_person_counts_instead(journal: Journal, undo: int) -> None:
    ask(journal)
    give(journal, verdict=APPROVED)
    give(journal, "ben", undo=undo, verdict=CHANGES_REQUESTED)
    hand_on(journal)
    decision = plan(journal).decision
    assert decision is not None
    assert (decision.by, decision.verdict) == ("ben", CHANGES_REQUESTED)
    assert [each.verdict for each in events(journal, PlanReviewed)] == [CHANGES_REQUESTED]


def test_an_answer_in_the_editor_wins_and_the_pending_one_is_void(journal: Journal) -> None:
    ask(journal)
    give(journal, verdict=APPROVED, text="go on")
    say(journal, PlanReviewed("p", 0, CHANGES_REQUESTED, answer="No", question="q", option="no"), by=CLIENT)
    assert not hand_on(journal)
    now = plan(journal)
    assert (now.pending, now.asked, now.remarks) == (None, None, ())
    assert [each.verdict for each in now.reviews] == [CHANGES_REQUESTED]


def test_an_approval_is_void_once_the_plan_reads_differently_and_a_request_is_not(journal: Journal) -> None:
    for verdict in (APPROVED, CHANGES_REQUESTED):
        ask(journal)
        give(journal, verdict=verdict)
        say(journal, PlanSet(MarkdownPlan("p", "# Drop the tables"), via=ACP))
    assert hand_on(journal)
    assert [each.verdict for each in events(journal, PlanReviewed)] == [CHANGES_REQUESTED]


@pytest.mark.parametrize(("verdict", "counts"), [(APPROVED, False), (CHANGES_REQUESTED, True)])
def test_a_question_that_the_editors_user_dismissed_is_not_approved_later(
    journal: Journal, verdict: str, counts: bool
) -> None:
    ask(journal)
    give(journal, verdict=verdict, text="smaller")
    say(journal, PlanReviewed("p", 0, DISMISSED, question="q"), by=CLIENT)
    assert hand_on(journal) == counts


def test_a_verdict_whose_question_ended_with_its_turn_is_a_verdict_like_any_other(journal: Journal) -> None:
    ask(journal)
    give(journal, verdict=CHANGES_REQUESTED, text="smaller")
    say(journal, TurnEnded("disconnected"))
    assert hand_on(journal)
    assert {each["said"] for each in news(load_state(journal, "s")).items} == {"verdict", "request"}


def test_a_fork_and_a_plan_that_comes_back_have_no_pending_verdict(journal: Journal) -> None:
    ask(journal)
    give(journal, verdict=CHANGES_REQUESTED)
    steer(journal, "s", "p", Wanted("dismiss"), "ben")
    steer(journal, "s", "p", Wanted("reopen"), "ben")
    assert plan(journal).pending is None


def test_what_the_agent_is_to_hear_now_is_not_held_back(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.session.steering.session_reach", lambda *_: Reach(frozenset((ANSWER, "tell"))))
    ask(journal)
    give(journal, verdict=CHANGES_REQUESTED, text="stop that", now=True)
    assert plan(journal).pending is None
    assert events(journal, PlanReviewed)


def test_comments_are_not_held_back(journal: Journal) -> None:
    ask(journal)
    steer(journal, "s", "p", Wanted("comment", text="nice"), "ana", undo=LONG)
    give(journal, verdict="commented", text="very nice")
    assert events(journal, ReviewPending) == []
    assert [each.text for each in plan(journal).remarks] == ["nice", "very nice"]


# -- races


@pytest.mark.parametrize("undo", [LONG, SHORT])
def test_of_an_undo_and_several_that_hand_on_exactly_one_comes_first(shared: Journal, undo: int) -> None:
    undone = 0
    with ThreadPoolExecutor(3) as pool:
        for number in range(100):
            session, together = f"s{number}", Barrier(3)
            ask(shared, session=session)
            give(shared, undo=undo, session=session, verdict=APPROVED, text="go")
            state = load_state(shared, session)

            def hand(state: Any = state, together: Barrier = together) -> bool:
                together.wait(20)
                return PendingReviews(shared).hand_on(state, at_once=True)

            def back(session: str = session, together: Barrier = together) -> bool:
                together.wait(20)
                with suppress(PlanError):
                    take_back(shared, session=session)
                    return True
                return False

            outcomes = [each.result(20) for each in [pool.submit(hand), pool.submit(back), pool.submit(hand)]]
            assert sum(outcomes) == 1, "one of them, once"
            is_undone = bool(events(shared, ReviewUndone, session))
            assert len(events(shared, PlanReviewed, session)) == (not is_undone)
            assert (plan(shared, session).decision is None) == is_undone
            undone += is_undone
    assert undone < 100


STEPS = st.sampled_from(
    [
        *(("give", by, verdict) for by in ("ana", "ben") for verdict in (APPROVED, CHANGES_REQUESTED)),
        *(("undo", by, "") for by in ("ana", "ben")),
        *(("hand on", "", ""), ("at once", "ben", APPROVED)),
        *(("editor", CLIENT, verdict) for verdict in (APPROVED, CHANGES_REQUESTED, DISMISSED)),
        *(("ask", "", ""), ("reword", "", ""), ("end", "", "")),
    ]
)


@settings(max_examples=300)
@given(st.lists(STEPS, max_size=12))
def test_no_verdict_is_both_undone_and_handed_on_and_a_question_is_open_until_somebody_answers(
    program: list[tuple[str, str, str]],
) -> None:
    journal, question, answered, said = MemoryJournal(), 0, False, 0
    ask(journal, "q0")
    for act, by, verdict in program:
        before = plan(journal)
        with suppress(PlanError):
            if act == "give":
                said += 1
                give(journal, by, verdict=verdict, text=f"pending {said}")
                assert plan(journal).pending is not None
            elif act == "undo":
                take_back(journal, by)
                assert plan(journal) == replace(before, pending=None)
            elif act == "hand on":
                answered |= hand_on(journal)
                assert plan(journal).pending is None
            elif act == "at once":
                give(journal, by, undo=0, verdict=verdict)
                answered = True
            elif act == "editor" and before.asked:
                option = {APPROVED: "yes", CHANGES_REQUESTED: "no"}.get(verdict)
                say(journal, PlanReviewed("p", 0, verdict, question=before.asked.id, option=option), by=by)
                answered = True
            elif act == "ask":
                question, answered = question + 1, False
                ask(journal, f"q{question}")
            elif act == "reword":
                say(journal, PlanSet(MarkdownPlan("p", f"# Another {journal.last_seq('s')}"), via=ACP))
                answered = True
            elif act == "end":
                say(journal, TurnEnded("end_turn"))
                answered = True
        undone = [each.review for each in events(journal, ReviewUndone)]
        handed = [each.pending for each in events(journal, PlanReviewed) if each.pending]
        assert len({*undone, *handed}) == len(undone) + len(handed)
        if not answered:
            assert plan(journal).asked is not None, "nobody answered"
            assert plan(journal).decision is None
        numbers = {each.seq: each.event for each in journal.read("s") if isinstance(each.event, ReviewPending)}
        sent = {numbers[seq].remarks[0].text for seq in handed}
        told = {each.text for each in plan(journal).remarks}
        assert {each for each in told if each.startswith("pending")} <= sent


# -- time


def test_a_verdict_is_due_when_its_delay_is_over_and_not_before(journal: Journal) -> None:
    ask(journal)
    give(journal, verdict=APPROVED)
    reviews, state = PendingReviews(journal), load_state(journal, "s")
    assert not reviews.hand_on(state)
    assert 59 < reviews.pause(state, 100) <= 60
    assert reviews.pause(state, 1) == 1
    take_back(journal)
    assert reviews.pause(load_state(journal, "s"), 100) == 100
    give(journal, undo=SHORT, verdict=APPROVED)
    until(lambda: reviews.hand_on(load_state(journal, "s")))


def test_a_clock_that_lies_makes_nobody_wait_longer_than_the_delay_from_when_they_saw_the_verdict(
    journal: Journal,
) -> None:
    ask(journal)
    day = 24 * 60 * 60 * 1_000
    event = ReviewPending("p", 300, PlanReviewed("p", 1, APPROVED, via="planwire", question="q", option="yes"))
    journal.append("s", [Stamped(time.time_ns() // 1_000_000 + day, "ana", event)])
    reviews, begun = PendingReviews(journal), time.monotonic()
    assert not reviews.hand_on(load_state(journal, "s"))
    assert reviews.pause(load_state(journal, "s"), 100) <= 0.3
    until(lambda: reviews.hand_on(load_state(journal, "s")), 5)
    assert time.monotonic() - begun >= 0.29


def test_a_process_that_comes_later_hands_on_what_is_long_due(journal: Journal) -> None:
    ask(journal)
    event = ReviewPending("p", 5_000, PlanReviewed("p", 1, APPROVED, via="planwire", question="q", option="yes"))
    journal.append("s", [Stamped(time.time_ns() // 1_000_000 - 6_000, "ana", event)])
    assert hand_on(journal, at_once=False)


@pytest.mark.parametrize(("given", "delay"), [(None, 5_000), ("", 5_000), ("0", 0), ("2.5", 2_500), ("60", 60_000)])
def test_the_delay_is_a_setting(monkeypatch: pytest.MonkeyPatch, given: str | None, delay: int) -> None:
    monkeypatch.delenv("PLANWIRE_UNDO_SECONDS")
    if given is not None:
        monkeypatch.setenv("PLANWIRE_UNDO_SECONDS", given)
    assert undo_delay() == delay


@pytest.mark.parametrize("given", ["five", "-1", "61", "nan"])
def test_a_setting_that_makes_no_sense_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("PLANWIRE_UNDO_SECONDS", given)
    with pytest.raises(InputError, match="a number of seconds from 0 to 60"):
        undo_delay()


# -- agents that are built on a session


def reviewed_plan(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> BlockingPlanSession:
    """An agent with a plan of planwire's, about which it asks nothing."""
    monkeypatch.setattr("planwire.session.steering.session_reach", lambda *_: NOBODY)
    plans = BlockingPlanSession(journal, "s", wait_seconds=10)
    plans.call("set_plan", {"plan_id": "p", "entries": ["copy", "switch"]})
    plans.pending()
    plans.settle()
    return plans


def test_a_verdict_without_a_question_is_kept_from_the_model_until_it_is_due(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = reviewed_plan(journal, monkeypatch)
    give(journal, verdict=CHANGES_REQUESTED, text="smaller")
    assert plans.pending_text() == ""
    assert "people" not in plans.call("get_plan", {"plan_id": "p"})
    take_back(journal)
    give(journal, undo=300, verdict=CHANGES_REQUESTED, text="larger")
    until(lambda: "larger" in (said := plans.pending_text()) and "smaller" not in said)
    assert [each.text for each in plan(journal).remarks] == ["larger"]


def test_a_call_that_waits_has_the_verdict_as_soon_as_it_is_due(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = reviewed_plan(journal, monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(plans.call, "get_plan", {"plan_id": "p", "wait": "review"})
        until(lambda: plan(journal).asked)
        give(journal, undo=LONG, verdict=APPROVED)
        take_back(journal)
        give(journal, undo=300, verdict=CHANGES_REQUESTED)
        assert call.result(5)["plan"]["verdict"]["verdict"] == CHANGES_REQUESTED
    assert [each.verdict for each in events(journal, PlanReviewed)] == [CHANGES_REQUESTED]


def test_an_awaited_call_has_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.session.steering.session_reach", lambda *_: NOBODY)

    async def main() -> Any:
        async with PlanSession.open(tmp_path / "journal.db", "s", wait_seconds=10) as plans:
            await plans.call("set_plan", {"plan_id": "p", "entries": ["copy"]})
            call = asyncio.create_task(plans.call("get_plan", {"plan_id": "p", "wait": "review"}))
            await eventually(lambda: plans.state.plans["p"].asked)
            with open_journal(tmp_path / "journal.db") as journal:
                await asyncio.to_thread(give, journal, undo=300, verdict=APPROVED)
            return await asyncio.wait_for(call, 5)

    assert asyncio.run(main())["plan"]["verdict"]["verdict"] == APPROVED
