"""A session's history: one entry per event, with a few phrases that say what it changed.

`describe` needs the states before and after an event; `history` folds them on the way. The text of a phrase is for
people, its kind for faces that colour or count.
"""

from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from msgspec import Struct
from msgspec.structs import asdict

from planwire.acp.words import STOP_END_TURN
from planwire.chat.reminder import read_reminder
from planwire.model.diff import compare
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    COMMENTED,
    DISMISSED,
    OFFERED,
    SELECTION,
    SUGGESTION,
    AddStep,
    ContextCompacted,
    MessageAdded,
    MoveStep,
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
    RemoveStep,
    ReviewAsked,
    RewordStep,
    SessionOpened,
    SetPriority,
    SetStatus,
    StepChange,
    SuggestionWithdrawn,
    Told,
    TurnEnded,
)
from planwire.model.fold import fold
from planwire.model.kinds import kind_of, text_of
from planwire.model.plan import PlanId
from planwire.model.records import (
    AGENT,
    COMPACTION,
    CONTEXT,
    PROMPT,
    RECAP,
    TOOL,
    PlanRecord,
    Review,
    SessionState,
)
from planwire.model.remarks import SUPERSEDED, WITHDRAWN
from planwire.model.statuses import STATUSES, status_of
from planwire.model.steps import PlanState, Progress
from planwire.model.text import shortened, unwrapped
from planwire.model.titles import UNNAMED
from planwire.readmodel.file_text import FilesOf, no_plan_files, titles_of
from planwire.readmodel.states import stop_words
from planwire.steering.delivery import RUN_ALL
from planwire.steering.words import change_sentence, step_of, step_texts

__all__ = ["BECAME", "HistoryEntry", "Phrase", "describe", "history", "suggestion_words", "verdict_words"]

#: The verb for a step that got a status, by the kind of the phrase.
BECAME: Final = {row.word: row.became for row in STATUSES.values()}
#: The events that are about one plan.
_ABOUT_PLANS: Final = (
    PlanSet,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    ReviewAsked,
    PlanReviewed,
    Remarked,
    RemarkClosed,
    RemarkAnswered,
    RemarkReopened,
    SuggestionWithdrawn,
)
#: The ways of tellings, for people.
_WAYS: Final = {
    PROMPT: "with a prompt",
    TOOL: "in the answer of a plan tool",
    CONTEXT: "in its context",
    COMPACTION: "in its context",
    RECAP: "in its context",
}
#: What its author did with a remark that is closed, by how it was.
_CLOSED: Final = {WITHDRAWN: "withdrew", SUPERSEDED: "replaced", RUN_ALL: "all steps are to run: ended"}
#: Remarks that a sentence about a telling names, and the characters that it spends on each.
SPELLED_REMARKS: Final = 3
NAMED: Final = 60
#: The kinds of phrases whose text does not say them.
_UNSAID: Final = ("added", "comment", "moved", "note", "removed", "reworded", "suggested", "why")


class Phrase(Struct, frozen=True, omit_defaults=True):
    """One effect of an event. `kind` is the new status of a step, or another word: `added`, `note`, …"""

    kind: str
    text: str
    step: str | None = None

    @property
    def sentence(self) -> str:
        """The phrase where no sign stands for its kind: with a word for it, if the text does not say it."""
        row = status_of(self.kind)
        word = row.spoken if row else self.kind if self.kind in _UNSAID else ""
        return f"{word}: {self.text}" if word else self.text


class HistoryEntry(Struct, frozen=True):
    """An event as people read it. `event` is its stored tag, `plan` the title of its plan, if it is about one, and
    `done` of `total` the progress of that plan after it."""

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

    @property
    def is_message(self) -> bool:
        """Whether it is a message of the chat, which is not about plans."""
        return any(word.kind == "message" for word in self.words)


def history(
    events: Iterable[Recorded], state: SessionState, files: FilesOf = no_plan_files
) -> Iterator[tuple[HistoryEntry, SessionState, SessionState]]:
    """Describe every event, with the states before and after it. `state` is the one before the first of them. `files`
    gives the plan files, whose headings name them; no journal has their past."""
    for recorded in events:
        before, state = state, fold(state, recorded)
        yield describe(recorded, before, state, files), before, state


def describe(
    recorded: Recorded, before: SessionState, after: SessionState, files: FilesOf = no_plan_files
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
        recorded.by,
        str(type(event).__struct_config__.tag),
        titles_of(after, files(after)).get(plan_id, UNNAMED) if about_plan else None,
        words,
        progress.done if steps else None,
        progress.total if steps else None,
        plan_id if about_plan else None,
    )


