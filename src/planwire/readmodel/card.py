"""Cards: everything there is to show of a plan, as values. Every face draws the same card.

A face has nothing left to decide: names, marks, tags, remarks and the possible acts are in the card. How things look is
up to the face; `look` and `sign` are names and characters from the table of statuses.
"""

import re
from itertools import takewhile
from typing import Final, NamedTuple

from msgspec import Struct

from planwire.model.authors import authored, name_and_way
from planwire.model.events import StepRef
from planwire.model.lineage import CARRIED_OUT, REJECTED, REPLACED
from planwire.model.plan import PRIORITIES, PlanId
from planwire.model.records import PlanRecord
from planwire.model.statuses import DEFAULT_STATUS, IN_PROGRESS, STATUSES, status_of
from planwire.model.steps import PlanState, Progress, Step
from planwire.model.text import in_quotes, unwrapped
from planwire.model.titles import path_words, readable_id
from planwire.model.unheard import CLIENT
from planwire.readmodel.annotations import RemarkCard, SuggestedChange
from planwire.readmodel.authors import author
from planwire.readmodel.plain_text import one_line
from planwire.readmodel.questions import PendingCard, QuestionCard
from planwire.steering.acts import ACTS, On
from planwire.steering.delivery import client_name, someone_in
from planwire.steering.offers import Offer, status_offers
from planwire.steering.reach import NOBODY, Reach
from planwire.steering.wanted import is_remark, remark_number

__all__ = [
    "FINISHED_LOOKS",
    "OTHER",
    "PRIORITIES",
    "STATUS_LOOKS",
    "STATUS_WORDS",
    "STOPPED",
    "Ghost",
    "Note",
    "OpenSuggestion",
    "PendingCard",
    "PlanBelow",
    "PlanCard",
    "PlanId",
    "Progress",
    "QuestionCard",
    "RemarkCard",
    "ReviewCard",
    "StatusLook",
    "Step",
    "StepRow",
    "Tag",
    "offers_by_look",
    "open_word",
    "status_look",
]

#: The look of a step whose agent stopped in the middle of it, and of one whose status planwire does not know.
STOPPED: Final = "stopped"
OTHER: Final = "other"
_STOPPED_SIGN: Final = "■"
_OTHER_SIGN: Final = "?"
#: The looks of steps in the order of the table of statuses, then the two above.
STATUS_LOOKS: Final = (*(row.look for row in STATUSES.values()), STOPPED, OTHER)
#: The protocol's word for every status, in the order in which work moves through them.
STATUS_WORDS: Final = tuple(STATUSES)
#: The looks of finished steps, which can't be selected to run.
FINISHED_LOOKS: Final = tuple(row.look for row in STATUSES.values() if not row.is_open)
#: How the life of a proposal ended, for people.
ENDED_WORDS: Final = {REJECTED: "Changes requested", REPLACED: "Replaced", CARRIED_OUT: "Carried out"}


class StatusLook(NamedTuple):
    """How a status is shown: its name in style sheets and themes, its sign in a terminal, and the word for it."""

    look: str
    sign: str
    word: str


class Tag(NamedTuple):
    """A word beside a step for something out of the ordinary. `kind` is a look, a priority, `to_run`, or `below`."""

    kind: str
    text: str


class PlanBelow(NamedTuple):
    """A plan that works for a step: its id, title and progress, and whether nothing of it is left to do."""

    id: PlanId
    title: str
    progress: Progress
    is_over: bool


class StepRow(Struct, frozen=True):
    """A step to show. `text` and `status` are as the agent wrote them. `children` are the plans that work for it, and
    `below` is the combined progress of these and all plans below them."""

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
    remarks: tuple[RemarkCard, ...] = ()
    children: tuple[PlanBelow, ...] = ()
    below: Progress | None = None

    @property
    def has_work_left(self) -> bool:
        """Whether it is open, or a plan below it has something left."""
        return self.is_open or (self.below is not None and self.below.done < self.below.total)

    @property
    def offers(self) -> tuple[Offer, ...]:
        """The statuses to offer for it."""
        return status_offers(self.status)

    @property
    def wording(self) -> str:
        """The text that a rewording begins with: the last one suggested, or its own."""
        return next((each.text for each in reversed(self.suggestions) if each.kind == "reword"), self.text)


