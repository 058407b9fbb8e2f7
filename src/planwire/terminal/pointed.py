"""What a person points at: a plan, and the step, the passage, the remark or the fold of it that is under the cursor."""

from typing import NamedTuple

from planwire.errors import PlanError
from planwire.readmodel.card import PlanCard, RemarkCard, StepRow
from planwire.readmodel.plain_text import one_line
from planwire.steering.wanted import Comment, Passage
from planwire.terminal.lines import Row
from planwire.terminal.passages import are_together, passage_at_row
from planwire.terminal.remark_words import SHORT_LABELS, remark_text
from planwire.terminal.rows import DRAFT, FOLD, REMARK, STEP, TEXT


class Pointed(NamedTuple):
    """What a person points at. `remark` is the id of a remark with rows of its own, which `place` tells apart. `whole`:
    the person means the plan, wherever they point."""

    card: PlanCard
    step: StepRow | None = None
    remark: str | None = None
    place: int = -1
    passage: Passage | None = None
    fold: Row | None = None
    whole: bool = False

    @property
    def target(self) -> str | None:
        """The id of the step, or of the suggestion of a new one."""
        return self.step.id if self.step else self.remark if self._is_new_step else None

    @property
    def _is_new_step(self) -> bool:
        return any(each.change.suggestion == self.remark for each in self.card.ghosts)

    def needed_step(self) -> StepRow:
        """The step. Raises `PlanError` if there is none."""
        if self.step is None:
            raise PlanError("no step is under the cursor: move to one with the arrow keys")
        return self.step

    @property
    def is_precise(self) -> bool:
        """Whether the person points at less than the whole plan."""
        return not self.whole and (self.step or self.remark or self.passage) is not None

    def is_about(self, step: str | None, passage: Passage | None) -> bool:
        """Whether words on this step or passage are about what the person points at."""
        if self.step is not None:
            return step == self.step.id
        if self.passage is not None:
            return passage is not None and are_together(self.card, passage, self.passage)
        return not self.is_precise

    def open_remarks(self) -> dict[str, str]:
        """The open remarks here, by id, in words."""
        card = self.card
        suggestions = {each.id: f"{SHORT_LABELS['suggestion']}: {each.text}" for each in card.suggestions}
        if self.remark is not None:
            suggestions = {key: text for key, text in suggestions.items() if key == self.remark}
        elif self.is_precise:
            here = {each.suggestion for each in self.step.suggestions} if self.step else set()
            suggestions = {key: text for key, text in suggestions.items() if key in here}
        return suggestions | self._named(card.open_remarks)

    def closed_remarks(self) -> dict[str, str]:
        """The closed remarks here, the last first."""
        return self._named(tuple(reversed(self.card.closed_remarks)))

    def _named(self, remarks: tuple[RemarkCard, ...]) -> dict[str, str]:
        return {
            each.id: f"{SHORT_LABELS.get(each.kind, each.label)}: {one_line(remark_text(each))}"
            for each in remarks
            if (each.id == self.remark if self.remark is not None else self.is_about(each.step, each.passage))
        }

    def drafts(self, drafts: tuple[Comment, ...]) -> tuple[Comment, ...]:
        """Those of the unsent comments that are about what the person points at."""
        if self.remark == DRAFT:
            return drafts[self.place : self.place + 1]
        return () if self.remark else tuple(each for each in drafts if self.is_about(each.step, each.passage))


def pointed_at(card: PlanCard, row: Row) -> Pointed:
    """What a row of a plan stands for. The ghost of a step that is to move stands for that step."""
    kind, _, *rest = row
    if kind == STEP:
        return Pointed(card, card.row(str(rest[0])))
    if kind == REMARK:
        remark, place = str(rest[0]), int(str(rest[1]))
        moves = (each for each in card.moved if (each.change.suggestion, each.change.number) == (remark, place))
        moved = next(moves, None)
        return Pointed(card, card.row(moved.step) if moved else None, remark, place)
    if kind == TEXT:
        return Pointed(card, passage=passage_at_row(card, row))
    return Pointed(card, fold=row if kind == FOLD else None)
