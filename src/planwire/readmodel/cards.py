"""Cards made from plans: those of a session in a journal or on a board, or single states."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import is_
from typing import NamedTuple, Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from planwire.model.children import children_of
from planwire.model.events import SELECTION
from planwire.model.file_texts import address_of
from planwire.model.kinds import KINDS, content_of, is_blank, kind_of, noun_of, text_of
from planwire.model.plan import MEDIUM, PRIORITIES, FilePlan, MarkdownPlan, PlanId
from planwire.model.plan_change import PlanChange
from planwire.model.records import AGENT, PlanRecord, Remark, Review, SessionState
from planwire.model.seen import changed_since
from planwire.model.steps import PlanState, Step
from planwire.model.titles import UNNAMED, plan_title, plan_titles
from planwire.readmodel.annotations import (
    Annotations,
    RemarkCard,
    SuggestedChange,
    annotations,
    suggestion_sentence,
)
from planwire.readmodel.card import (
    OTHER,
    STOPPED,
    Note,
    OpenSuggestion,
    PlanCard,
    ReviewCard,
    StepRow,
    Tag,
    open_word,
    status_look,
)
from planwire.readmodel.file_text import FileText, titles_of, with_files
from planwire.readmodel.ghosts import added_steps, moved_steps
from planwire.readmodel.history import verdict_words
from planwire.readmodel.plan_tree import in_tree
from planwire.readmodel.questions import pending_of, question_of
from planwire.steering.acts import acts_for
from planwire.steering.delivery import delivered, heard_when, how_far
from planwire.steering.reach import NOBODY, Reach
from planwire.steering.words import step_of


class HeardSession(Protocol):
    """A session as a client's board has it. A protocol, to avoid loading the wire's modules, which takes a while."""

    @property
    def id(self) -> str: ...
    @property
    def plans(self) -> Mapping[PlanId, PlanState]: ...


class ChangedPlans(Protocol):
    """What changed in some plans of a session."""

    @property
    def session(self) -> str | None: ...
    @property
    def plans(self) -> Sequence[PlanChange]: ...


#: The forms that plans come in: a session from a journal or a board, single states by id, or one state.
Plans: TypeAlias = SessionState | HeardSession | Mapping[PlanId, PlanState] | PlanState


def cards_of(
    plans: Plans,
    files: Mapping[PlanId, FileText] | None = None,
    thinking: Mapping[PlanId, str] | None = None,
    *,
    removed: bool = False,
    stopped: bool = False,
    reach: Reach = NOBODY,
) -> tuple[PlanCard, ...]:
    """The cards of a session's live plans, or of its removed ones, in the order of `in_order`.

    A plan that has not changed keeps the same card object. `stopped`: no agent works on them, whatever a session says.
    `reach` is what the agent can be given now.
    """
    files, thinking = files or {}, thinking or {}
    if not isinstance(plans, SessionState):
        states = _states(plans)
        titles = plan_titles(state.plan for state in states.values())
        return in_order(_card(_Key(state, None, None), titles[plan_id], stopped) for plan_id, state in states.items())
    shown = {
        plan_id: files[plan_id].readable or record.state if plan_id in files else record.state
        for plan_id, record in plans.plans.items()
    }
    titles = titles_of(plans, files)
    client = plans.opened.client if plans.opened else None
    cards = in_order(
        _card(
            _Key(shown[plan_id], record, files.get(plan_id)),
            titles[plan_id],
            stopped or plans.stopped is not None,
            thinking.get(plan_id, ""),
            client,
            heard_when(plans, record),
            reach,
            _acted_since(record, plans.acted),
        )
        for plan_id, record in plans.plans.items()
        if record.removed == removed
    )
    return cards if removed else in_tree(cards, children_of(with_files(plans, dict(files))))


def card_of(record: PlanRecord, title: str) -> PlanCard:
    """The card of one plan in a journal, with the title that its session gives it."""
    return _card(_Key(record.state, record, None), title)


def session_of(plans: Plans) -> str | None:
    """The id of the plans' session, if they have one."""
    return None if isinstance(plans, Mapping | PlanState) else plans.id


def _states(plans: Plans) -> Mapping[PlanId, PlanState]:
    if isinstance(plans, SessionState):
        return {plan_id: record.state for plan_id, record in plans.live().items()}
    if isinstance(plans, PlanState):
        return {plans.plan.id: plans}
    return plans if isinstance(plans, Mapping) else plans.plans


def changed_plans(plans: Plans, change: ChangedPlans) -> dict[PlanId, PlanState]:
    """The states of plans after a change to some of them, in order of arrival."""
    states = dict(_states(plans))
    for each in change.plans:
        if each.after is None:
            states.pop(each.id, None)
        else:
            states[each.id] = each.after
    return states


def in_order(cards: Iterable[PlanCard]) -> tuple[PlanCard, ...]:
    """Plans in the order for people: those that ask something, those with steps, those to read, and last the proposals
    that have ended; otherwise in order of arrival."""
    return tuple(sorted(cards, key=lambda card: (bool(card.ended), not card.needs_you, not card.rows)))


def _acted_since(record: PlanRecord, acted: int) -> int:
    """The last telling about a plan that its agent worked after. It changes less often than `acted`."""
    tellings = (each.told for said in (record.remarks, record.reviews) for each in said)
    return max((each.seq for each in tellings if each is not None and each.seq <= acted), default=0)


class _Key(NamedTuple):
    """A key for the cache: values compared by identity. They hold dicts, and every change makes new values."""

    state: PlanState
    record: PlanRecord | None
    file: FileText | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and all(map(is_, self, other))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))


