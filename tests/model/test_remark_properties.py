"""What holds for every session, whatever happened in it and in whichever order."""

import msgspec
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from planwire.model.events import (
    ACP,
    CHANGES_REQUESTED,
    PlanChanged,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemarkReopened,
    Told,
)
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.records import AGENT, Remark, SessionState
from planwire.model.step_changes import MoveStep, SetPriority, SetStatus, StepChange
from planwire.model.unheard import Words, news, standing
from tests.deciding import fold, fold_all
from tests.event_strategies import busy_pasts, pasts

#: Every example is a session of a dozen events: half as many as usual will do.
few = settings(max_examples=settings().max_examples // 2)


def remarks_of(state: SessionState) -> list[Remark]:
    return [each for record in state.plans.values() for each in record.remarks]


def ids_in(words: Words) -> list[str]:
    """The remarks that words tell of, in full or by their ids, without those that they only say ended."""
    return [*(each["id"] for each in words.items if "id" in each and each["said"] != "closed"), *words.besides]


@few
@given(pasts | busy_pasts, st.integers(0, 12))
def test_any_past_folds_and_a_snapshot_of_it_folds_on_to_the_same(past: list[Recorded], at: int) -> None:
    whole = fold_all("s", past)
    assert whole.seq == len(past)
    try:
        snapshot = msgspec.msgpack.encode(fold_all("s", past[:at]))
    except OverflowError:  # a plan with a whole number beyond 64 bits: such a state has no snapshot
        reject()
    assert fold_all("s", past[at:], msgspec.msgpack.decode(snapshot, type=SessionState)) == whole


@few
@given(busy_pasts)
def test_all_that_holds_has_every_open_remark_once_and_no_closed_one(past: list[Recorded]) -> None:
    state = fold_all("s", past)
    expected = sorted(each.id for each in remarks_of(state) if each.is_open)
    assert sorted(ids_in(standing(state))) == sorted(ids_in(standing(state, most=0))) == expected


@few
@given(busy_pasts)
def test_once_news_are_told_there_are_none(past: list[Recorded]) -> None:
    state = fold_all("s", past)
    for words in (news(state), standing(state)):
        told = Told("prompt", words.upto, words.since, words.remarks, "x")
        assert not news(fold(state, Recorded("s", state.seq + 1, 0, "relay", told)))


@few
@given(busy_pasts)
def test_ids_of_remarks_count_up_and_never_repeat(past: list[Recorded]) -> None:
    state, known = SessionState("s"), dict[str, int]()
    for recorded in past:
        before, state = state, fold(state, recorded)
        assert state.remarked >= before.remarked
        for each in remarks_of(state):
            assert known.setdefault(each.id, each.seq) == each.seq, "an id is one remark's for ever"
            assert 1 <= int(each.id[1:]) <= state.remarked
        new = [each.id for each in remarks_of(state) if each.seq == recorded.seq]
        assert set(new) <= {f"r{number}" for number in range(before.remarked + 1, state.remarked + 1)}
    ids = [each.id for each in remarks_of(state)]
    assert len(set(ids)) == len(ids)


@few
@given(busy_pasts)
def test_an_end_is_final_until_a_person_reopens_what_ended(past: list[Recorded]) -> None:
    state = SessionState("s")
    for recorded in past:
        before, state = state, fold(state, recorded)
        ends = {each.id: each.closed for each in remarks_of(before) if each.closed}
        if not isinstance(recorded.event, RemarkReopened | PlanReopened):
            held = [each for each in remarks_of(state) if each.id in ends]
            assert [each.closed for each in held] == [ends[each.id] for each in held]
        open_ones = {each.id for each in remarks_of(before) if each.is_open}
        assert open_ones <= {each.id for each in remarks_of(state)}, "nothing that is open is lost"


@few
@given(busy_pasts)
def test_comments_and_requests_that_people_made_end_untold_only_by_somebodys_word(past: list[Recorded]) -> None:
    """A change of a plan ends what its agent knows; what it does not know, only words on that very remark can end."""
    state = SessionState("s")
    for recorded in past:
        before, state = state, fold(state, recorded)
        unheard = {each.id for each in remarks_of(before) if each.is_open and not each.told}
        told = recorded.event.remarks if isinstance(recorded.event, Told) else ()
        for each in remarks_of(state):
            if each.id in unheard and each.kind in ("comment", "request") and each.closed:
                assert each.id in told or getattr(recorded.event, "remark", None) == each.id


not_in_words: st.SearchStrategy[StepChange] = st.one_of(
    st.builds(SetStatus, st.sampled_from(("s1", "s2")), st.sampled_from(("pending", "completed", "cancelled", "odd"))),
    st.builds(SetPriority, st.sampled_from(("s1", "s2")), st.sampled_from(("high", "low"))),
    st.builds(MoveStep, st.sampled_from(("s1", "s2")), st.sampled_from(("s1", "s2", ""))),
)


@few
@given(busy_pasts, st.lists(not_in_words, max_size=3))
@example([Recorded("s", 1, 0, AGENT, PlanSet(ItemsPlan("p", (Entry("a", None, "pending"),)), via=ACP))], [])
def test_a_status_alone_ends_no_request_and_makes_no_verdict_stale(
    past: list[Recorded], changes: list[StepChange]
) -> None:
    state = fold_all("s", past)
    verdict = Recorded("s", state.seq + 1, 0, "user", PlanReviewed("p", 1, CHANGES_REQUESTED, via="planwire"))
    before = fold(state, verdict)
    for number, change in enumerate(changes, start=2):
        state = fold(before, Recorded("s", verdict.seq + number, 0, AGENT, PlanChanged("p", None, (change,))))
        for plan_id, record in before.plans.items():
            after = state.plans[plan_id]
            assert [each.is_stale for each in after.reviews] == [each.is_stale for each in record.reviews]
            requests = [each.id for each in record.open_remarks if each.kind == "request"]
            if after.is_living == record.is_living:
                assert [each.id for each in after.open_remarks if each.kind == "request"] == requests
