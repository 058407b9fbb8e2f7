"""The table of acts, and what can be asked of any act: arguments, JSON, and the laws that hold for all of them."""

from collections import Counter
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from planwire.errors import NothingChanges, PlanError, UnknownAct
from planwire.model.changes import apply_changes
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    COMMENTED,
    Choice,
    Comment,
    Passage,
    PlanSet,
    RemarkClosed,
    ReviewAsked,
)
from planwire.model.identity import track
from planwire.model.plan import FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from planwire.model.records import AGENT
from planwire.model.remarks import WITHDRAWN
from planwire.model.statuses import STATUSES, canonical
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.steps import Step
from planwire.model.text import unwrapped
from planwire.steering.acts import ACTS, On, act_named, acts_for, check_early
from planwire.steering.conflict import Touches
from planwire.steering.moves import ways_to_move
from planwire.steering.offers import status_offers
from planwire.steering.overlay import Overlay
from planwire.steering.plan_text import as_text
from planwire.steering.reach import ANSWER, STEER, STOP, TELL, Reach
from planwire.steering.reach import WORDS as TAKES_WORDS
from planwire.steering.target import Decision
from planwire.steering.wanted import ARGUMENTS, Wanted
from tests.steering.acting import LIST, NESTED, NO, TEXT, YES, Session, a_list, agents
from tests.strategies import contents, entries, markdown_texts, plans, texts

# -- the table


def test_every_row_has_a_name_a_command_a_label_and_help_of_its_own() -> None:
    for attribute in ("name", "command", "label", "help"):
        values = [getattr(act, attribute) for act in ACTS.values()]
        assert all(values)
        assert len(set(values)) == len(values)
    for name, act in ACTS.items():
        assert act.name == name
        assert act.help[0].isupper()
        assert not act.help.endswith(".")
        assert len(act.label.split()) <= 3
        assert {*act.needs, *act.takes} <= {*ARGUMENTS}
        assert not {*act.needs} & {*act.takes}


def test_no_key_means_two_things() -> None:
    """The keys of a plan work on its steps as well, so the two share one keyboard; a remark has its own row."""
    keys: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for act in ACTS.values():
        for gesture in act.gestures:
            on = gesture.on or act.on
            keys[on is On.REMARK].update(gesture.keys)
            assert gesture.keys
            assert gesture.label
            assert gesture.help
            assert set(gesture.arguments) <= {*act.needs, *act.takes}
    assert [key for counted in keys.values() for key, count in counted.items() if count > 1] == []


def test_every_gesture_with_arguments_does_its_act() -> None:
    for act in ACTS.values():
        for gesture in act.gestures:
            if gesture.arguments:
                session = Session(a_list("a", "b", "c", status="paused"))
                session.do("set_priority", "s2", priority="high")
                target = "s1" if gesture.arguments == {"priority": "high"} else "s2"
                assert session.do(act.name, target, **gesture.arguments).events


def test_an_act_that_nobody_knows_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UnknownAct, match="there is no act 'wish'; the acts are: tick, set_status"):
        act_named("wish")
    with pytest.raises(UnknownAct):
        Session(LIST).do("wish")


# -- what is offered

CHANGES = ("tick", "set_status", "reword", "add", "move", "remove")
WORDS = ("comment", "review")


@pytest.mark.parametrize(
    ("plan", "names"),
    [
        (LIST, {*CHANGES, "set_priority", *WORDS, "select", "suggest", "dismiss"}),
        (TEXT, {*CHANGES, *WORDS, "select", "suggest", "dismiss"}),
        (a_list("done", status="completed"), {*CHANGES, "set_priority", *WORDS, "suggest", "dismiss"}),
        (MarkdownPlan("main", "prose"), {"add", *WORDS, "dismiss"}),
        (ItemsPlan("main", ()), {"add", *WORDS, "dismiss"}),
        (FilePlan("main", "file:///plan.md"), {*WORDS, "dismiss"}),
        (OtherPlan("main", "_tree", {}), {*WORDS, "dismiss"}),
    ],
    ids=["list", "text", "done", "prose", "empty", "file", "custom"],
)
def test_a_plan_is_offered_the_acts_that_it_can_take(plan: Plan, names: set[str]) -> None:
    assert set(acts_for(Session(plan).record)) == names
    session = agents(plan)
    session.do("suggest", text="a note")
    assert set(acts_for(session.record)) == {*names, "withdraw"}
    session.do("withdraw", "r1")
    assert set(acts_for(session.record)) == {*names, "reopen"}
    session.do("dismiss")
    assert acts_for(session.record) == ("reopen",)


