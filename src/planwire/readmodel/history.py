"""A session's history, a moment an event: what it changed, in a few words.

`tell` needs the states before and after an event, and `history` folds them on the way. The words are for people; their
kinds are for whoever colours or counts them.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import asdict

from planwire.model.diff import compare
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    COMMENTED,
    DISMISSED,
    AddStep,
    ContextCompacted,
    MessageAdded,
    MoveStep,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemoveStep,
    ReviewAsked,
    RewordStep,
    SessionOpened,
    SetPriority,
    SetStatus,
    StepChange,
    TurnEnded,
    WishWithdrawn,
)
from planwire.model.fold import AGENT, PlanRecord, Review, SessionState, fold
from planwire.model.plan import FilePlan, MarkdownPlan, PlanId
from planwire.model.statuses import meaning
from planwire.model.steps import PlanState, Progress

__all__ = ["Moment", "Word", "history", "plan_name", "tell", "verdict_words", "wish_words"]


class Word(Struct, frozen=True, omit_defaults=True):
    """One thing that an event did. `kind` is a status that a step got, or what else happened: `added`, `note`, …"""

    kind: str
    text: str
    step: str | None = None


class Moment(Struct, frozen=True):
    """An event as people read it. `event` is its kind as it is stored, `progress` how far its plan was after it."""

    session: str
    seq: int
    at: int
    by: str
    event: str
    plan: str | None
    words: tuple[Word, ...]
    done: int | None = None
    total: int | None = None

    @property
    def is_message(self) -> bool:
        """Whether it is a message of the chat, which says nothing of plans."""
        return any(word.kind == "message" for word in self.words)


def history(events: Iterable[Recorded], state: SessionState) -> Iterator[tuple[Moment, SessionState, SessionState]]:
    """Every event as a moment, with the states before and after it. `state` is the one before the first of them."""
    for recorded in events:
        before, state = state, fold(state, recorded)
        yield tell(recorded, before, state), before, state


def tell(recorded: Recorded, before: SessionState, after: SessionState) -> Moment:
    """What an event did to its session."""
    event = recorded.event
    plan_id, words = _told(recorded, before, after)
    about_plan = isinstance(event, PlanSet | PlanChanged | PlanRemoved | ReviewAsked | PlanReviewed | WishWithdrawn)
    record = after.plans.get(plan_id) if about_plan else None
    steps = record.state.steps if record and not record.removed else ()
    progress = Progress.of(steps)
    return Moment(
        recorded.session,
        recorded.seq,
        recorded.at,
        recorded.by,
        str(type(event).__struct_config__.tag),
        plan_name(plan_id) if about_plan else None,
        words,
        progress.done if steps else None,
        progress.total if steps else None,
    )


def plan_name(plan_id: PlanId) -> str:
    """What a plan is called where people read of it."""
    return "plan" if plan_id is None else plan_id


def wish_words(state: PlanState, changes: Iterable[StepChange]) -> tuple[Word, ...]:
    """Changes that were not made (they are wished for), in words."""
    texts = {step.id: step.content for step in state.steps}
    return tuple(_wish_word(change, texts) for change in changes)


def _told(recorded: Recorded, before: SessionState, after: SessionState) -> tuple[PlanId, tuple[Word, ...]]:
    event = recorded.event
    match event:
        case SessionOpened():
            return None, _opened(event, before)
        case PlanSet(plan=plan):
            return plan.id, _set(event, before.plans.get(plan.id), after.plans[plan.id])
        case PlanChanged(plan_id=plan_id):
            return plan_id, _changed(recorded, event, before.plans.get(plan_id), after.plans.get(plan_id))
        case PlanRemoved(plan_id=plan_id):
            return plan_id, (Word("plan_removed", "plan removed"),)
        case ReviewAsked(plan_id=plan_id, options=options):
            offered = f": {' / '.join(options)}" if options else ""
            return plan_id, (Word("asked", f"asked for a review{offered}"),)
        case PlanReviewed(plan_id=plan_id):
            return plan_id, _reviewed(event, after.plans.get(plan_id))
        case WishWithdrawn(plan_id=plan_id, wish=wish):
            return plan_id, (Word("withdrawn", f"the wish of event {wish} was taken back"),)
        case TurnEnded(stop_reason=reason):
            return None, (Word("stopped", f"turn ended: {reason}"),)
        case MessageAdded(message={"role": "event", "content": str(text), "extra": {"event": {"source": "relay"}}}):
            why = text.partition("\n")[2].partition(". ")[0]
            return None, (Word("told", f"the agent was told its plan again: {why}."),)
        case MessageAdded(message=message):
            return None, (Word("message", f"message: {message.get('role', 'unknown')}"),)
        case ContextCompacted(reason=reason):
            return None, (Word("compacted", f"context compacted: {reason}" if reason else "context compacted"),)


def _opened(event: SessionOpened, before: SessionState) -> tuple[Word, ...]:
    known = asdict(before.opened) if before.opened else {}
    news = [f"{key} {value}" for key, value in asdict(event).items() if value is not None and value != known.get(key)]
    what = "session opened" if before.opened is None else "session"
    return (Word("opened", f"{what}: {', '.join(news)}" if news else f"{what} again"),)


def _set(event: PlanSet, before: PlanRecord | None, after: PlanRecord) -> tuple[Word, ...]:
    why = (Word("why", event.summary),) if event.summary else ()
    if before is None or before.removed:
        return Word("new", f"{'new' if before is None else 'back'}: {_size(after.state)}"), *why
    settled = len(before.wishes) - len(after.wishes)
    wishes = (Word("settled", f"{settled} wish{'es' if settled > 1 else ''} came true"),) if settled else ()
    return *_differences(before.state, after.state), *wishes, *why


def _size(state: PlanState) -> str:
    count = len(state.steps)
    if count:
        return f"{count} step{'s' if count > 1 else ''}"
    match state.plan:
        case MarkdownPlan(content=content):
            return f"a text of {len(content):,} characters"
        case FilePlan(uri=uri):
            return f"the file {uri}"
    return "nothing on the list" if state.plan.kind == "items" else f"a plan of kind {state.plan.kind}"


def _changed(
    recorded: Recorded, event: PlanChanged, before: PlanRecord | None, after: PlanRecord | None
) -> tuple[Word, ...]:
    note = (Word("note", event.note),) if event.note else ()
    if before is None or after is None or before.removed:
        return Word("none", "there was no such plan"), *note
    if before.owner == AGENT and recorded.by != AGENT:
        wishes = wish_words(before.state, event.changes)
        return tuple(Word("wish", word.text, word.step) for word in (*wishes, *note))
    return (*_differences(before.state, after.state), *note) if event.changes else note


def _differences(before: PlanState, after: PlanState) -> tuple[Word, ...]:
    diff = compare(before, after)
    words = [
        *(
            Word(meaning(each.after) or "other", _status(each.after, each.step.content), each.step.id)
            for each in diff.status
        ),
        *(Word("added", each.step.content, each.step.id) for each in diff.added),
        *(Word("removed", each.step.content, each.step.id) for each in diff.removed),
        *(Word("reworded", f"{each.before} → {each.after}", each.step.id) for each in diff.reworded),
        *(
            Word("moved", f"{each.step.content} ({each.before + 1} → {each.at + 1})", each.step.id)
            for each in diff.moved
        ),
        *(Word("priority", f"{each.step.content}: {each.after} priority", each.step.id) for each in diff.priority),
    ]
    if not words:
        words.append(Word("none", "sent again") if before.plan == after.plan else _unseen(before, after))
    return tuple(words)


def _status(status: str, content: str) -> str:
    return content if meaning(status) else f"{content}: {status}"


def _unseen(before: PlanState, after: PlanState) -> Word:
    match before.plan, after.plan:
        case MarkdownPlan(content=old), MarkdownPlan(content=new) if new != old:
            if new.startswith(old):
                return Word("text", f"{len(new) - len(old):,} characters more")
            return Word("text", f"text rewritten: {len(old):,} → {len(new):,} characters")
        case FilePlan(uri=old), FilePlan(uri=new) if new != old:
            return Word("text", f"{old} → {new}")
    return Word("none", "details that are not shown")


def _reviewed(event: PlanReviewed, record: PlanRecord | None) -> tuple[Word, ...]:
    known = (APPROVED, CHANGES_REQUESTED, DISMISSED)
    words = [Word(event.verdict, verdict_words(event))] if event.verdict in known else []
    if event.verdict not in (*known, COMMENTED):
        words.append(Word("other", verdict_words(event)))
    if event.selected is not None:
        words.append(Word("selected", f"steps to run: {', '.join(event.selected) or 'none'}"))
    texts = {step.id: step.content for step in record.state.steps} if record else {}
    for comment in event.comments:
        about = f"{texts.get(comment.step, comment.step)}: " if comment.step else ""
        words.append(Word("comment", f"{about}{comment.text}", comment.step))
    return tuple(words)


def verdict_words(review: PlanReviewed | Review) -> str:
    """What was said of a plan as a whole, with the answer that was chosen if it was one of several."""
    answer = f": {review.answer}" if review.answer else ""
    return f"{review.verdict.replace('_', ' ')}{answer} (revision {review.revision})"


def _wish_word(change: StepChange, texts: dict[str, str]) -> Word:
    step = None if isinstance(change, AddStep) else change.step
    name = texts.get(step, step) if step else ""
    match change:
        case SetStatus(status=status):
            return Word(meaning(status) or "other", f"{name}: {status.replace('_', ' ')}", step)
        case RewordStep(content=content):
            return Word("reworded", f"{name} → {content}", step)
        case SetPriority(priority=priority):
            return Word("priority", f"{name}: {priority} priority", step)
        case AddStep(content=content):
            return Word("added", f"add {content}")
        case MoveStep(after=after):
            return Word("moved", f"{name}, after {texts.get(after, after)}" if after else f"{name}, first", step)
        case RemoveStep():
            return Word("removed", f"without {name}", step)