def suggestion_words(state: PlanState, changes: Iterable[StepChange]) -> tuple[Phrase, ...]:
    """Suggested changes in words."""
    texts = {step.id: step.content for step in state.steps}
    return tuple(_suggestion_word(change, texts) for change in changes)


def _phrases(recorded: Recorded, before: SessionState, after: SessionState) -> tuple[PlanId, tuple[Phrase, ...]]:
    event = recorded.event
    match event:
        case SessionOpened():
            return None, _opened(event, before)
        case PlanSet(plan=plan):
            return plan.id, _set(event, before.plans.get(plan.id), after.plans[plan.id])
        case PlanChanged(plan_id=plan_id):
            return plan_id, _changed(recorded, event, before.plans.get(plan_id), after.plans.get(plan_id))
        case PlanRemoved(plan_id=plan_id):
            return plan_id, (Phrase("plan_removed", "plan removed"),)
        case ReviewAsked(plan_id=plan_id, options=options):
            offered = f": {' / '.join(options)}" if options else ""
            return plan_id, (Phrase("asked", f"asked for a review{offered}"),)
        case PlanReviewed(plan_id=plan_id):
            return plan_id, _reviewed(event, after.plans.get(plan_id))
        case PlanReopened(plan_id=plan_id):
            return plan_id, (Phrase("reopened", "plan reopened"),)
        case Remarked(plan_id=plan_id):
            return plan_id, _remarked(event, after.plans.get(plan_id))
        case RemarkClosed(plan_id=plan_id, remark=remark, how=how, text=text):
            why = f": {text}" if text else ""
            return plan_id, (Phrase("withdrawn", f"{_CLOSED.get(how, 'closed')} {_remark_name(after, remark)}{why}"),)
        case RemarkReopened(plan_id=plan_id, remark=remark):
            return plan_id, (Phrase("reopened", f"reopened {_remark_name(after, remark)}"),)
        case RemarkAnswered(plan_id=plan_id, remark=remark, text=text):
            return plan_id, (Phrase("answered", f"answered {_remark_name(after, remark)}: {text}"),)
        case SuggestionWithdrawn(plan_id=plan_id):
            return plan_id, (Phrase("withdrawn", "withdrew a suggestion"),)
        case Told():
            return None, _told(event, before)
        case TurnEnded(stop_reason=reason):
            why = "" if reason == STOP_END_TURN else f": {stop_words(reason)}"
            return None, (Phrase("stopped", f"turn ended{why}"),)
        case MessageAdded(message=message):
            if reminder := read_reminder(message):
                return None, (Phrase("told", f"the agent was told its plan again: {reminder.why}"),)
            return None, (Phrase("message", f"message: {message.get('role', 'unknown')}"),)
        case ContextCompacted(reason=reason):
            return None, (Phrase("compacted", f"context compacted: {reason}" if reason else "context compacted"),)
        case _ as never:
            assert_never(never)


def _remarked(event: Remarked, record: PlanRecord | None) -> tuple[Phrase, ...]:
    texts = step_texts(record.state) if record else {}
    if event.kind == SUGGESTION and record:
        words = suggestion_words(record.state, event.changes)
        said = (Phrase("suggested", event.text),) if event.text else ()
        return *(Phrase("suggested", word.text, word.step) for word in words), *said
    if event.kind == SELECTION:
        return (Phrase("selected", f"steps to run: {', '.join(texts.get(step, step) for step in event.steps)}"),)
    about = event.quote or texts.get(event.step or "", event.step)
    text = f"{about}: {event.text}" if about else event.text
    return (Phrase("comment", text, event.step),) if text else ()  # a request in no words: its verdict says it


def _remark_name(state: SessionState, remark_id: str) -> str:
    """A remark in a sentence of another one."""
    remark = state.remark(remark_id)
    if remark is None:
        return remark_id
    plan = state.plans[remark.plan_id].state
    changes = "; ".join(word.text for word in suggestion_words(plan, remark.changes))
    if changes:
        return f"{shortened(unwrapped(changes), NAMED)} ({remark_id})"
    if remark.text:
        return f"“{shortened(unwrapped(remark.text), NAMED)}” ({remark_id})"
    return f"the {'steps to run' if remark.kind == SELECTION else 'request for changes'} ({remark_id})"


def _told(event: Told, before: SessionState) -> tuple[Phrase, ...]:
    if event.stage == OFFERED or not event.remarks:
        return ()
    names = ", ".join(_remark_name(before, each) for each in event.remarks[:SPELLED_REMARKS])
    more = f" and {len(event.remarks) - SPELLED_REMARKS} more" if len(event.remarks) > SPELLED_REMARKS else ""
    return (Phrase("told", f"the agent was told {_WAYS.get(event.way, event.way)}: {names}{more}"),)