@lru_cache(maxsize=256)
def _card(
    key: _Key,
    title: str,
    stopped: bool = False,
    thinking: str = "",
    client: str | None = None,
    heard: str = "",
    reach: Reach = NOBODY,
    acted: int = 0,
) -> PlanCard:
    state, record, file = key
    plan, kind = state.plan, kind_of(state.plan)
    over = annotations(record, state, heard, acted) if record and record.remarks else Annotations()
    to_run = _to_run(record) if record else frozenset()
    rows = tuple(
        _row(step, stopped, step.id in to_run, over.steps.get(step.id, ()), over.remarks.get(step.id, ()))
        for step in state.steps
    )
    uri = file.uri if file else address_of(plan)
    is_shown = kind.is_text or kind.has_editable_steps or uri is not None
    card = PlanCard(
        id=plan.id,
        title=title,
        subtitle=_subtitle(state, title, is_file=uri is not None),
        kind=FilePlan.kind if uri is not None else plan.kind if kind.field else noun_of(plan),
        noun=noun_of(plan) if uri is None else KINDS[FilePlan].noun,
        state=state,
        progress=state.progress,
        rows=rows,
        ghosts=added_steps(rows, over),
        moved=moved_steps(state, record.suggestions, over) if record else (),
        text=text_of(plan).removeprefix("\ufeff") if kind.is_text else "",
        fields="" if is_shown else msgspec.json.format(msgspec.json.encode(content_of(plan)), indent=2).decode(),
        is_blank=is_blank(plan),
        has_priorities=kind.has_priorities,
        thinking=thinking,
        client=client,
        stopped=stopped,
        uri=uri,
        path=file.path if file else None,
        problem=file.problem if file else None,
        heard=heard,
        reach=reach,
    )
    return _with_record(card, record, over, acted) if record else card


def _with_record(card: PlanCard, record: PlanRecord, over: Annotations, acted: int) -> PlanCard:
    """The card with everything that a journal knows about the plan."""
    reviews = tuple(_review(record, each, acted) for each in record.reviews)
    # The steps of a file are there as soon as it was read, whether or not an event has recorded them yet.
    shown = replace(record, state=replace(record.state, steps=card.state.steps)) if card.uri else record
    return replace(
        card,
        record=shown,
        is_of_agent=record.owner == AGENT,
        why=record.summary or "",
        notes=tuple(Note(each.text, each.by, each.at) for each in record.notes),
        suggestions=tuple(_suggestion(record, each, card.heard, acted) for each in record.suggestions),
        reviews=reviews,
        remarks=over.remarks.get(None, ()),
        closed_remarks=over.closed,
        ended=record.ended,
        question=question_of(record, card.client, card.reach),
        disputed=next((each for each in reviews if each.seq == record.disputed), None),
        pending=pending_of(record),
        removed=record.removed,
        version=record.version,
        revision=record.revision,
        created_at=record.created_at,
        changed_at=record.changed_at,
        mode=record.mode,
        acts=acts_for(shown, card.reach),
    )


def _subtitle(state: PlanState, title: str, *, is_file: bool) -> str:
    """What a plan is, or the id to name it by, unless its title says so."""
    plan, kind = state.plan, kind_of(state.plan)
    if is_file:
        return KINDS[FilePlan].noun
    if not kind.is_text:
        return "" if kind.has_editable_steps else noun_of(plan)
    own = plan_title(replace(plan, content="")) if isinstance(plan, MarkdownPlan) else UNNAMED
    if own != UNNAMED and own.casefold() != title.casefold():
        return own
    return "text" if state.steps else kind.noun


@lru_cache(maxsize=20_000)
def _row(
    step: Step, stopped: bool, to_run: bool, suggestions: tuple[SuggestedChange, ...], remarks: tuple[RemarkCard, ...]
) -> StepRow:
    """A step to show. Cards share the rows that did not change, since a long plan changes thousands of times."""
    shown = status_look(step.status, stopped=stopped)
    tags = [Tag(shown.look, shown.word)] if shown.look in (OTHER, STOPPED) else []
    if step.priority != MEDIUM:
        tags.append(Tag(step.priority if step.priority in PRIORITIES else OTHER, open_word(step.priority)))
    if to_run and step.is_open:
        tags.append(Tag("to_run", "to run"))
    return StepRow(
        step.id,
        step.content,
        step.status,
        step.priority,
        step.depth,
        *shown,
        step.is_open,
        step.is_current,
        step.is_done,
        tuple(tags),
        suggestions,
        remarks,
    )


def _to_run(record: PlanRecord) -> frozenset[str]:
    """The steps that a person chose, and no others for now."""
    chosen = [each for each in record.open_remarks if each.kind == SELECTION]
    stale = {changed.step for each in chosen for changed in changed_since(each, record)}
    return frozenset(step for each in chosen for step in each.steps) - stale


def _suggestion(record: PlanRecord, suggestion: Remark, heard: str, acted: int) -> OpenSuggestion:
    steps = {step.id for step in record.state.steps}
    named = [step_of(change) for change in suggestion.changes]
    has_place = bool(named) and all(step is None or step in steps for step in named)
    sentence = suggestion_sentence(record, suggestion)
    words = suggestion.by, suggestion.at, has_place, delivered(suggestion, acted), "" if suggestion.told else heard
    return OpenSuggestion(suggestion.id, sentence, *words)


def _review(record: PlanRecord, review: Review, acted: int) -> ReviewCard:
    words = review.by, review.at, review.seq, review.revision, review.is_stale
    told_at = review.told.at if review.told else None
    is_answer = review.told is not None or review == record.decision
    delivery = "Too late" if review.is_late else how_far(review.told, acted) if is_answer else ""
    return ReviewCard(review.verdict, verdict_words(review), *words, review.answer, delivery, told_at, review.is_late)
