"""A session's history: one entry per event, with a few phrases that say what it changed.

`describe` needs the states before and after an event; `history` folds them as it goes. The text of a phrase is for
people, its kind for faces that colour or count.
"""

from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from planwire.chat.reminder import HAS_TOOLS, read_reminder
from planwire.model import events
from planwire.model.authors import program_name
from planwire.model.diff import compare
from planwire.model.fold import fold
from planwire.model.kinds import kind_of, noun_of, text_of
from planwire.model.plan import PlanId
from planwire.model.records import AGENT, PlanRecord, Review, SessionState
from planwire.model.remarks import FOLLOWED
from planwire.model.statuses import status_of
from planwire.model.steps import PlanState, Progress, Step
from planwire.model.stop_reasons import STOP_END_TURN
from planwire.model.titles import UNNAMED
from planwire.readmodel.file_text import FilesOf, no_plan_files, titles_of
from planwire.readmodel.phrases import BECAME, Phrase, status_kind, suggestion_words
from planwire.readmodel.remark_phrases import closed, remark_name, remarked, told
from planwire.readmodel.states import stop_words

__all__ = ["BECAME", "HistoryEntry", "Phrase", "describe", "history", "suggestion_words", "verdict_words"]

#: The events that are about one plan.
_ABOUT_PLANS: Final = (
    events.FileSeen,
    events.PlanSet,
    events.PlanChanged,
    events.PlanRemoved,
    events.PlanReopened,
    events.ReviewAsked,
    events.PlanReviewed,
    events.ReviewPending,
    events.ReviewUndone,
    events.Remarked,
    events.RemarkClosed,
    events.RemarkAnswered,
    events.RemarkReopened,
)


class HistoryEntry(Struct, frozen=True):
    """An event as people read it. `event` is its stored tag, `plan` the title of its plan, if it is about one, and
    `done` of `total` the progress of that plan after it. `why` is what its agent thought, if a face asked for it."""

    session: str
    seq: int
    at: int
    by: str
    event: str
    plan: str | None
    words: tuple[Phrase, ...]
    done: int | None = None
    total: int | None = None
    plan_id: PlanId = None
    why: str | UnsetType = UNSET

    @property
    def is_aside(self) -> bool:
        """Whether it is shown only in a full history: a message of the chat, or an event that says nothing by itself,
        such as the offer of a telling, or a request whose verdict says it all."""
        return not self.words or any(word.kind == "message" for word in self.words)

    def is_about(self, plan_id: PlanId) -> bool:
        """Whether it belongs to the history of a plan. A gap belongs to all, since it may hide changes to any."""
        return self.plan_id == plan_id if self.plan is not None else any(word.kind == "gap" for word in self.words)


def history(
    past: Iterable[events.Recorded], state: SessionState, files: FilesOf = no_plan_files
) -> Iterator[tuple[HistoryEntry, SessionState, SessionState]]:
    """Describe every event, with the states before and after it. `state` is the state before the first event. `files`
    returns the current plan files, whose headings are their titles; no journal has their past."""
    for recorded in past:
        before, state = state, fold(state, recorded)
        yield describe(recorded, before, state, files), before, state


def describe(
    recorded: events.Recorded, before: SessionState, after: SessionState, files: FilesOf = no_plan_files
) -> HistoryEntry:
    """The entry of an event in its session's history."""
    event = recorded.event
    plan_id, words = _phrases(recorded, before, after)
    about_plan = isinstance(event, _ABOUT_PLANS)
    record = after.plans.get(plan_id) if about_plan else None
    steps = record.state.steps if record and not record.removed else ()
    progress = Progress.of(steps)
    return HistoryEntry(
        recorded.session,
        recorded.seq,
        recorded.at,
        recorded.author,
        event.type if isinstance(event, events.UnknownEvent) else str(type(event).__struct_config__.tag),
        titles_of(after, files(after)).get(plan_id, UNNAMED) if about_plan else None,
        words,
        progress.done if steps else None,
        progress.total if steps else None,
        plan_id if about_plan else None,
    )