def test_a_dismissed_plan_with_words_that_nobody_has_told_takes_these_back() -> None:
    session = agents(LIST)
    session.do("comment", text="never touch vendor/")
    session.do("dismiss")
    assert acts_for(session.record) == ("withdraw", "reopen")
    session.do("withdraw", "r1")
    session.do("reopen")
    assert set(session.state.live()) == {"main"}


def test_the_statuses_of_a_menu_are_a_tick_the_others_and_the_way_back() -> None:
    labels = {word: [offer.label for offer in status_offers(word)] for word in STATUSES}
    assert labels == {
        "pending": ["Done", "In progress", "Cancelled"],
        "in_progress": ["Done", "Cancelled", "To do"],
        "completed": ["Not done", "In progress", "Cancelled"],
        "cancelled": ["Done", "In progress", "Not cancelled"],
    }
    assert [offer.label for offer in status_offers("blocked")] == ["Done", "In progress", "Cancelled", "To do"]
    for word in (*STATUSES, "blocked"):
        offers = status_offers(word)
        assert offers[0].key == "x"
        assert [(offer.act, offer.arguments) for offer in offers] == [
            ("tick", {}),
            *(("set_status", {"status": offer.status}) for offer in offers[1:]),
        ]
        assert len({offer.status for offer in offers}) == len(offers)
        assert len({offer.menu_key for offer in offers}) == len(offers)
        assert word not in {offer.status for offer in offers}


def test_what_a_plan_can_not_do_is_refused_before_anything_is_asked() -> None:
    session = agents(LIST)
    session.do("add", text="new")
    session.do("suggest", text="a note", changes=(AddStep("other"), RemoveStep("s1")))
    new, several = (each.id for each in session.record.suggestions)
    for wanted in (Wanted("reword", new), Wanted("remove", new), Wanted("withdraw", several), Wanted("comment", "s1")):
        check_early(session.record, wanted)
    for wanted, words in (
        (Wanted("reword", several), "more than a new step"),
        (Wanted("set_status", new), "This step is only suggested"),
        (Wanted("select", steps=("s1",)), "the selected step is done or cancelled"),
    ):
        with pytest.raises(PlanError, match=words):
            check_early(session.record, wanted)
    with pytest.raises(PlanError, match="This plan is a file"):
        check_early(agents(FilePlan("main", "file:///plan.md")).record, Wanted("add"))


def test_a_suggested_step_is_removed_by_withdrawing_it() -> None:
    session = agents(LIST)
    session.do("add", text="new")
    assert session.do("remove", "r1").events == (RemarkClosed("main", "r1", WITHDRAWN),)
    assert session.record.suggestions == ()


# -- arguments

#: An argument of each kind that means something.
GIVEN: dict[str, Any] = {
    "text": "text",
    "passage": Passage("a passage", "before"),
    "keep": True,
    "status": "done",
    "priority": "high",
    "after": "",
    "before": "s1",
    "by": 1,
    "verdict": APPROVED,
    "option": "yes",
    "question": "q1",
    "now": True,
    "interrupt": True,
    "steps": ("s3",),
    "comments": (Comment("hm"),),
    "changes": (RemoveStep("s2"),),
    "plan_text": "[ ] test {s3}",
    "edited": "# Another plan",
}


def test_every_argument_is_tried() -> None:
    assert set(GIVEN) == set(ARGUMENTS)


