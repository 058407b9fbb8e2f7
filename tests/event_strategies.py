"""Events of every kind for property tests, in any order.

`pasts` are of anything at all; in `busy_pasts` nearly all events are about one plan of few steps, so that they meet. In
`alike_pasts` its texts are so alike that which step is which hangs on every threshold.
"""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    COMMENT,
    COMMENTED,
    DISMISSED,
    OFFERED,
    REFUSED,
    REQUEST,
    SELECTION,
    SUGGESTION,
    TOLD,
    TOOLS,
    Choice,
    ContextCompacted,
    Event,
    FileSeen,
    Gap,
    MessageAdded,
    MessagePinned,
    Passage,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    RemarkReopened,
    ReviewAsked,
    SessionForked,
    SessionOpened,
    StopAsked,
    TellAsked,
    Told,
    TurnEnded,
)
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, Plan
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from tests.strategies import open_priorities, open_statuses, plan_ids, plans, texts

#: Few ids, so that events meet.
_ids = st.sampled_from(("p", "q", None)) | plan_ids
_steps = st.sampled_from(("s1", "s2", "s3", ""))
_remarks = st.integers(0, 6).map("r{}".format)
_numbers = st.integers(0, 12)
_words = st.sampled_from(("read", "write", "test"))
_step_changes: SearchStrategy[StepChange] = st.one_of(
    st.builds(SetStatus, _steps, open_statuses),
    st.builds(RewordStep, _steps, _words | texts),
    st.builds(SetPriority, _steps, open_priorities),
    st.builds(AddStep, _words | texts, st.none() | _steps),
    st.builds(MoveStep, _steps, _steps),
    st.builds(RemoveStep, _steps),
)
_several = st.lists(_step_changes, max_size=3).map(tuple)
_entries = st.builds(Entry, _words, st.just("medium"), st.sampled_from(("pending", "in_progress", "completed")))
_small_plans: SearchStrategy[Plan] = st.one_of(
    st.builds(ItemsPlan, st.just("p"), st.lists(_entries, max_size=3).map(tuple)),
    st.builds(MarkdownPlan, st.sampled_from(("p", "q")), _words.map("# {0}\n\n- [ ] {0}\n".format) | _words),
)
#: Names of questions, and of other requests; kinds of answers to them.
_questions = st.sampled_from(("", "a", "b"))
_kinds = st.sampled_from(("allow_once", "allow_always", "reject_once", ""))
_choices = st.builds(Choice, texts, texts, _kinds)
_reminders = _numbers.map(
    lambda upto: {"role": "event", "extra": {"event": {"source": "relay", "payload": {"mark": "m", "told": upto}}}}
)

#: What people say, what becomes of it, and that the agent is told.
remark_events: SearchStrategy[Event] = st.one_of(
    st.builds(
        Remarked,
        _ids,
        st.sampled_from((COMMENT, COMMENT, REQUEST, SELECTION, SUGGESTION)),
        texts,
        _numbers,
        st.none() | _steps,
        st.none() | st.builds(Passage, texts, texts, texts, st.integers(1, 5)),
        st.lists(_steps, max_size=2).map(tuple),
        _several,
        kept=st.booleans(),
    ),
    st.builds(RemarkClosed, _ids, _remarks, st.sampled_from(("withdrawn", "superseded", "run_all")) | texts, texts),
    st.builds(RemarkAnswered, _ids, _remarks, texts),
    st.builds(RemarkReopened, _ids, _remarks),
    st.builds(
        Told,
        st.sampled_from(("prompt", "tool", "context", "recap", "steering", "answer")),
        _numbers,
        _numbers,
        st.lists(_remarks, max_size=3).map(tuple),
        _questions,
        st.sampled_from((OFFERED, TOLD, TOLD, REFUSED)),
    ),
)
events: SearchStrategy[Event] = st.one_of(
    st.builds(PlanSet, _small_plans | plans(_ids), st.none() | texts, st.sampled_from((ACP, TOOLS))),
    st.builds(PlanChanged, _ids, st.none() | texts, _several),
    remark_events,
    remark_events,
    st.builds(PlanRemoved, _ids),
    st.builds(PlanReopened, _ids),
    st.builds(
        PlanReviewed,
        _ids,
        _numbers,
        st.sampled_from((APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED)) | texts,
        st.none() | texts,
        st.sampled_from(("", "planwire")),
        _questions,
        st.none() | texts,
        _kinds | texts,
        st.booleans(),
    ),
    st.builds(
        ReviewAsked,
        _ids,
        st.lists(_choices, max_size=3).map(tuple),
        _questions,
        st.booleans(),
    ),
    st.builds(TellAsked, st.booleans()),
    st.just(StopAsked()),
    st.builds(TurnEnded, texts),
    st.builds(MessageAdded, st.fixed_dictionaries({}, optional={"role": texts | st.none()}) | _reminders),
    st.builds(MessagePinned, texts, st.booleans()),
    st.builds(ContextCompacted, reason=texts),
    st.builds(Gap, _numbers, texts),
    st.builds(SessionOpened, st.none() | texts, st.none() | texts, st.none() | texts, st.none() | texts),
    st.builds(SessionForked, texts, _numbers),
)
_authors = st.sampled_from(("agent", "agent", "user", "ana", "relay", "client"))


def _numbered(told: list[tuple[str, Event]]) -> list[Recorded]:
    return [Recorded("s", seq, seq * 1_000, by, event) for seq, (by, event) in enumerate(told, start=1)]