class Ghost(Struct, frozen=True):
    """A step that a person suggests, and its place: after the step `after` ("" is the beginning, None the end). In the
    list of rows that is after the row `behind`, the last one nested in that step. For a suggested move, `step` is the
    id of the step to move. Its place may be given as right `before` another step."""

    after: str | None
    behind: str
    depth: int
    change: SuggestedChange
    step: str = ""
    before: str | None = None


class Note(Struct, frozen=True):
    """A note on a plan, by its agent or a person."""

    text: str
    by: str
    at: int


class OpenSuggestion(Struct, frozen=True):
    """A suggestion that the agent's list does not contain yet. `id` is its remark's id. `has_place` says whether the
    rows show all of it. `delivery` and `heard` tell its delivery in a word and in a sentence."""

    id: str
    text: str
    by: str
    at: int
    has_place: bool
    delivery: str = ""
    heard: str = ""


class ReviewCard(Struct, frozen=True):
    """A person's verdict on a plan, in `words` with its revision. It is `stale` if the plan's wording changed since.

    `answer` is the agent's option that it chose, if it answered a question; `delivery` tells the answer's delivery in a
    few words, and `told_at` is when the agent got it. It is `late` if the agent was told another verdict before.
    """

    verdict: str
    words: str
    by: str
    at: int
    seq: int
    revision: int
    stale: bool
    answer: str | None = None
    delivery: str = ""
    told_at: int | None = None
    late: bool = False


