"""What a hook says, as events of its session: based on the newest state, and only what adds to it.

An agent's hooks come doubled, late, and in part: the same list after every call, a session that ends three times, a
turn whose beginning was not recorded. So nothing here depends on what came before, only on the state. A session begins
with its first prompt, title or plan: one in which nothing happened leaves no trace.

If an agent goes on in its terminal, that ends a question that is still open elsewhere.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias, assert_never

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from planwire.hooks import happenings
from planwire.hooks.plan_calls import TODOS
from planwire.model import events
from planwire.model.additions import addition
from planwire.model.authors import reported_by
from planwire.model.clocks import time_after
from planwire.model.decide import decided
from planwire.model.fold import fold
from planwire.model.kinds import prose_of
from planwire.model.plan import BODY_CAP, MAIN, Entry, ItemsPlan, MarkdownPlan, Plan
from planwire.model.records import AGENT, ANSWER, PLANWIRE, PlanRecord, SessionState
from planwire.model.sameness import is_same
from planwire.model.statuses import DEFAULT_STATUS
from planwire.model.stop_reasons import STOP_CANCELLED
from planwire.model.titles import title_of_prompt
from planwire.model.unheard import CLIENT
from planwire.steering.answers import plain_choice

#: The client of a session in a terminal, as people read it.
TERMINAL: Final = "the terminal"
#: The reason when a session ends because its context is cleared: its agent goes on, under another id.
_CLEARED: Final = "clear"
#: The field of an entry that holds the agent's own id of a task.
_TASK: Final = "taskId"
#: The beginnings of commands to the agent itself, which make no title.
_COMMANDS: Final = ("/", "<", "!", "#")
#: The answers to a proposal that only the terminal can give.
TERMINAL_OPTIONS: Final = (
    events.Choice("approve", "Approve", "allow_once"),
    events.Choice("keep-planning", "Keep planning", "reject_once"),
)

#: The most bytes of a list, or characters of a prose plan. More is no plan, and would keep every hook and every page
#: busy.
LARGEST_PLAN: Final = 4 * BODY_CAP
_TOO_LARGE: Final = events.Gap(1, f"a plan had more than {LARGEST_PLAN >> 10} KiB")

#: What can happen to a plan. Nothing else that a child does matters to the session.
_OF_PLANS: Final = (happenings.ListHeard, happenings.TaskChanged, happenings.Proposed, happenings.Decided)
#: What an agent does only if it no longer waits for an answer.
_SIGNS_OF_WORK: Final = (happenings.TurnBegan, happenings.ListHeard, happenings.TaskChanged, happenings.OwnCall)

#: An event with its author.
Authored: TypeAlias = tuple[str, events.Event]


class HookedSession(Struct, frozen=True):
    """A session as its hooks leave it: its state, and whether a turn is on (None: no hook said). `is_over`: the agent
    has left it."""

    state: SessionState
    is_working: bool | None = None
    is_over: bool = False


def record(
    session: HookedSession,
    heard: happenings.HookCall,
    title: str,
    at: int,
    placed: Callable[[events.SessionOpened], events.SessionOpened] = lambda about: about,
    suffix: str = "",
) -> tuple[HookedSession, list[Authored]]:
    """The session after a hook, and the events to write. `title` is the agent's name for people; `placed` adds where a
    session runs to what is known about it. New ids end with `suffix`."""
    written: list[Authored] = []
    way = reported_by(title)
    about = placed(events.SessionOpened(title, TERMINAL, heard.folder))
    what = [each for each in heard.what if heard.child is None or isinstance(each, _OF_PLANS)]
    for each in (None, *what) if session.state.seq or _begins(what) else ():
        said = _general(session, heard, about) if each is None else _of_happening(session, heard, each)
        for by, event in said:
            state, is_too_large = session.state, isinstance(event, events.PlanSet) and _is_too_large(event.plan)
            said_so = events.with_way(event, way) if by == CLIENT else event
            author, news = (PLANWIRE, _TOO_LARGE) if is_too_large else (by, said_so)
            if (new := addition(state, news)) is not None:
                new = decided(state, new, author, suffix)
                written.append((author, new))
                state = fold(state, events.Recorded(state.id, state.seq + 1, time_after(state.at, at, at), author, new))
                session = replace(session, state=state)
            if is_too_large:
                break  # what else there is to say is about that plan
    for each in what:
        session = _after(session, each)
    return session, written


def has_text(record: PlanRecord | None, text: str) -> bool:
    """Whether a plan is that text. Agents vary the blanks at its ends."""
    return record is not None and not record.removed and (prose_of(record.state.plan) or "").strip() == text.strip()


def child_reader(heard: happenings.HookCall) -> str:
    """The reader that a hook belongs to: the agent itself, or the child by the name of its list."""
    return heard.own_plan(TODOS) if heard.child else ""


def _after(session: HookedSession, happening: happenings.Happening) -> HookedSession:
    match happening:
        case happenings.TurnBegan():
            return replace(session, is_working=True, is_over=False)
        case happenings.TurnOver():
            return replace(session, is_working=False)
        case happenings.Started():
            return replace(session, is_over=False)
        case happenings.Ended(reason=reason):
            return replace(session, is_working=False, is_over=reason != _CLEARED)
    return session


def _general(session: HookedSession, heard: happenings.HookCall, about: events.SessionOpened) -> Iterator[Authored]:
    """What any hook says about the session itself. A sub-agent may work in another folder."""
    if heard.child is None or not session.state.seq:
        yield PLANWIRE, about
    if heard.child is None and any(isinstance(each, _SIGNS_OF_WORK) for each in heard.what):
        yield from _went_on(session.state)


def _is_too_large(plan: Plan) -> bool:
    text = prose_of(plan)
    size = len(msgspec.json.encode(plan)) if text is None else len(text)
    return size > LARGEST_PLAN


def _begins(what: Iterable[happenings.Happening]) -> bool:
    """Whether a session begins with this."""
    return any(isinstance(each, (happenings.TurnBegan, happenings.Titled, *_OF_PLANS)) for each in what)


def _of_happening(
    session: HookedSession, heard: happenings.HookCall, happening: happenings.Happening
) -> Iterator[Authored]:
    state = session.state
    match happening:
        case happenings.TurnBegan(prompt=prompt):
            has_title = state.opened is not None and state.opened.title is not None
            if prompt.strip() and not has_title and not prompt.lstrip().startswith(_COMMANDS):
                yield PLANWIRE, events.SessionOpened(title=title_of_prompt(prompt))
        case happenings.Titled(title=words):
            yield AGENT, events.SessionOpened(title=title_of_prompt(words))
        case happenings.ListHeard(plan_id=plan_id, entries=entries, summary=summary):
            if entries or heard.own_plan(plan_id) in state.live():
                yield AGENT, _plan_set(state, heard, ItemsPlan(heard.own_plan(plan_id), entries), summary)
        case happenings.TaskChanged():
            shared = replace(heard, child=None)  # sub-agents work on the tasks of their session
            if (plan := _with_task(state, shared, happening)) is not None:
                yield AGENT, _plan_set(state, shared, plan)
        case happenings.Proposed(plan_id=plan_id, text=text, draft=draft):
            if text.strip():
                yield from _proposed(state, heard, MarkdownPlan(heard.own_plan(plan_id), text), is_asked=not draft)
        case happenings.Decided():
            yield from _decided(state, heard, happening)
        case happenings.Compacted():
            if state.seq and state.compacted != state.seq:
                yield AGENT, events.ContextCompacted(reason="reported by a hook")
        case happenings.TurnOver(stop_reason=reason):
            if session.is_working or state.stopped is None:
                yield AGENT, events.TurnEnded(reason)
        case happenings.Ended():
            if session.is_working or any(each.asked for each in state.plans.values()):
                yield AGENT, events.TurnEnded(STOP_CANCELLED)
        case (
            happenings.Started()
            | happenings.ChildBegan()
            | happenings.ChildEnded()
            | happenings.OwnCall()
            | happenings.PlanInTranscript()
            | happenings.TodosInDatabase()
        ):
            pass  # nothing happened to a plan, or it was not looked up
        case _:
            assert_never(happening)


def _went_on(state: SessionState) -> Iterator[Authored]:
    """The ends of unanswered questions: the agent or its person went on in the terminal. A refusal there runs no hook
    of its own."""
    for plan_id, each in state.live().items():
        if each.asked is not None and each.owner == AGENT:
            yield CLIENT, events.PlanReviewed(plan_id, 0, events.DISMISSED, question=each.asked.id)


def _proposed(
    state: SessionState, heard: happenings.HookCall, plan: MarkdownPlan, *, is_asked: bool
) -> Iterator[Authored]:
    record = state.live().get(plan.id)
    yield AGENT, _plan_set(state, heard, plan)
    is_open = record is not None and record.asked is not None and is_same(record.state.plan, plan)
    if is_asked and not is_open:
        yield AGENT, events.ReviewAsked(plan.id, TERMINAL_OPTIONS, _question(state, heard))


def _question(state: SessionState, heard: happenings.HookCall) -> str:
    """A name for a question, unique in the session but the same for a repeated hook."""
    return f"terminal-{heard.call or heard.turn or state.seq}"


def _decided(state: SessionState, heard: happenings.HookCall, decided: happenings.Decided) -> Iterator[Authored]:
    """The terminal's answer to a proposal, unless the agent has the same one from planwire."""
    plan_id = heard.own_plan(decided.plan_id)
    record = state.live().get(plan_id)
    verdict = events.APPROVED if decided.approved else events.CHANGES_REQUESTED
    if record is None and not decided.text.strip():
        return
    given = record.decision if record else None
    is_text = not decided.text.strip() or has_text(record, decided.text)
    if given is not None and given.verdict == verdict and is_text:  # the agent's receipt for a person's decision
        yield CLIENT, events.Told(ANSWER, 0, request=given.question)
        return
    if not is_text:
        yield AGENT, _plan_set(state, heard, MarkdownPlan(plan_id, decided.text))
    asked, last = (record.asked, record.review) if record else (None, None)
    is_known = asked is None and last is not None and last.verdict == verdict and not last.is_stale
    if not is_known:
        if record is None or not record.is_proposal:
            yield AGENT, events.ReviewAsked(plan_id, TERMINAL_OPTIONS, _question(state, heard))
        review = events.PlanReviewed(plan_id, 0, verdict, question=asked.id if asked else "")
        choice = plain_choice(asked.options, verdict) if asked else None
        chosen = {"answer": choice.name, "option": choice.id, "kind": choice.kind} if choice else {}
        yield CLIENT, replace(review, **chosen)