def _opened(event: SessionOpened, before: SessionState) -> tuple[Phrase, ...]:
    known = asdict(before.opened) if before.opened else {}
    said = {key: value for key, value in asdict(event).items() if value is not None and value != known.get(key)}
    news = [f"{'folder' if key == 'cwd' else key} {value}" for key, value in said.items()]
    what = "session opened" if before.opened is None else "session"
    return (Phrase("opened", f"{what}: {', '.join(news)}" if news else f"{what} again"),)


def _set(event: PlanSet, before: PlanRecord | None, after: PlanRecord) -> tuple[Phrase, ...]:
    why = (Phrase("why", event.summary),) if event.summary else ()
    if before is None or before.removed:
        return Phrase("new", f"{'new' if before is None else 'back'}: {_size(after.state)}"), *why
    settled = sum(each.closed is not None and each.closed.seq == after.base for each in after.remarks)
    suggestions = (Phrase("settled", f"{settled} remark{'s' if settled > 1 else ''} settled"),) if settled else ()
    return *_differences(before.state, after.state), *suggestions, *why


def _size(state: PlanState) -> str:
    count = len(state.steps)
    if count:
        return f"{count} step{'s' if count > 1 else ''}"
    kind, text = kind_of(state.plan), text_of(state.plan)
    if kind.is_text:
        return f"a text of {len(text):,} characters"
    if kind.has_editable_steps:
        return "nothing on the list"
    return f"the {kind.noun} {text}" if kind.field else f"a plan of kind {kind.name}"


def _changed(
    recorded: Recorded, event: PlanChanged, before: PlanRecord | None, after: PlanRecord | None
) -> tuple[Phrase, ...]:
    note = (Phrase("note", event.note),) if event.note else ()
    if before is None or after is None or before.removed:
        return Phrase("none", "there was no such plan"), *note
    if before.owner == AGENT and recorded.by != AGENT:
        suggestions = suggestion_words(before.state, event.changes)
        return tuple(Phrase("suggested", word.text, word.step) for word in (*suggestions, *note))
    return (*_differences(before.state, after.state), *note) if event.changes else note


def _differences(before: PlanState, after: PlanState) -> tuple[Phrase, ...]:
    diff = compare(before, after)
    words = [
        *(Phrase(_kind(each.after), _status(each.after, each.step.content), each.step.id) for each in diff.status),
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


def _kind(status: str) -> str:
    row = status_of(status)
    return row.word if row else "other"


def _status(status: str, content: str) -> str:
    return content if status_of(status) else f"{content}: {status}"


def _unseen(before: PlanState, after: PlanState) -> Phrase:
    kind, old, new = kind_of(after.plan), text_of(before.plan), text_of(after.plan)
    if kind is not kind_of(before.plan) or old == new or not kind.field:
        return Phrase("none", "details that are not shown")
    if not kind.is_text:
        return Phrase("text", f"{old} → {new}")
    if new.startswith(old):
        return Phrase("text", f"{len(new) - len(old):,} characters more")
    return Phrase("text", f"text rewritten: {len(old):,} → {len(new):,} characters")


def _reviewed(event: PlanReviewed, record: PlanRecord | None) -> tuple[Phrase, ...]:
    known = (APPROVED, CHANGES_REQUESTED, DISMISSED)
    words = [Phrase(event.verdict, verdict_words(event))] if event.verdict in known else []
    if event.verdict not in (*known, COMMENTED):
        words.append(Phrase("other", verdict_words(event)))
    if event.selected is not None:
        words.append(Phrase("selected", f"steps to run: {', '.join(event.selected) or 'none'}"))
    texts = {step.id: step.content for step in record.state.steps} if record else {}
    for comment in event.comments:
        about = f"{texts.get(comment.step, comment.step)}: " if comment.step else ""
        words.append(Phrase("comment", f"{about}{comment.text}", comment.step))
    return tuple(words)


def verdict_words(review: PlanReviewed | Review) -> str:
    """A verdict in words, with the chosen answer if the agent offered several."""
    answer = f": {review.answer}" if review.answer else ""
    return f"{review.verdict.replace('_', ' ')}{answer} (revision {review.revision})"


def _suggestion_word(change: StepChange, texts: dict[str, str]) -> Phrase:
    return Phrase(_change_kind(change), change_sentence(change, texts), step_of(change))


def _change_kind(change: StepChange) -> str:
    match change:
        case SetStatus(status=status):
            return _kind(status)
        case RewordStep():
            return "reworded"
        case SetPriority():
            return "priority"
        case AddStep():
            return "added"
        case MoveStep():
            return "moved"
        case RemoveStep():
            return "removed"
        case _ as never:
            assert_never(never)