class PlanCard(Struct, frozen=True):
    """A plan to show.

    - `title` is its name for people, `subtitle` says what it is or how to name it, if that says more.
    - `kind` is the wire's word for its kind, `noun` the word for people. `is_of_agent`: changes to it are suggestions.
    - `rows`, `ghosts`: its steps, and those that people suggest; `moved`: the suggested places of steps. `text`: the
      markdown that contains the steps, if any. `fields`: the JSON of a kind that has neither steps nor a text. `uri`,
      `path`, `problem`: of a plan file.
    - `why`: the author's summary. `thinking`: its words when it set the plan. `question`: the agent waits for a person.
    - `remarks`: the open remarks on the plan as a whole; `closed_remarks`: the last closed ones, also those on steps.
      `heard`: when the agent hears what is said now. `reviews`: the verdicts, the newest last.
    - `disputed`: a rejection that came too late, after the agent was told of an approval: a person must decide again.
    - `pending`: a verdict that its author can still undo. `reach`: what the agent can be given now.
    - `ended`: how a proposal's life ended (`rejected`, `replaced`, `carried_out`); "" while it lives.
    - `parent`: the step of another plan that it works for; `above`: the texts of the steps above it, that step last.
    - `stopped`: no agent works on it. `acts`: the names of the acts that it can take.
    - `state` and `record` are what the card was made from, for other views of it; `record` is None for a plan that is
      in no journal.
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
    moved: tuple[Ghost, ...] = ()
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
    remarks: tuple[RemarkCard, ...] = ()
    closed_remarks: tuple[RemarkCard, ...] = ()
    heard: str = ""
    ended: str = ""
    question: QuestionCard | None = None
    disputed: ReviewCard | None = None
    pending: PendingCard | None = None
    reach: Reach = NOBODY
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
    parent: StepRef | None = None
    above: tuple[str, ...] = ()
    record: PlanRecord | None = None

    @property
    def level(self) -> int:
        """Its depth in the tree of plans; 0 if it works for no step."""
        return len(self.above)

    @property
    def works_for(self) -> str:
        """The path of steps that it works for, in words; the last one is in its parent plan."""
        return path_words(*map(one_line, self.above))

    @property
    def is_folded(self) -> bool:
        """Whether one line is enough for it: it worked for a step, nothing of it is left, and no person is needed."""
        return bool(self.above and self.rows) and not (
            self.needs_you or self.open_remarks or self.suggestions or any(row.has_work_left for row in self.rows)
        )

    @property
    def verdict(self) -> ReviewCard | None:
        """The last verdict on it that was not late."""
        return next((each for each in reversed(self.reviews) if not each.late), None)

    def giver(self, review: ReviewCard) -> str:
        """The giver of a verdict: a person, or the client in which a person answered."""
        name, way = name_and_way(review.by)
        return authored(someone_in(self.client), way) if name == CLIENT else author(review.by)

    @property
    def ended_words(self) -> str:
        """How its life ended, for people; "" while it lives."""
        return ENDED_WORDS.get(self.ended, self.ended)

    @property
    def open_remarks(self) -> tuple[RemarkCard, ...]:
        """All open remarks on it and its steps, except suggestions, the oldest first."""
        remarks = (*self.remarks, *(each for row in self.rows for each in row.remarks))
        return tuple(sorted(remarks, key=lambda each: remark_number(each.id)))

    @property
    def own_name(self) -> str:
        """Its id, if people can type it and it is not the title; otherwise ""."""
        name = readable_id(self.id)
        return "" if name == self.title else name

    @property
    def client_name(self) -> str:
        """The name of the agent's client, without its version."""
        return client_name(self.client)

    @property
    def counts_versions(self) -> bool:
        """Whether its version number means anything to people. An agent sends a new version with every step."""
        return self.version > 1 and not self.is_of_agent

    def nested(self, row: StepRow) -> tuple[StepRow, ...]:
        """The rows that are nested in a row."""
        rows = self.rows[self.rows.index(row) + 1 :]
        return tuple(takewhile(lambda each: each.depth > row.depth, rows))

    @property
    def is_file(self) -> bool:
        """Whether its text is in a file, which only an editor changes."""
        return self.uri is not None

    @property
    def waits_here(self) -> bool:
        """Whether its agent waits for an answer that people can give here."""
        return self.question is not None and self.question.is_open

    @property
    def needs_you(self) -> bool:
        """Whether it waits for a person."""
        return self.question is not None or self.disputed is not None

    @property
    def is_first(self) -> bool:
        """Whether it is the first version, with no earlier one, not even a removed one."""
        return self.record is None or self.record.supersedes is None

    @property
    def can_change(self) -> bool:
        """Whether people can change its steps here."""
        return "add" in self.acts

    @property
    def focus(self) -> StepRow | None:
        """The step to look at: the one in progress, or else the first open one."""
        current = next((row for row in self.rows if row.is_current), None)
        return current or next((row for row in self.rows if row.is_open), None)

    def asks_first(self, act: str) -> bool:
        """Whether to ask a person before an act, because it can't be undone. Changes to the steps of an agent's plan
        are suggestions, which can be withdrawn."""
        row = ACTS[act]
        return row.is_final and not (self.is_of_agent and row.on is On.STEP)

    def wording_of(self, target: str) -> str:
        """The text that a rewording begins with, of a step or of the suggestion of a new one."""
        ghosts = {each.change.suggestion: each.change.text for each in self.ghosts}
        row = self.row(target)
        return row.wording if row else ghosts.get(target, "")

    def place_below(self, target: str | None) -> str | None:
        """The place of a new step right below a step, a suggested step, or the head of the plan: the step that it
        follows, "" for the beginning, None for the end."""
        if target is None:
            return "" if self.rows else None
        ghosts = {each.change.suggestion: each.after for each in self.ghosts}
        return ghosts.get(target) if is_remark(target) else target

    def row(self, step: str) -> StepRow | None:
        """The row of a step."""
        return next((row for row in self.rows if row.id == step), None)


def offers_by_look() -> dict[str, tuple[Offer, ...]]:
    """The statuses to offer for a step of each look. The status of stopped work is still in progress."""
    words = {row.look: row.word for row in STATUSES.values()} | {OTHER: "", STOPPED: IN_PROGRESS}
    return {look: status_offers(words[look]) for look in STATUS_LOOKS}


def status_look(status: str, *, stopped: bool = False) -> StatusLook:
    """The look of a status. Current work stops with its agent; an unknown word is shown as the agent's."""
    if not status:  # an item of a numbered list
        return StatusLook(STATUSES[DEFAULT_STATUS].look, "•", "listed")
    row = status_of(status)
    if row is None:
        return StatusLook(OTHER, _OTHER_SIGN, open_word(status))
    if stopped and row.is_current:
        return StatusLook(STOPPED, _STOPPED_SIGN, STOPPED)
    return StatusLook(row.look, row.sign, row.spoken)


def open_word(word: str) -> str:
    """A status or priority that planwire does not know, beside its own words and people's: in quotation marks, unless
    it is one word."""
    return word if re.fullmatch(r"[\w-]*", word) else in_quotes(unwrapped(word))