def _phrases(recorded: events.Recorded, before: SessionState, after: SessionState) -> tuple[PlanId, tuple[Phrase, ...]]:
    event = recorded.event
    match event:
        case events.SessionOpened():
            return None, _opened(event, before)
        case events.PlanSet(plan=plan):
            return plan.id, _set(event, before.plans.get(plan.id), after.plans[plan.id])
        case events.PlanChanged(plan_id=plan_id):
            return plan_id, _changed(recorded, event, before.plans.get(plan_id), after.plans.get(plan_id))
        case events.FileSeen(plan_id=plan_id):
            return plan_id, _file(before.plans.get(plan_id), after.plans.get(plan_id))
        case events.PlanRemoved(plan_id=plan_id):
            return plan_id, (Phrase("plan_removed", "plan removed"),)
        case events.ReviewAsked(plan_id=plan_id, options=options):
            names = [each if isinstance(each, str) else each.name for each in options]
            offered = f": {' / '.join(names)}" if names else ""
            return plan_id, (Phrase("asked", f"asked for a review{offered}"),)
        case events.PlanReviewed(plan_id=plan_id):
            return plan_id, _reviewed(event, after.plans.get(plan_id))
        case events.ReviewPending(plan_id=plan_id, verdict=verdict, remarks=remarks):  # an answer elsewhere may void it
            said = (each for remark in remarks for each in remarked(remark, after.plans.get(plan_id)))
            return plan_id, (Phrase("asked", f"pending: {verdict_words(verdict)}"), *said)
        case events.ReviewUndone(plan_id=plan_id):
            return plan_id, (Phrase("withdrawn", "undid the pending verdict"),)
        case events.PlanReopened(plan_id=plan_id):
            return plan_id, (Phrase("reopened", "plan reopened"),)
        case events.Remarked(plan_id=plan_id):
            return plan_id, remarked(event, after.plans.get(plan_id))
        case events.RemarkClosed(plan_id=plan_id, remark=remark):
            return plan_id, (closed(event, remark_name(after, remark)),)
        case events.RemarkReopened(plan_id=plan_id, remark=remark):
            return plan_id, (Phrase("reopened", f"reopened {remark_name(after, remark)}"),)
        case events.RemarkAnswered(plan_id=plan_id, remark=remark, text=text):
            return plan_id, (Phrase("answered", f"answered {remark_name(after, remark)}: {text}"),)
        case events.TellAsked():
            return None, (Phrase("asked", "asked to tell the agent now"),)
        case events.StopAsked():
            return None, (Phrase("asked", "asked to stop the agent"),)
        case events.Told():
            return None, told(event, before)
        case events.TurnEnded(stop_reason=reason):
            why = "" if reason == STOP_END_TURN else f": {stop_words(reason)}"
            return None, (Phrase("stopped", f"turn ended{why}"),)
        case events.MessageAdded(message=message):
            if reminder := read_reminder(message):
                what = "that it has plan tools" if reminder.why == HAS_TOOLS else f"its plan again: {reminder.why}"
                return None, (Phrase("told", f"the agent was told {what}"),)
            return None, (Phrase("message", f"message: {message.get('role', 'unknown')}"),)
        case events.SessionForked(session=session, seq=seq):
            return None, (Phrase("opened", f"the session {session} was forked off at event {seq}"),)
        case events.MessagePinned(message_id=message_id, is_pinned=is_pinned):
            return None, (Phrase("message", f"message {message_id} {'pinned' if is_pinned else 'no longer pinned'}"),)
        case events.ContextCompacted(reason=reason):
            return None, (Phrase("compacted", f"context compacted: {reason}" if reason else "context compacted"),)
        case events.Gap():
            return None, (Phrase("gap", event.sentence),)
        case events.UnknownEvent():
            return None, (Phrase("unknown", event.sentence),)
        case _ as never:
            assert_never(never)


def _opened(event: events.SessionOpened, before: SessionState) -> tuple[Phrase, ...]:
    if event.forked is not None:
        return (Phrase("opened", f"forked from {event.forked.session} at event {event.forked.seq}"),)
    known = asdict(before.opened) if before.opened else {}
    said = {key: value for key, value in asdict(event).items() if value is not None and value != known.get(key)}
    if said.pop("remarked", None) is not None and not said:
        return ()
    said |= {key: program_name(said[key]) or "without a name" for key in ("agent", "client") if key in said}
    news = [f"{'folder' if key == 'cwd' else key} {value}" for key, value in said.items()]
    what = "session opened" if before.opened is None else "session"
    return (Phrase("opened", f"{what}: {', '.join(news)}" if news else f"{what} again"),)


def _set(event: events.PlanSet, before: PlanRecord | None, after: PlanRecord) -> tuple[Phrase, ...]:
    why = (Phrase("why", event.summary),) if event.summary else ()
    if before is None or before.removed:
        return Phrase("new", f"{'new' if before is None else 'back'}: {_size(after.state)}"), *why
    ends = [each.closed.how for each in after.remarks if each.closed and each.closed.seq == after.base]
    followed = ends.count(FOLLOWED)
    settled = [_count(followed, "suggestion", "taken up"), _count(len(ends) - followed, "remark", "settled")]
    return *_differences(before.state, after.state), *(Phrase("settled", each) for each in settled if each), *why