def _plan_set(
    state: SessionState, heard: happenings.HookCall, plan: Plan, summary: str | None = None
) -> events.PlanSet:
    is_new = heard.child is not None and plan.id not in state.live()
    parent = _step_at_work(state) if is_new else None
    return events.PlanSet(plan, summary, events.HOOKS, parent=parent, reader=child_reader(heard))


def _step_at_work(state: SessionState) -> events.StepRef | None:
    """The step that the agent itself works on: a new child works for it."""
    for plan_id in (MAIN, TODOS):
        for step in state.live()[plan_id].state.steps if plan_id in state.live() else ():
            if step.is_current:
                return events.StepRef(plan_id, step.id)
    return None


def _with_task(state: SessionState, heard: happenings.HookCall, task: happenings.TaskChanged) -> ItemsPlan | None:
    """The list with one task changed; None if an unknown task is gone."""
    plan_id = heard.own_plan(task.plan_id)
    record = state.live().get(plan_id)
    entries = record.state.plan.entries if record and isinstance(record.state.plan, ItemsPlan) else ()
    place = next((n for n, each in enumerate(entries) if (each.meta or {}).get(_TASK) == task.key), None)
    if place is None:
        if task.gone:
            return None
        new = Entry(task.content or f"Task {task.key}", None, task.status or DEFAULT_STATUS, {_TASK: task.key})
        return ItemsPlan(plan_id, (*entries, new))
    known = entries[place]
    changed = replace(known, content=task.content or known.content, status=task.status or known.status)
    return ItemsPlan(plan_id, (*entries[:place], *(() if task.gone else (changed,)), *entries[place + 1 :]))