#: What a journal may hold of a session: anything. Most begin with a plan, so that the rest is about something.
pasts: SearchStrategy[list[Recorded]] = st.builds(
    lambda plan, via, told: _numbered([("agent", PlanSet(plan, via=via)), *told]),
    _small_plans,
    st.sampled_from((ACP, TOOLS)),
    st.lists(st.tuples(_authors, events), max_size=12),
) | st.lists(st.tuples(_authors, events), max_size=8).map(_numbered)


# -- one busy plan

_here = st.sampled_from(("s1", "s2", "s3"))
_said = st.sampled_from(("r1", "r2", "r3", "r4", "r5"))
_texts = st.sampled_from(("read", "write", "test", "ship"))
_status = st.sampled_from(("pending", "in_progress", "completed", "completed", "cancelled"))
_change: SearchStrategy[StepChange] = st.one_of(
    st.builds(SetStatus, _here, _status),
    st.builds(RewordStep, _here, _texts),
    st.builds(AddStep, _texts),
    st.builds(RemoveStep, _here),
)
_some = st.lists(_change, min_size=1, max_size=2).map(tuple)
_list = st.lists(st.builds(Entry, _texts, st.just("medium"), _status), min_size=1, max_size=3, unique_by=str).map(tuple)
_set = st.builds(
    PlanSet, st.builds(ItemsPlan, st.just("p"), _list) | st.builds(MarkdownPlan, st.just("p"), _texts), st.none()
)
_remarked: SearchStrategy[Event] = st.one_of(
    st.builds(Remarked, st.just("p"), st.just(COMMENT), _texts, st.just(1), st.none() | _here, kept=st.booleans()),
    st.builds(Remarked, st.just("p"), st.just(REQUEST), _texts),
    st.builds(Remarked, st.just("p"), st.just(SELECTION), steps=_here.map(lambda step: (step,))),
    st.builds(Remarked, st.just("p"), st.just(SUGGESTION), changes=_some),
)
_told = st.builds(
    Told,
    st.sampled_from(("prompt", "context", "steering", "answer")),
    st.integers(0, 20),
    st.integers(0, 20),
    st.lists(_said, max_size=4, unique=True).map(tuple),
    st.sampled_from(("a", "b")),
    st.sampled_from((OFFERED, TOLD, TOLD, TOLD, REFUSED)),
)
_verdicts = st.builds(
    PlanReviewed,
    st.just("p"),
    st.just(1),
    st.sampled_from((APPROVED, CHANGES_REQUESTED, COMMENTED)),
    via=st.sampled_from(("", "planwire")),
    question=_questions,
    late=st.sampled_from((False, False, True)),
)
_ends: SearchStrategy[Event] = st.one_of(
    st.builds(RemarkClosed, st.just("p"), _said, st.just("withdrawn")),
    st.builds(RemarkAnswered, st.just("p"), _said, _texts),
    st.builds(RemarkReopened, st.just("p"), _said),
    st.sampled_from((PlanRemoved("p"), PlanReopened("p"), ReviewAsked("p"), ReviewAsked("q"), TurnEnded("end_turn"))),
    st.builds(ReviewAsked, st.just("p"), st.just((Choice("yes", "Yes", "allow_once"),)), _questions, st.booleans()),
    st.sampled_from((TellAsked(), TellAsked(interrupt=True), StopAsked())),
    st.builds(PlanSet, st.builds(MarkdownPlan, st.just("q"), _texts)),
)
_by_agent = st.tuples(st.just("agent"), st.one_of(_set, st.builds(PlanChanged, st.just("p"), st.none(), _some), _ends))
_by_people = st.tuples(
    st.sampled_from(("user", "ana")),
    st.one_of(_remarked, _remarked, _verdicts, _ends, _by_agent.map(lambda each: each[1])),
)
_by_relay = st.tuples(st.just("relay"), _told)
busy_pasts: SearchStrategy[list[Recorded]] = st.builds(
    lambda via, entries, told: _numbered([("agent", PlanSet(ItemsPlan("p", entries), via=via)), *told]),
    st.sampled_from((ACP, TOOLS)),
    _list,
    st.lists(st.one_of(_by_agent, _by_people, _by_people, _by_relay), min_size=6, max_size=20),
)


# -- steps that are hard to tell apart

_alike = st.sampled_from(
    (
        *(
            "Write the parser",
            "Write the parser of dates",
            "Writing the date parser",
            "Write a fast parser and its tests",
        ),
        *("Fix the login page", "Fix the slow login page on phones", "Check the login page"),
    )
)
_tasks = st.lists(st.builds(Entry, _alike, st.just("medium"), _status), min_size=1, max_size=4).map(tuple)
_boxes = st.lists(st.builds("- [{}] {}\n".format, st.sampled_from(" ~x"), _alike), min_size=1, max_size=4).map("".join)
_by_any_agent = st.tuples(
    st.just("agent"),
    st.builds(PlanSet, st.builds(ItemsPlan, st.just("p"), _tasks), via=st.sampled_from((ACP, TOOLS)))
    | st.builds(PlanSet, st.builds(MarkdownPlan, st.just("p"), _boxes))
    | st.builds(FileSeen, st.just("f"), _boxes),
)
alike_pasts: SearchStrategy[list[Recorded]] = st.lists(
    st.one_of(_by_any_agent, _by_any_agent, _by_people, _by_relay), min_size=2, max_size=12
).map(lambda told: _numbered([("agent", PlanSet(FilePlan("f", "file:///f.md"))), *told]))