def _count(number: int, noun: str, became: str) -> str:
    return f"{number} {noun}{'s' if number > 1 else ''} {became}" if number else ""


def _size(state: PlanState) -> str:
    count = len(state.steps)
    if count:
        return f"{count} step{'s' if count > 1 else ''}"
    kind, text = kind_of(state.plan), text_of(state.plan)
    if kind.is_text:
        return f"a text of {len(text):,} characters"
    if kind.has_editable_steps:
        return "nothing on the list"
    return f"the {kind.noun} {text}" if kind.field else f"a plan of kind {noun_of(state.plan)}"


def _changed(
    recorded: events.Recorded, event: events.PlanChanged, before: PlanRecord | None, after: PlanRecord | None
) -> tuple[Phrase, ...]:
    note = (Phrase("note", event.note),) if event.note else ()
    if before is None or after is None or before.removed:
        return Phrase("none", "there was no such plan"), *note
    if before.owner == AGENT and recorded.by != AGENT:
        suggestions = suggestion_words(before.state, event.changes, {})
        return tuple(Phrase("suggested", word.text, word.step) for word in (*suggestions, *note))
    return (*_differences(before.state, after.state), *note) if event.changes else note


def _file(before: PlanRecord | None, after: PlanRecord | None) -> tuple[Phrase, ...]:
    """What changed in a plan file since it was last seen."""
    if before is None or after is None or before.file is None:
        count = len(after.state.steps) if after else 0
        return (Phrase("new", f"the file was read: {count} step{'' if count == 1 else 's'}"),)
    words = _differences(before.state, after.state)
    return words if words[0].kind != "none" else (Phrase("text", "the text of the file changed"),)


def _differences(before: PlanState, after: PlanState) -> tuple[Phrase, ...]:
    diff = compare(before, after)
    words = [
        *(_became(each.after, each.step) for each in diff.status if each.after),
        *(Phrase("added", each.step.content, each.step.id) for each in diff.added),
        *(Phrase("removed", each.step.content, each.step.id) for each in diff.removed),
        *(Phrase("reworded", f"{each.before} → {each.after}", each.step.id) for each in diff.reworded),
        *(
            Phrase("moved", f"{each.step.content} ({each.before + 1} → {each.at + 1})", each.step.id)
            for each in diff.moved
        ),
        *(Phrase("priority", f"{each.step.content}: {each.after} priority", each.step.id) for each in diff.priority),
    ]
    if not words:
        words.append(Phrase("none", "sent again") if before.plan == after.plan else _unseen(before, after))
    return tuple(words)


def _became(status: str, step: Step) -> Phrase:
    text = step.content if status_of(status) else f"{step.content}: {status}"
    return Phrase(status_kind(status), text, step.id)


def _unseen(before: PlanState, after: PlanState) -> Phrase:
    kind, old, new = kind_of(after.plan), text_of(before.plan), text_of(after.plan)
    if kind is not kind_of(before.plan) or old == new or not kind.field:
        return Phrase("none", "details that are not shown")
    if not kind.is_text:
        return Phrase("text", f"{old} → {new}")
    if new.startswith(old):
        return Phrase("text", f"{len(new) - len(old):,} characters more")
    return Phrase("text", f"text rewritten: {len(old):,} → {len(new):,} characters")


def _reviewed(event: events.PlanReviewed, record: PlanRecord | None) -> tuple[Phrase, ...]:
    known = (events.APPROVED, events.CHANGES_REQUESTED, events.DISMISSED)
    words = [Phrase(event.verdict, verdict_words(event))] if event.verdict in known else []
    if event.verdict not in (*known, events.COMMENTED):
        words.append(Phrase("other", verdict_words(event)))
    return tuple(words)


def verdict_words(review: events.PlanReviewed | Review) -> str:
    """A verdict in words, with the chosen answer if the agent offered several; "not answered" for a question that ended
    without one."""
    answer = f": {review.answer}" if review.answer else ""
    is_late = review.is_late if isinstance(review, Review) else review.late
    late = ", too late: the agent had another answer" if is_late else ""
    is_unanswered = review.verdict == events.DISMISSED and bool(review.question) and not answer
    words = "not answered" if is_unanswered else review.verdict.replace("_", " ")
    return f"{words}{answer} (revision {review.revision}){late}"
