"""Cards: everything there is to show of a plan, as values. Every face draws the same card.

A card decides nothing and asks nothing: names, marks, tags, remarks and the acts that fit are in it. It says nothing
about how things look; `look` and `sign` are names and characters from the table of statuses.
"""

from itertools import takewhile
from typing import Final, NamedTuple

from msgspec import Struct

from planwire.model.events import StepRef
from planwire.model.lineage import CARRIED_OUT, REJECTED, REPLACED
from planwire.model.plan import PRIORITIES, PlanId
from planwire.model.records import PlanRecord
from planwire.model.statuses import IN_PROGRESS, STATUSES, status_of
from planwire.model.steps import PlanState, Progress
from planwire.model.titles import path_words, readable_id
from planwire.model.unheard import CLIENT
from planwire.readmodel.annotations import RemarkCard, SuggestedChange
from planwire.readmodel.authors import author
from planwire.readmodel.plain_text import one_line
from planwire.readmodel.questions import QuestionCard
from planwire.steering.acts import ACTS, On
from planwire.steering.delivery import client_name
from planwire.steering.offers import Offer, status_offers
from planwire.steering.reach import NOBODY, Reach
from planwire.steering.wanted import is_remark

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
    "PlanBelow",
    "PlanCard",
    "PlanId",
    "Progress",
    "QuestionCard",
    "RemarkCard",
    "ReviewCard",
    "StatusLook",
    "StepRow",
    "Tag",
    "offers_by_look",
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
#: The looks of steps that are finished, which nobody runs again.
FINISHED_LOOKS: Final = tuple(row.look for row in STATUSES.values() if not row.is_open)
#: How the life of a proposal ended, for people.
ENDED_WORDS: Final = {REJECTED: "Changes requested", REPLACED: "Replaced", CARRIED_OUT: "Carried out"}


class StatusLook(NamedTuple):
    """How a status shows: its name in style sheets and themes, its sign in a terminal, and the word for it."""

    look: str
    sign: str
    word: str


class Tag(NamedTuple):
    """A word beside a step for something out of the ordinary. `kind` is a look, a priority, `to_run`, or `below`."""

    kind: str
    text: str


class PlanBelow(NamedTuple):
    """A plan that works for a step: its id and title, how far it is, and whether nothing of it is left to do."""

    id: PlanId
    title: str
    progress: Progress
    is_over: bool


class StepRow(Struct, frozen=True):
    """A step to show. `text` and `status` are as the agent wrote them. `children` are the plans that work for it, and
    `below` says how far they and all below them are together."""

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
    """A step that a person suggests, and its place: behind the step `after` ("" is the beginning, None the end), which
    in the list of rows is behind the row `behind`, the last one that is nested in that step. `step` is the id of a step
    of the plan that is to go there. It may go right `before` another one."""

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
    """A suggestion that the agent's list does not contain yet. `id` is that of its remark. `has_place` says whether the
    rows show all of it. `delivery` and `heard` say how far it has come, in a word and in a sentence."""

    id: str
    text: str
    by: str
    at: int
    has_place: bool
    delivery: str = ""
    heard: str = ""


