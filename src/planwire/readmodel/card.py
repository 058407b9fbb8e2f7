"""Cards: everything there is to show of a plan, as values. Every face draws the same card.

A card decides nothing and asks nothing: names, marks, tags, remarks and the acts that fit are in it. It says nothing
about how things look; `look` and `sign` are names and characters from the table of statuses.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import is_
from typing import Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.board import SessionBoard
from planwire.model.events import COMMENTED
from planwire.model.fold import AGENT, Delta, OpenQuestion, PlanRecord, Review, SessionState
from planwire.model.kinds import KINDS, content_of, is_blank, kind_of, noun_of, text_of
from planwire.model.plan import MEDIUM, PRIORITIES, FilePlan, MarkdownPlan, PlanId
from planwire.model.statuses import STATUSES, status_of
from planwire.model.steps import PlanState, Progress, Step
from planwire.model.titles import UNNAMED, plan_title, plan_titles
from planwire.readmodel.annotations import Annotations, Remark, SuggestedChange, annotations, suggestion_sentence
from planwire.readmodel.file_text import FileText
from planwire.readmodel.history import verdict_words
from planwire.steering.acts import acts_for
from planwire.steering.words import step_of
from planwire.tools.delivered_reviews import unanswered

__all__ = [
    "STATUS_LOOKS",
    "Ghost",
    "Note",
    "OpenSuggestion",
    "PlanCard",
    "PlanId",
    "Plans",
    "ReviewCard",
    "StepRow",
    "Tag",
    "cards_of",
    "in_order",
    "status_look",
]

#: The look of a step whose agent stopped in the middle of it, and of one whose status planwire does not know.
STOPPED: Final = "stopped"
OTHER: Final = "other"
_STOPPED_SIGN: Final = "■"
_OTHER_SIGN: Final = "?"
#: The looks of steps in the order of the table of statuses, then the two above.
STATUS_LOOKS: Final = (*(row.look for row in STATUSES.values()), STOPPED, OTHER)


class StatusLook(NamedTuple):
    """How a status shows: its name in style sheets and themes, its sign in a terminal, and the word for it."""

    look: str
    sign: str
    word: str


class Tag(NamedTuple):
    """A word beside a step for something out of the ordinary. `kind` is a look, a priority, or `to_run`."""

    kind: str
    text: str


class StepRow(Struct, frozen=True):
    """A step to show. `text` and `status` are as the agent wrote them."""

    id: str
    text: str
    status: str
    priority: str
    depth: int
    look: str
    sign: str
    word: str
    is_open: bool
    is_current: bool
    is_done: bool
    tags: tuple[Tag, ...] = ()
    suggestions: tuple[SuggestedChange, ...] = ()
    remarks: tuple[Remark, ...] = ()


class Ghost(Struct, frozen=True):
    """A step that a person suggests, and its place: behind the step `after` ("" is the beginning, None the end), which
    in the list of rows is behind the row `behind`, the last one that is nested in that step."""

    after: str | None
    behind: str
    depth: int
    change: SuggestedChange


class Note(Struct, frozen=True):
    """A note on a plan, by its agent or a person."""

    text: str
    by: str
    at: int


class OpenSuggestion(Struct, frozen=True):
    """A suggestion that the agent's list does not contain yet. `number` is that of its event. `has_place` says whether
    the rows show all of it."""

    number: int
    text: str
    by: str
    at: int
    has_place: bool


class ReviewCard(Struct, frozen=True):
    """A person's word on a plan. `words` say the verdict and the revision, `comments` are those on the plan as a whole,
    `to_run` the texts of the selected steps. A `stale` one is about an earlier plan. The last one `matters`, and each
    one that the agent has not answered."""

    verdict: str
    words: str
    by: str
    at: int
    seq: int
    revision: int
    comments: tuple[str, ...]
    to_run: tuple[str, ...] | None
    stale: bool
    matters: bool

    @property
    def is_comment(self) -> bool:
        """Whether it is words alone, without a verdict."""
        return self.verdict == COMMENTED


class PlanCard(Struct, frozen=True):
    """A plan to show.

    - `title` is what people call it, `subtitle` says what it is or how to name it, if that says more.
    - `kind` is the wire's word for it, `noun` the word for people. `is_of_agent`: changes to it are suggestions.
    - `rows`, `ghosts`: its steps, and those that people suggest. `text`: the markdown that the steps stand in, if there
      is any. `fields`: the JSON of a kind that planwire does not know. `uri`, `path`, `problem`: of a plan file.
    - `why`: the author's summary. `thinking`: its words when it set the plan. `question`: the agent waits for a person.
    - `stopped`: no agent works on it. `acts`: the names of the acts that it can take.
    - `state` and `record` are what it was made from, for other views of the same; `record` is None for a plan that no
      journal knows.
    """

    id: PlanId
    title: str
    subtitle: str
    kind: str
    noun: str
    state: PlanState
    progress: Progress
    rows: tuple[StepRow, ...]
    ghosts: tuple[Ghost, ...] = ()
    text: str = ""
    fields: str = ""
    is_blank: bool = False
    has_priorities: bool = False
    is_of_agent: bool = False
    why: str = ""
    thinking: str = ""
    notes: tuple[Note, ...] = ()
    suggestions: tuple[OpenSuggestion, ...] = ()
    reviews: tuple[ReviewCard, ...] = ()
    remarks: tuple[Remark, ...] = ()
    question: OpenQuestion | None = None
    client: str | None = None
    stopped: bool = False
    removed: bool = False
    version: int = 0
    revision: int = 0
    created_at: int = 0
    changed_at: int = 0
    mode: str = ""
    acts: tuple[str, ...] = ()
    uri: str | None = None
    path: str | None = None
    problem: str | None = None
    record: PlanRecord | None = None

    @property
    def is_file(self) -> bool:
        """Whether its text is in a file, which only an editor changes."""
        return self.uri is not None

    @property
    def can_change(self) -> bool:
        """Whether people can change its steps here."""
        return "add" in self.acts

    @property
    def focus(self) -> StepRow | None:
        """The step to look at: the one in progress, or else the first open one."""
        current = next((row for row in self.rows if row.is_current), None)
        return current or next((row for row in self.rows if row.is_open), None)

    def row(self, step: str) -> StepRow | None:
        """The row of a step."""
        return next((row for row in self.rows if row.id == step), None)


#: All that plans come in: a session from a journal or a board, single states by id, or one state.
Plans: TypeAlias = SessionState | SessionBoard | Mapping[PlanId, PlanState] | PlanState


def cards_of(
    plans: Plans,
    files: Mapping[PlanId, FileText] | None = None,
    thinking: Mapping[PlanId, str] | None = None,
    *,
    removed: bool = False,
) -> tuple[PlanCard, ...]:
    """The cards of the live plans of a session, in the order of `in_order`; or of those that were removed.

    A plan that has not changed is the same card as before.
    """
    files, thinking = files or {}, thinking or {}
    if not isinstance(plans, SessionState):
        states = {plans.plan.id: plans} if isinstance(plans, PlanState) else _states(plans)
        titles = plan_titles(state.plan for state in states.values())
        return in_order(_card(_Key(state, None, None), titles[plan_id]) for plan_id, state in states.items())
    shown = {
        plan_id: files[plan_id].readable or record.state if plan_id in files else record.state
        for plan_id, record in plans.plans.items()
    }
    titles = plan_titles(state.plan for state in shown.values())
    client = plans.opened.client if plans.opened else None
    return in_order(
        _card(
            _Key(shown[plan_id], record, files.get(plan_id)),
            titles[plan_id],
            plans.stopped is not None,
            thinking.get(plan_id, ""),
            client,
        )
        for plan_id, record in plans.plans.items()
        if record.removed == removed
    )


def _states(plans: SessionBoard | Mapping[PlanId, PlanState]) -> Mapping[PlanId, PlanState]:
    return plans.plans if isinstance(plans, SessionBoard) else plans


def in_order(cards: Iterable[PlanCard]) -> tuple[PlanCard, ...]:
    """Plans in the order for people: those that ask something, those with steps, those to read; else as they came."""
    return tuple(sorted(cards, key=lambda card: (card.question is None, not card.rows)))


def status_look(status: str, *, stopped: bool = False) -> StatusLook:
    """The look of a status. Current work stops with its agent; an unknown word stands for itself."""
    row = status_of(status)
    if row is None:
        return StatusLook(OTHER, _OTHER_SIGN, status or "no status")
    if stopped and row.is_current:
        return StatusLook(STOPPED, _STOPPED_SIGN, STOPPED)
    return StatusLook(row.look, row.sign, row.spoken)


class _Key(NamedTuple):
    """A key for the cache: values compared by identity. They hold dicts, and every change makes a new one."""

    state: PlanState
    record: PlanRecord | None
    file: FileText | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and all(map(is_, self, other))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))


@lru_cache(maxsize=1_024)
def _card(key: _Key, title: str, stopped: bool = False, thinking: str = "", client: str | None = None) -> PlanCard:
    state, record, file = key
    plan, kind = state.plan, kind_of(state.plan)
    over = annotations(record, state) if record and (record.suggestions or record.reviews) else Annotations()
    to_run = _to_run(record) if record else frozenset()
    rows = tuple(_row(step, stopped, over, step.id in to_run) for step in state.steps)
    uri = file.uri if file else text_of(plan) if kind.field and not kind.has_editable_steps else None
    card = PlanCard(
        id=plan.id,
        title=title,
        subtitle=_subtitle(state, title, is_file=uri is not None),
        kind=plan.kind if uri is None else FilePlan.kind,
        noun=noun_of(plan) if uri is None else KINDS[FilePlan].noun,
        state=state,
        progress=state.progress,
        rows=rows,
        ghosts=_ghosts(rows, over),
        text=text_of(plan) if kind.is_text else "",
        fields="" if kind.field else msgspec.json.format(msgspec.json.encode(content_of(plan)), indent=2).decode(),
        is_blank=is_blank(plan),
        has_priorities=kind.has_priorities,
        thinking=thinking,
        client=client,
        stopped=stopped,
        uri=uri,
        path=file.path if file else None,
        problem=file.problem if file else None,
    )
    return _with_record(card, record, over) if record else card


def _with_record(card: PlanCard, record: PlanRecord, over: Annotations) -> PlanCard:
    """The card with all that a journal knows of the plan."""
    new = unanswered(record)
    return replace(
        card,
        record=record,
        is_of_agent=record.owner == AGENT,
        why=record.summary or "",
        notes=tuple(Note(each.note, each.by, each.at) for each in record.deltas if each.note),
        suggestions=tuple(_suggestion(record, each) for each in record.suggestions),
        reviews=tuple(_review(record, each, each is record.review or each in new) for each in record.reviews),
        remarks=over.remarks.get(None, ()),
        question=record.asked,
        removed=record.removed,
        version=record.version,
        revision=record.revision,
        created_at=record.created_at,
        changed_at=record.changed_at,
        mode=record.mode,
        acts=acts_for(record),
    )


def _subtitle(state: PlanState, title: str, *, is_file: bool) -> str:
    """What a plan is, or the id to name it by, where its title does not say it."""
    plan, kind = state.plan, kind_of(state.plan)
    if is_file:
        return KINDS[FilePlan].noun
    if not kind.is_text:
        return "" if kind.has_editable_steps else noun_of(plan)
    own = plan_title(replace(plan, content="")) if isinstance(plan, MarkdownPlan) else UNNAMED
    if own != UNNAMED and own.casefold() != title.casefold():
        return own
    return "text" if state.steps else kind.noun


def _row(step: Step, stopped: bool, over: Annotations, to_run: bool) -> StepRow:
    shown = status_look(step.status, stopped=stopped)
    tags = [Tag(shown.look, shown.word)] if shown.look in (OTHER, STOPPED) else []
    if step.priority != MEDIUM:
        tags.append(Tag(step.priority if step.priority in PRIORITIES else OTHER, step.priority))
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
        over.steps.get(step.id, ()),
        over.remarks.get(step.id, ()),
    )


def _to_run(record: PlanRecord) -> frozenset[str]:
    """The steps that the last verdict chose."""
    verdicts = [each for each in record.reviews if each.verdict != COMMENTED]
    return frozenset((verdicts[-1].selected or ()) if verdicts else ())


def _ghosts(rows: tuple[StepRow, ...], over: Annotations) -> tuple[Ghost, ...]:
    """The suggested steps with their places. A new step goes behind everything nested in the one before it."""
    places = {row.id: place for place, row in enumerate(rows)} if over.added else {}
    ghosts = []
    for after, change in over.added:
        at = len(rows) - 1 if after is None else places[after] if after else -1
        depth = rows[at].depth if after else 0
        while after and at + 1 < len(rows) and rows[at + 1].depth > depth:
            at += 1
        ghosts.append(Ghost(after, rows[at].id if at >= 0 else "", depth, change))
    return tuple(ghosts)


def _suggestion(record: PlanRecord, suggestion: Delta) -> OpenSuggestion:
    steps = {step.id for step in record.state.steps}
    named = [step_of(change) for change in suggestion.changes]
    has_place = bool(named) and all(step is None or step in steps for step in named)
    sentence = suggestion_sentence(record, suggestion)
    return OpenSuggestion(suggestion.seq, sentence, suggestion.by, suggestion.at, has_place)


def _review(record: PlanRecord, review: Review, matters: bool) -> ReviewCard:
    texts = {step.id: step.content for step in record.state.steps}
    return ReviewCard(
        review.verdict,
        verdict_words(review),
        review.by,
        review.at,
        review.seq,
        review.revision,
        tuple(each.text for each in review.comments if each.step is None),
        None if review.selected is None else tuple(texts.get(step, step) for step in review.selected),
        record.is_stale(review),
        matters,
    )
