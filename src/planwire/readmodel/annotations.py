"""Annotations: people's suggestions for an agent's own plan and their remarks on it, step by step.

Faces show them over the plan, never in it, so that a person's words are not taken for the agent's.
"""

from typing import Final, assert_never

from msgspec import Struct

from planwire.model.events import COMMENT, REQUEST, SELECTION, SUGGESTION, Passage
from planwire.model.passages import anchored, reading_of
from planwire.model.records import PlanRecord, Remark, RemarkAnswer
from planwire.model.remarks import SUPERSEDED, WITHDRAWN
from planwire.model.seen import ChangedWords, changed_since
from planwire.model.statuses import spoken
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.steps import PlanState
from planwire.model.text import in_quotes
from planwire.readmodel.history import suggestion_words
from planwire.steering.delivery import delivered
from planwire.steering.words import step_texts

#: The kinds of remarks in words for people.
REMARK_LABELS: Final = {
    COMMENT: "Comment",
    REQUEST: "Changes requested",
    SELECTION: "Steps to run",
    SUGGESTION: "Suggestion",
}


#: What to do about a remark whose steps read differently by now.
_THEN: Final = {SELECTION: ": choose again", SUGGESTION: ": suggest it again, or withdraw it"}
_TAKEN_BACK: Final = (WITHDRAWN, SUPERSEDED)


class SuggestedChange(Struct, frozen=True):
    """One suggested change. `kind` is the tag of the change (`status`, `reword`, `add`, …), `text` says what the step
    should become, `suggestion` is the id of its remark, `number` its place among the changes there. `note` is its
    author's note on it. `delivery` is Queued, Delivered or Seen; `heard` is a sentence on that, and `told_at` is when
    the agent heard it. `replaces` is the author of another person's suggestion that it superseded. `status` is the
    status that it sets."""

    suggestion: str
    number: int
    kind: str
    text: str
    by: str
    at: int
    note: str | None = None
    delivery: str = ""
    heard: str = ""
    told_at: int | None = None
    replaces: str = ""
    status: str = ""


class RemarkCard(Struct, frozen=True):
    """A remark to show: a comment, a request for changes, a selection of steps, or a suggestion that ended.

    - `label`: its kind in a word or two. `about`: the text of the step or the passage that it is about.
    - `delivery`: its delivery in two words; `heard`: a sentence on that. `told_at`: when the agent heard it.
    - `stale`: a sentence on what reads differently now from what its author saw; "" if nothing does.
    - `review`: the event of the verdict that it came with.
    - `is_open`: it still binds. `closed_at`, `closed_by`, `why_closed`: how it ended. `answers`: the answers to it.
    """

    id: str
    kind: str
    label: str
    text: str
    by: str
    at: int
    revision: int
    step: str | None = None
    passage: Passage | None = None
    about: str = ""
    steps: tuple[str, ...] = ()
    kept: bool = False
    is_open: bool = True
    delivery: str = ""
    heard: str = ""
    told_at: int | None = None
    closed_at: int | None = None
    closed_by: str = ""
    why_closed: str = ""
    answers: tuple[RemarkAnswer, ...] = ()
    review: int | None = None
    stale: str = ""


class Annotations(Struct, frozen=True):
    """Everything to show over a plan. `steps` has the suggestions for each step, `added` the suggested steps, each with
    the step that it follows ("" is the beginning, None the end), in the order that they would have in the list.
    `remarks` are the open remarks by step; None has those on the plan as a whole. `closed` are the last remarks that
    ended, including suggestions."""

    steps: dict[str, tuple[SuggestedChange, ...]] = {}
    added: tuple[tuple[str | None, SuggestedChange], ...] = ()
    remarks: dict[str | None, tuple[RemarkCard, ...]] = {}
    closed: tuple[RemarkCard, ...] = ()