@pytest.mark.parametrize("act", ACTS.values(), ids=lambda act: act.name)
def test_an_act_says_which_argument_is_missing_or_too_many(act: Any) -> None:
    session = Session(LIST)
    target = "s3" if act.needs_target else None
    needed = {name: GIVEN[name] for name in act.needs}
    for name in act.needs:
        with pytest.raises(PlanError, match=f"The act '{act.name}' needs '{name}'"):
            session.do(act.name, target, **{key: value for key, value in needed.items() if key != name})
    for name in {*ARGUMENTS} - {*act.needs, *act.takes}:
        with pytest.raises(PlanError, match=f"The act '{act.name}' doesn't take '{name}'"):
            session.do(act.name, target, **needed, **{name: GIVEN[name]}, seen=1)
    if act.needs_target:
        with pytest.raises(PlanError, match=f"The act '{act.name}' needs 'target'"):
            session.do(act.name, **needed)
    elif act.on is On.PLAN:
        with pytest.raises(PlanError, match=f"The act '{act.name}' doesn't take 'target'"):
            session.do(act.name, "s3", **needed)


def test_an_act_that_touches_nothing_never_needs_the_plan_that_was_seen() -> None:
    touching_nothing = {act.name for act in ACTS.values() if act.touches is Touches.NOTHING}
    assert touching_nothing == {"comment", "tell", "stop", "withdraw", "reopen"}


# -- JSON

WANTED = [
    Wanted("tick", "s1", 17),
    Wanted("reword", "s3", 17, text="Ship it"),
    Wanted("add", text="Ship it", after=""),
    Wanted("move", "s3", 0, by=-1),
    Wanted("review", None, 17, text="no", verdict=CHANGES_REQUESTED, comments=(Comment("a", "s1"), Comment("b"))),
    Wanted("select", None, 17, steps=("s1", "s2")),
    Wanted(
        "suggest",
        None,
        17,
        changes=(
            SetStatus("s1", "done"),
            RewordStep("s1", "x"),
            SetPriority("s1", "low"),
            AddStep("x", "", "low", "completed"),
            MoveStep("s1", ""),
            RemoveStep("s1"),
        ),
    ),
    Wanted("suggest", None, 17, plan_text="[ ] x"),
    Wanted("withdraw", "r12", text="not needed"),
    Wanted("comment", None, 17, text="never", passage=Passage("a passage", "of", "two", 2), keep=True),
    Wanted("reopen"),
    Wanted("review", None, 17, option="exit-plan-auto", question="q1", text="go", now=True, interrupt=False),
    Wanted("review", None, 17, verdict=APPROVED, question="q1", edited="# Ship it"),
    Wanted("tell", text="look at the tests", interrupt=True),
    Wanted("stop"),
]


@pytest.mark.parametrize("wanted", WANTED, ids=repr)
def test_an_act_survives_its_way_through_json(wanted: Wanted) -> None:
    data = msgspec.json.encode(wanted)
    assert b"null" not in data
    assert msgspec.json.decode(data, type=Wanted) == wanted


