"""Sessions and plans as JSON: one shape for `--json`, the board, MCP resources and exports.

The classes are the schema: `make docs` makes `docs/plan.schema.json` from them.
"""

from typing import Any, Final

import msgspec
from msgspec import Struct, field

from planwire.model.authors import by_fields, name_and_way
from planwire.model.events import SUGGESTION, Origin, Passage
from planwire.model.kinds import content_of, kind_of
from planwire.model.plan import Fields
from planwire.model.plan_change import PlanChange
from planwire.model.records import PendingVerdict, PlanRecord, Remark, RemarkAnswer
from planwire.model.seen import ChangedWords, changed_since
from planwire.model.step_changes import StepChange
from planwire.model.text import unwrapped
from planwire.readmodel.annotations import suggestion_sentence
from planwire.readmodel.card import Note, PlanCard, Progress, StepRow
from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.overview import Overview
from planwire.readmodel.shown import ShownSession


class Counts(Struct, frozen=True):
    """Progress: `done` of `total` steps, and the cancelled steps, which count in neither."""

    done: int
    total: int
    cancelled: int


class ChildValue(Struct, frozen=True):
    """A plan that works for a step, by its id, and its progress."""

    plan_id: str | None
    progress: Counts


class StepValue(Struct, frozen=True):
    """A step. Its id survives rewording and re-ordering; `depth` is its nesting in a text. `children` are the plans
    that work for it, and `below` is their combined progress, with all plans below them; null if there are none."""

    id: str
    content: str
    status: str
    priority: str
    depth: int
    children: tuple[ChildValue, ...]
    below: Counts | None


class ParentValue(Struct, frozen=True):
    """The step of another plan that a plan works for. `path` has the texts of the steps above it, and then its own."""

    plan_id: str | None
    step: str
    path: tuple[str, ...]


class ForkValue(Struct, frozen=True):
    """Another session that shares this one's past, up to the event with this number."""

    session: str
    seq: int


class SaidValue(Struct, frozen=True):
    """Words with their author: a note on a plan, or an answer to a remark. `way` is how they came, if not by the
    author's own hand: `below AGENT`, `by a script`."""

    text: str
    by: str
    way: str
    at: int


class SuggestionValue(Struct, frozen=True):
    """A person's open suggestion for an agent's own plan. `text` says it in words; `told_at` is null until the agent
    has heard of it. `changed` are its steps that read differently now from what its author saw, or are gone."""

    id: str
    by: str
    way: str
    at: int
    text: str
    note: str | None
    changes: tuple[StepChange, ...]
    told_at: int | None
    changed: tuple[ChangedWords, ...]


class ReviewValue(Struct, frozen=True):
    """A person's verdict on a plan. It is `stale` if texts or steps of the plan changed since. `answer` is the option
    that it chose, if it answered a question of the agent's, and `told_at` when the agent got it. It is `late` if the
    agent was told another one before."""

    number: int
    by: str
    way: str
    at: int
    verdict: str
    revision: int
    answer: str | None
    stale: bool
    told_at: int | None
    late: bool


class PendingValue(Struct, frozen=True):
    """A person's verdict on a plan that they can still undo: nobody is told of it before the time `until`."""

    by: str
    way: str
    at: int
    until: int
    verdict: str
    answer: str | None


class RemarkValue(Struct, frozen=True):
    """A remark. `kind` is `comment`, `request`, `selection`, or `suggestion` for one that ended; `steps` are those of a
    selection. If it is `kept`, it stays in force until a person ends it. `told_at` and `told_by` say when and how the
    agent heard it, `closed` how it ended; all of them are null until then. `changed` are the steps that it is about and
    that read differently now from what its author saw, or are gone."""

    id: str
    kind: str
    by: str
    way: str
    at: int
    revision: int
    text: str
    step: str | None
    passage: Passage | None
    steps: tuple[str, ...]
    kept: bool
    told_at: int | None
    told_by: str | None
    closed: str | None
    closed_at: int | None
    closed_by: str | None
    closed_way: str | None
    answers: tuple[SaidValue, ...]
    changed: tuple[ChangedWords, ...]


class OptionValue(Struct, frozen=True):
    """An answer that the agent offers, and the verdict on the plan that it means."""

    id: str
    name: str
    verdict: str