class ReviewCard(Struct, frozen=True):
    """A person's verdict on a plan, in `words` with its revision. A `stale` one is about another wording of it.

    `answer` is the agent's option that it chose, if it answered a question; `delivery` says in a word how far that has
    come, and `told_at` is when the agent got it. One that is `late` is not what the agent was told.
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

    - `title` is what people call it, `subtitle` says what it is or how to name it, if that says more.
    - `kind` is the wire's word for it, `noun` the word for people. `is_of_agent`: changes to it are suggestions.
    - `rows`, `ghosts`: its steps, and those that people suggest; `moved`: the places where steps are to go. `text`: the
      markdown that the steps stand in, if there is any. `fields`: the JSON of a kind that has neither steps nor a text.
      `uri`, `path`, `problem`: of a plan file.
    - `why`: the author's summary. `thinking`: its words when it set the plan. `question`: the agent waits for a person.
    - `remarks`: what people said of the plan as a whole, and is open; `closed_remarks`: the last that ended, of the
      steps too. `heard`: when the agent hears what is said now. `reviews`: the verdicts, the last one last.
    - `disputed`: a verdict that came too late to keep the agent from what was approved: a person has to decide again.
    - `reach`: what the agent can be given now.
    - `ended`: how a proposal's life ended (`rejected`, `replaced`, `carried_out`); "" while it lives.
    - `parent`: the step of another plan that it works for; `above`: the words of that step, behind those of the steps
      above it.
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
        """How deep it stands in the tree of plans; 0 for one that works for no step."""
        return len(self.above)

    @property
    def works_for(self) -> str:
        """The steps that it works for, in words: the last one is of its parent, each one before of the plan above."""
        return path_words(*map(one_line, self.above))

    @property
    def is_folded(self) -> bool:
        """Whether one line is enough for it: it worked for a step, nothing of it is left, and nobody is needed."""
        return bool(self.above and self.rows) and not (
            self.needs_you or self.open_remarks or self.suggestions or any(row.has_work_left for row in self.rows)
        )

    @property
    def verdict(self) -> ReviewCard | None:
        """The last verdict on it that counts."""
        return next((each for each in reversed(self.reviews) if not each.late), None)

    def giver(self, review: ReviewCard) -> str:
        """Who gave a verdict: a person, or the program that asked the person in front of it."""
        return one_line(self.client_name) if review.by == CLIENT else author(review.by)

    @property
    def ended_words(self) -> str:
        """How its life ended, for people; "" while it lives."""
        return ENDED_WORDS.get(self.ended, self.ended)

    @property
    def open_remarks(self) -> tuple[RemarkCard, ...]:
        """All that people said of it or of its steps and that is open, but suggestions, the oldest first."""
        remarks = (*self.remarks, *(each for row in self.rows for each in row.remarks))
        return tuple(sorted(remarks, key=lambda each: int(each.id[1:])))

    @property
    def own_name(self) -> str:
        """The id to name it by, where that is not its title; "" if nobody would type it."""
        name = readable_id(self.id)
        return "" if name == self.title else name

    @property
    def client_name(self) -> str:
        """The program in front of the agent, without its version."""
        return client_name(self.client)

    @property
    def counts_versions(self) -> bool:
        """Whether the number of its version tells people anything: an agent sends a version with every step."""
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
        """Whether no other version of it came before, not even one that was removed."""
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
        """Whether a person is asked before an act, for which there is no way back. Changes to the steps of an agent's
        plan are suggestions, which can be withdrawn."""
        row = ACTS[act]
        return row.is_final and not (self.is_of_agent and row.on is On.STEP)

    def wording_of(self, target: str) -> str:
        """The text that a rewording begins with, of a step or of the suggestion of a new one."""
        ghosts = {each.change.suggestion: each.change.text for each in self.ghosts}
        row = self.row(target)
        return row.wording if row else ghosts.get(target, "")

    def place_below(self, target: str | None) -> str | None:
        """The place of a new step right below a step, a suggested one, or the head of the plan: the step that it goes
        behind, "" for the beginning, None for the end."""
        if target is None:
            return "" if self.rows else None
        ghosts = {each.change.suggestion: each.after for each in self.ghosts}
        return ghosts.get(target) if is_remark(target) else target

    def row(self, step: str) -> StepRow | None:
        """The row of a step."""
        return next((row for row in self.rows if row.id == step), None)


def offers_by_look() -> dict[str, tuple[Offer, ...]]:
    """The statuses to offer for a step of each look. Stopped work is still in progress, as far as its status goes."""
    words = {row.look: row.word for row in STATUSES.values()} | {OTHER: "", STOPPED: IN_PROGRESS}
    return {look: status_offers(words[look]) for look in STATUS_LOOKS}


def status_look(status: str, *, stopped: bool = False) -> StatusLook:
    """The look of a status. Current work stops with its agent; an unknown word stands for itself."""
    row = status_of(status)
    if row is None:
        return StatusLook(OTHER, _OTHER_SIGN, status or "no status")
    if stopped and row.is_current:
        return StatusLook(STOPPED, _STOPPED_SIGN, STOPPED)
    return StatusLook(row.look, row.sign, row.spoken)