@pytest.mark.parametrize(
    "data",
    [
        "{}",
        '{"act": "tick", "step": "s1"}',
        '{"act": "tick", "target": 1}',
        '{"act": "tick", "seen": -1}',
        '{"act": "tick", "seen": 9007199254740992}',
        '{"act": "tick", "seen": 1.5}',
        '{"act": "move", "by": 4294967296}',
        '{"act": "suggest", "changes": [{"do": "fly"}]}',
        '{"act": "suggest", "changes": [{"do": "status", "step": "s1"}]}',
    ],
)
def test_json_that_is_no_act_is_refused(data: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(data, type=Wanted)


def test_one_act_has_bounds() -> None:
    for field, one, most in (
        ("changes", {"do": "remove", "step": "s1"}, 100),
        ("comments", {"text": "a"}, 200),
        ("steps", "s1", 5_000),
    ):
        data = {"act": "suggest", field: most * [one]}
        assert len(getattr(msgspec.convert(data, Wanted), field)) == most
        with pytest.raises(msgspec.ValidationError, match="length"):
            msgspec.convert({**data, field: (most + 1) * [one]}, Wanted)


# -- laws for all acts

ids = st.sampled_from(("s1", "s2", "s3", "s4", "s6", "s99"))
#: Ids of steps, of remarks, and neither.
targets: SearchStrategy[str | None] = st.one_of(
    st.none(), ids, st.integers(0, 9).map("r{}".format), st.sampled_from(("", "٣", "r٣", "r", "s"))
)
statuses = st.sampled_from((*STATUSES, "done", "blocked", "")) | texts
changes: SearchStrategy[StepChange] = st.one_of(
    st.builds(SetStatus, ids, statuses),
    st.builds(RewordStep, ids, contents),
    st.builds(SetPriority, ids, st.sampled_from(("high", "low", "medium", "urgent"))),
    st.builds(AddStep, contents, st.none() | st.just("") | ids),
    st.builds(MoveStep, ids, st.just("") | ids),
    st.builds(RemoveStep, ids),
)
remarks = st.builds(Comment, contents, st.none() | ids)
any_wanted = st.builds(
    Wanted,
    st.sampled_from((*ACTS, "wish", "")),
    targets,
    st.none() | st.integers(-1, 12),
    st.none() | contents,
    st.none() | contents,
    st.sampled_from((None, True, False)),
    st.none() | statuses,
    st.none() | st.sampled_from(("high", "medium", "low", "urgent", "")),
    st.none() | st.just("") | ids,
    st.none() | ids,
    st.none() | st.integers(-(2**31), 2**31) | st.integers(-3, 3),
    st.none() | st.sampled_from((APPROVED, CHANGES_REQUESTED, COMMENTED, "dismissed")),
    st.none() | st.sampled_from(("yes", "Yes", "no", "")),
    st.none() | st.sampled_from(("q1", "q2", "")),
    st.sampled_from((None, True, False)),
    st.sampled_from((None, True, False)),
    st.none() | st.lists(ids, max_size=3).map(tuple),
    st.none() | st.lists(remarks, max_size=2).map(tuple),
    st.none() | st.lists(changes, max_size=3).map(tuple),
    st.none() | st.lists(st.sampled_from(("[ ] a {s1}", "[x] b {s2}", "[ ] c", "# d", "e")), max_size=4).map("\n".join),
    st.none() | contents,
)
#: Acts with just the arguments that they take.
acts_on_steps: SearchStrategy[Wanted] = st.one_of(
    st.builds(Wanted, st.sampled_from(("tick", "remove")), ids),
    st.builds(lambda step, status: Wanted("set_status", step, status=status), ids, st.sampled_from((*STATUSES,))),
    st.builds(lambda step, text: Wanted("reword", step, text=text), ids, contents),
    st.builds(lambda step, word: Wanted("set_priority", step, priority=word), ids, st.sampled_from(("high", "low"))),
    st.builds(lambda step, by: Wanted("move", step, by=by), ids, st.integers(-3, 3)),
    st.builds(lambda step, after: Wanted("move", step, after=after), ids, st.just("") | ids),
    st.builds(lambda step, before: Wanted("move", step, before=before), ids, ids),
    st.builds(lambda after, text: Wanted("add", after=after, text=text), st.none() | ids, contents),
    st.builds(lambda several: Wanted("suggest", changes=tuple(several)), st.lists(changes, min_size=1, max_size=3)),
)
words: SearchStrategy[Wanted] = st.one_of(
    st.builds(lambda step, text: Wanted("comment", step, text=text), st.none() | ids, contents),
    st.builds(lambda text: Wanted("suggest", text=text), contents),
    st.builds(lambda verdict: Wanted("review", verdict=verdict), st.sampled_from((APPROVED, CHANGES_REQUESTED))),
    st.builds(lambda steps: Wanted("select", steps=tuple(steps)), st.lists(ids, min_size=1, max_size=3)),
    st.builds(lambda steps, text: Wanted("select", steps=tuple(steps), text=text), st.lists(ids, min_size=1), contents),
    st.builds(Wanted, st.sampled_from(("withdraw", "reopen")), st.sampled_from(("r1", "r2", "r3"))),
)
some_entries = st.lists(entries(), min_size=1, max_size=6).map(tuple)
steerable_plans: SearchStrategy[Plan] = st.one_of(
    st.builds(ItemsPlan, st.just("main"), some_entries),
    st.builds(MarkdownPlan, st.just("main"), markdown_texts()),
    st.sampled_from((LIST, TEXT, NESTED)),
)
owners = st.sampled_from(("tools", "acp"))


def tried(session: Session, wanted: Wanted) -> bool:
    """Whether an act went through. Nothing but a `PlanError` may stop it."""
    try:
        session.append(*session.decide(wanted).events)
    except PlanError:
        return False
    return True


reaches = st.builds(Reach, st.frozensets(st.sampled_from((ANSWER, TELL, STEER, STOP, TAKES_WORDS))), st.booleans())
choices = st.lists(st.sampled_from((YES, NO, Choice("odd", "Odd"), Choice("", "Yes"))), max_size=3).map(tuple)


@given(
    plans(st.just("main")),
    owners,
    st.none() | choices,
    st.booleans(),
    reaches,
    st.lists(any_wanted, min_size=1, max_size=6),
)
def test_nothing_but_a_designed_refusal_comes_of_any_act(
    plan: Plan, via: str, options: tuple[Choice, ...] | None, takes_edit: bool, reach: Reach, wanted: list[Wanted]
) -> None:
    session = Session(plan, via)
    session.reach = reach
    if options is not None:
        session.append(ReviewAsked("main", options, "q1", takes_edit), by=AGENT)
    for each in wanted:
        before = session.state
        decision = answer(session, each)
        assert session.state is before
        if isinstance(decision, Decision):
            assert decision.events
            assert decision.words
            session.append(*decision.events)
        else:
            assert decision[1]


@given(steerable_plans, owners, st.lists(acts_on_steps | words, max_size=5), acts_on_steps | words)
def test_a_decision_depends_on_nothing_but_its_arguments(
    plan: Plan, via: str, first: list[Wanted], wanted: Wanted
) -> None:
    sessions = Session(plan, via), Session(plan, via)
    for session in sessions:
        for each in first:
            tried(session, each)
    one, other = (answer(session, wanted) for session in sessions)
    assert one == other
    assert answer(sessions[0], wanted) == one


def answer(session: Session, wanted: Wanted) -> Decision | tuple[type[PlanError], str]:
    try:
        return session.decide(wanted)
    except PlanError as refusal:
        return type(refusal), str(refusal)


def is_as_wanted(plan: Overlay, suggested: list[StepChange], wanted: Wanted) -> bool:
    """Whether a plan is as an act on a step wants it, or the changes that come and go with steps are suggested."""
    step = next((each for each in plan.steps if each.id == wanted.target), Step("", "", ""))
    match wanted.act:
        case "set_status":
            return canonical(step.status) == wanted.status
        case "reword":
            return unwrapped(step.content) == unwrapped(wanted.text or "")
        case "set_priority":
            return step.priority == wanted.priority
        case "move" if wanted.after is not None:
            return not plan.news([MoveStep(step.id, wanted.after)])
        case "remove":
            return not step.id or RemoveStep(step.id) in suggested
        case "add":
            new = [each.content for each in (*plan.steps, *suggested) if isinstance(each, Step | AddStep)]
            return unwrapped(wanted.text or "") in map(unwrapped, new)
    return True


def is_suggested(session: Session, wanted: Wanted) -> bool:
    """The same for a plan with all that is suggested for it, if anything is."""
    return is_as_wanted(Overlay.of(session.record.state, session.record.suggestions), session.suggested, wanted)


@given(steerable_plans, owners, st.lists(acts_on_steps, max_size=4), acts_on_steps)
def test_after_an_act_the_plan_or_its_suggestions_say_what_was_asked(
    plan: Plan, via: str, first: list[Wanted], wanted: Wanted
) -> None:
    session = Session(plan, via)
    for each in first:
        tried(session, each)
    if tried(session, wanted):
        assert is_suggested(session, wanted)


@given(steerable_plans, owners, st.lists(acts_on_steps, max_size=4), acts_on_steps)
def test_an_act_that_changes_nothing_leaves_nothing_to_want(
    plan: Plan, via: str, first: list[Wanted], wanted: Wanted
) -> None:
    session = Session(plan, via)
    for each in first:
        tried(session, each)
    try:
        session.decide(wanted)
    except NothingChanges:
        # A suggestion of several changes may say otherwise than the plan: it is withdrawn as a whole, by its id.
        assert is_suggested(session, wanted) or is_as_wanted(Overlay.of(session.record.state), [], wanted)
    except PlanError:
        pass


@given(steerable_plans, owners, st.lists(acts_on_steps | words, max_size=4), acts_on_steps | words)
def test_an_act_that_is_repeated_writes_no_second_event(
    plan: Plan, via: str, first: list[Wanted], wanted: Wanted
) -> None:
    """A tick goes back and forth, a step moves on by places, and a plan of planwire's own can have like steps."""
    session = Session(plan, via)
    for each in first:
        tried(session, each)
    adds = wanted.act == "add" or any(isinstance(each, AddStep) for each in wanted.changes or ())
    is_repeatable = wanted.act == "tick" or wanted.by or (adds and via == "tools")
    if tried(session, wanted) and not is_repeatable:
        with pytest.raises(PlanError):
            session.decide(wanted)


@given(steerable_plans, st.lists(acts_on_steps, max_size=8), st.lists(st.integers(0, 7), max_size=2))
def test_a_step_has_one_open_suggestion_of_each_kind(plan: Plan, wanted: list[Wanted], reports: list[int]) -> None:
    session = Session(plan, "acp")
    for number, each in enumerate(wanted):
        if number in reports:
            session.append(PlanSet(plan, via="acp"), by=AGENT)
        tried(session, each)
        single = [each.changes[0] for each in session.record.suggestions if len(each.changes) == 1]
        subjects = Counter((type(each), each.step) for each in single if not isinstance(each, AddStep))
        assert not [subject for subject, count in subjects.items() if count > 1]


@given(st.sampled_from((a_list("a", "b", "c", "d", "e"), NESTED)), owners, ids, st.sampled_from((-1, 1)))
def test_two_moves_by_one_place_are_a_move_by_two(plan: Plan, via: str, step: str, by: int) -> None:
    one, two = Session(plan, via), Session(plan, via)
    for _ in range(2):
        tried(one, Wanted("move", step, by=by))
    tried(two, Wanted("move", step, by=2 * by))
    assert one.order == two.order


@given(steerable_plans, owners, ids, st.integers(-5, 5))
def test_a_move_by_places_passes_that_many_steps_beside_it_and_no_others(
    plan: Plan, via: str, step: str, by: int
) -> None:
    session = Session(plan, via)
    before = [each.content for each in session.record.state.steps if each.id != step]
    depths = {each.id: each.depth for each in session.record.state.steps}
    if tried(session, Wanted("move", step, by=by)):
        state = Overlay.of(session.record.state, session.record.suggestions)
        assert sorted(each.content for each in state.steps if each.id != step) == sorted(before)
        assert {each.id: each.depth for each in state.steps} == depths
        assert not ways_to_move(state.steps, step, by) or abs(by) < len(depths)


@given(steerable_plans, owners, st.lists(acts_on_steps, max_size=4))
def test_the_unedited_text_of_a_plan_asks_for_nothing(plan: Plan, via: str, first: list[Wanted]) -> None:
    session = Session(plan, via)
    for each in first:
        tried(session, each)
    if steps := session.record.state.steps:
        with pytest.raises(NothingChanges if all(each.status for each in steps) else PlanError):
            session.do("suggest", plan_text=as_text(session.record.state), seen=session.revision)


@given(st.sampled_from((a_list("a", "b", "c", "d"), NESTED)) | steerable_plans, st.lists(changes, max_size=4))
def test_suggestions_lie_over_a_plan_as_they_would_change_it(plan: Plan, wanted: list[StepChange]) -> None:
    state = track(plan)
    overlay = Overlay.of(state)
    for each in wanted:
        if not isinstance(each, AddStep | RemoveStep):
            with suppress(PlanError):
                state = apply_changes(state, [each])
                overlay = overlay.after([each])
    assert overlay.order == [step.id for step in state.steps]
    assert [step.depth for step in overlay.steps] == [step.depth for step in state.steps]
    assert [canonical(step.status) for step in overlay.steps] == [canonical(step.status) for step in state.steps]
    assert [unwrapped(step.content) for step in overlay.steps] == [unwrapped(step.content) for step in state.steps]
    assert [step.priority for step in overlay.steps] == [step.priority for step in state.steps]