class QuestionValue(Struct, frozen=True):
    """The agent waits for an answer about the plan: one of `options`, if it offers any through its client. `id` names
    the question; `open` says whether it can be answered here, `takes_edit` whether with another text of the plan."""

    id: str
    at: int
    options: tuple[OptionValue, ...]
    open: bool
    takes_edit: bool


class PlanValue(Struct, frozen=True):
    """A plan. `text` is that of a markdown plan, or of a plan file that can be read; `fields` are the content of a plan
    of another kind; `parent` is null for a plan that works for no step. Times are Unix times in milliseconds."""

    id: str | None
    title: str
    parent: ParentValue | None
    kind: str
    owner: str
    version: int
    revision: int
    created_at: int
    changed_at: int
    removed: bool
    mode: str
    summary: str | None
    progress: Counts
    current: tuple[str, ...]
    steps: tuple[StepValue, ...]
    text: str | None
    uri: str | None
    path: str | None
    problem: str | None
    fields: dict[str, Any] | None
    meta: dict[str, Any] | None = field(name="_meta")
    notes: tuple[SaidValue, ...]
    ended: str | None
    suggestions: tuple[SuggestionValue, ...]
    remarks: tuple[RemarkValue, ...]
    reviews: tuple[ReviewValue, ...]
    pending: PendingValue | None
    question: QuestionValue | None


class SessionValue(Struct, frozen=True):
    """A session. `state` is `needs_you`, `running`, `idle`, `stopped` or `done`, `asked` says whether a question is
    open, and `current` has the texts of the steps in progress. `progress` and `current` leave out plans that work for a
    step. A fork began with the past of `forked_from`; `forks` began with this session's past. `host` is the machine
    that it runs on, `user` the account, `repository` the name that all clones of the repository share. A list of
    sessions leaves out their `plans`."""

    id: str
    title: str | None
    state: str
    stop_reason: str | None
    asked: bool
    agent: str | None
    client: str | None
    cwd: str | None
    progress: Counts
    current: tuple[str, ...]
    plan_count: int
    last_seq: int
    first_at: int
    last_at: int
    forked_from: ForkValue | None
    forks: tuple[ForkValue, ...]
    host: str | None
    user: str | None
    repository: str | None
    plans: tuple[PlanValue, ...] | msgspec.UnsetType = msgspec.UNSET


#: The JSON Schema dialect that the schema declares.
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def session_json(session: ShownSession | Overview) -> SessionValue:
    """A session with all its plans, live ones first; an `Overview` alone gives no plans."""
    glance = session if isinstance(session, Overview) else session.glance
    plans: tuple[PlanValue, ...] | msgspec.UnsetType = msgspec.UNSET
    if isinstance(session, ShownSession):
        plans = tuple(plan_json(card) for card in (*session.cards(), *session.dismissed()))
    return SessionValue(
        glance.id,
        glance.title,
        glance.state,
        glance.stop_reason,
        glance.asked,
        *glance.raw_names,
        glance.cwd,
        Counts(glance.done, glance.total, glance.cancelled),
        glance.current,
        glance.plans,
        glance.last_seq,
        glance.first_at,
        glance.last_at,
        _fork(glance.forked) if glance.forked else None,
        tuple(map(_fork, glance.forks)),
        glance.host,
        glance.user,
        glance.repository,
        plans,
    )