def annotations(record: PlanRecord, state: PlanState | None = None, heard: str = "", acted: int = 0) -> Annotations:
    """The annotations of a plan as it is now; `state` has the steps of a plan file. `heard` is a sentence on when the
    agent will hear what it has not been told, `acted` the last event that shows it at work."""
    steps_now = (state or record.state).steps
    texts = {step.id: step.content for step in steps_now}
    steps: dict[str, tuple[SuggestedChange, ...]] = {}
    added: dict[str | None, list[SuggestedChange]] = {}
    stale = {each.id for each in record.suggestions if changed_since(each, record)}
    for suggestion in record.suggestions:
        for number, change in enumerate(suggestion.changes):
            suggested = _suggested(suggestion, number, texts, heard, acted, record)
            if isinstance(change, AddStep):
                together = added.setdefault(change.after, [])
                together.insert(len(together) if change.after is None else 0, suggested)  # as `apply_changes` does it
            elif change.step in texts and suggestion.id not in stale:
                steps[change.step] = (*steps.get(change.step, ()), suggested)
    shown = (each for each in record.remarks if each.kind != SUGGESTION or each.id in stale or _matters(each))
    cards = [_remark(each, record, state or record.state, heard, acted) for each in shown]
    remarks: dict[str | None, tuple[RemarkCard, ...]] = {}
    for card in cards:
        if card.is_open:
            place = card.step if card.step in texts else None
            remarks[place] = (*remarks.get(place, ()), card)
    closed = tuple(card for card in cards if not card.is_open)
    places = ((after if not after or after in texts else None, together) for after, together in added.items())
    new = tuple((after, each) for after, together in places for each in together)
    return Annotations(steps, new, remarks, closed)


def _matters(suggestion: Remark) -> bool:
    """Whether a suggestion that ended is worth showing. One that its author took back before the agent heard of it is
    not."""
    end = suggestion.closed
    return end is not None and not (suggestion.told is None and end.by == suggestion.by and end.how in _TAKEN_BACK)


def _suggested(
    suggestion: Remark, number: int, texts: dict[str, str], heard: str, acted: int, record: PlanRecord
) -> SuggestedChange:
    change, told = suggestion.changes[number], suggestion.told
    end = SUPERSEDED, suggestion.id
    older = (each for each in record.remarks if each.closed and (each.closed.how, each.closed.text) == end)
    return SuggestedChange(
        suggestion.id,
        number,
        str(type(change).__struct_config__.tag),
        _becomes(change, texts),
        suggestion.by,
        suggestion.at,
        suggestion.note,
        delivered(suggestion, acted),
        "" if told else heard,
        told.at if told else None,
        next((each.by for each in older if each.by != suggestion.by), ""),
        change.status if isinstance(change, SetStatus) else "",
    )


def _remark(remark: Remark, record: PlanRecord, state: PlanState, heard: str, acted: int) -> RemarkCard:
    last = step_texts(record.state) | {step.id: step.content for step in state.steps} | remark.about
    about = last.get(remark.step, remark.step) if remark.step else ""
    about = remark.passage.text if remark.passage else about
    steps = tuple(last.get(step, step) for step in remark.steps)
    end = remark.closed
    return RemarkCard(
        remark.id,
        remark.kind,
        REMARK_LABELS.get(remark.kind, remark.kind.capitalize()),
        suggestion_sentence(record, remark) if remark.kind == SUGGESTION else remark.text,
        remark.by,
        remark.at,
        remark.revision,
        remark.step,
        remark.passage,
        about,
        steps,
        remark.kept,
        remark.is_open,
        delivered(remark, acted),
        "" if end or remark.told else heard,
        remark.told.at if remark.told else None,
        end.at if end else None,
        end.by if end else "",
        end.text if end else "",
        remark.answers,
        remark.review,
        "" if end else _stale_sentence(remark, record, state),
    )


def _stale_sentence(remark: Remark, record: PlanRecord, state: PlanState) -> str:
    """What reads differently now from what the author of a remark saw, and what they can do."""
    reading = reading_of(state.plan) if remark.passage else None
    if remark.passage and reading is not None and anchored(reading, remark.passage) is None:
        return "This is about a passage that is gone."
    words = [f"{in_quotes(each.was)} {_now(each)}" for each in changed_since(remark, record)]
    return f"{'; '.join(words)}{_THEN.get(remark.kind, '')}." if words else ""


def _now(change: ChangedWords) -> str:
    return "is not in the plan any more" if change.now is None else f"now reads {in_quotes(change.now)}"


def suggestion_sentence(record: PlanRecord, suggestion: Remark) -> str:
    """A suggestion in words, with its note. A step that left the plan has its last name."""
    words = [word.text for word in suggestion_words(record.state, suggestion.changes, suggestion.about)]
    return "; ".join([*words, suggestion.note] if suggestion.note else words)


def _becomes(change: StepChange, texts: dict[str, str]) -> str:
    match change:
        case AddStep(content=content) | RewordStep(content=content):
            return content
        case SetStatus(status=status):
            return spoken(status)
        case SetPriority(priority=priority):
            return f"{priority} priority"
        case RemoveStep():
            return "remove"
        case MoveStep(after=after):
            return f"after: {texts.get(after, after)}" if after else "first"
        case _ as never:
            assert_never(never)