def plan_json(card: PlanCard) -> PlanValue:
    """A plan with everything that is known about it."""
    plan, record, progress = card.state.plan, card.record, card.progress
    suggestions = record.suggestions if record else ()
    reviews = record.reviews if record else ()
    return PlanValue(
        id=card.id,
        title=card.title,
        parent=ParentValue(card.parent.plan_id, card.parent.step, card.above) if card.parent else None,
        kind=card.kind,
        owner=record.owner if record else "",
        version=card.version,
        revision=card.revision,
        created_at=card.created_at,
        changed_at=card.changed_at,
        removed=card.removed,
        mode=card.mode,
        summary=card.why or None,
        progress=_counts(progress),
        current=tuple(step.id for step in progress.current),
        steps=tuple(map(_step, card.rows)),
        text=card.text if kind_of(plan).is_text else None,
        uri=card.uri,
        path=card.path,
        problem=card.problem,
        fields=content_of(plan) if card.fields else None,
        meta=_meta(record.state.plan if record else plan),
        notes=tuple(_said(each) for each in card.notes),
        ended=card.ended or None,
        suggestions=tuple(
            _suggestion(each, shown.text, record)
            for each, shown in zip(suggestions, card.suggestions, strict=True)
            if record
        ),
        remarks=tuple(
            _remark(each, suggestion_sentence(record, each) if each.kind == SUGGESTION else each.text, record)
            for each in record.remarks
            if each.kind != SUGGESTION or each.closed
        )
        if record
        else (),
        reviews=tuple(
            ReviewValue(
                each.seq,
                *name_and_way(each.by),
                each.at,
                each.verdict,
                each.revision,
                each.answer,
                shown.stale,
                shown.told_at,
                shown.late,
            )
            for each, shown in zip(reviews, card.reviews, strict=True)
        ),
        pending=_pending(record.pending) if record and record.pending else None,
        question=_question(card),
    )


def _step(row: StepRow) -> StepValue:
    children = tuple(ChildValue(each.id, _counts(each.progress)) for each in row.children)
    below = _counts(row.below) if row.below else None
    return StepValue(row.id, row.text, row.status, row.priority, row.depth, children, below)


def _counts(progress: Progress) -> Counts:
    return Counts(progress.done, progress.total, progress.cancelled)


def _said(words: Note | RemarkAnswer) -> SaidValue:
    return SaidValue(words.text, *name_and_way(words.by), words.at)


def entry_json(entry: HistoryEntry) -> Fields:
    """A moment of a session's history."""
    return {**msgspec.to_builtins(entry), **by_fields(entry.by)}


def _fork(other: Origin) -> ForkValue:
    return ForkValue(other.session, other.seq)


def _pending(given: PendingVerdict) -> PendingValue:
    verdict = given.event.verdict
    return PendingValue(*name_and_way(given.by), given.at, given.until, verdict.verdict, verdict.answer)


def _question(card: PlanCard) -> QuestionValue | None:
    asked = card.question
    if asked is None:
        return None
    options = tuple(OptionValue(each.id, each.name, each.verdict) for each in asked.options)
    return QuestionValue(asked.id, asked.at, options, asked.is_open, asked.takes_edit)


def difference_json(change: PlanChange) -> dict[str, Any]:
    """A plan that differs between two moments: whether it is new, removed or changed, and the steps that differ."""
    what = "new" if change.before is None else "removed" if change.after is None else "changed"
    parts = ("added", "removed", "moved", "reworded", "status", "priority")
    return {"id": change.id, "change": what, **{name: getattr(change.diff, name) for name in parts}}


def _meta(plan: object) -> Fields | None:
    return getattr(plan, "meta", None) or None


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a session; a plan is `PlanValue` among its definitions."""
    [session], definitions = msgspec.json.schema_components([SessionValue], ref_template="#/$defs/{name}")
    described = {
        name: {**each, "description": unwrapped(each.get("description", ""))} for name, each in definitions.items()
    }
    return {"$schema": _DIALECT, "title": "A session of planwire", **session, "$defs": described}


def _suggestion(suggestion: Remark, text: str, record: PlanRecord) -> SuggestionValue:
    return SuggestionValue(
        suggestion.id,
        *name_and_way(suggestion.by),
        suggestion.at,
        text,
        suggestion.note,
        suggestion.changes,
        suggestion.told.at if suggestion.told else None,
        changed_since(suggestion, record),
    )


def _remark(remark: Remark, text: str, record: PlanRecord) -> RemarkValue:
    told, end = remark.told, remark.closed
    closed_by, closed_way = name_and_way(end.by) if end else (None, None)
    return RemarkValue(
        remark.id,
        remark.kind,
        *name_and_way(remark.by),
        remark.at,
        remark.revision,
        text,
        remark.step,
        remark.passage,
        remark.steps,
        remark.kept,
        told.at if told else None,
        (told.way or None) if told else None,
        end.how if end else None,
        end.at if end else None,
        closed_by,
        closed_way,
        tuple(map(_said, remark.answers)),
        () if end else changed_since(remark, record),
    )
