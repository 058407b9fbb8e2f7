"""What people and the agent said of a plan, as lines below its head."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from planwire.readmodel.card import PlanCard, ReviewCard
from planwire.readmodel.plain_text import one_line, printable
from planwire.terminal.lines import Line, Row, fitted, hanging
from planwire.terminal.rows import PLAN, SUGGESTION, ago, origin

__all__ = ["question_lines", "remark_lines"]

#: The newest notes and reviews of a plan; the history has them all.
NOTES: Final = 3
REVIEWS: Final = 4
LABEL: Final = 10
#: Lines for the answers that an agent offers, about.
MOST_ASKED: Final = 4
#: Characters up to which steps to run are named. Longer lists are counted: these steps have a sign of their own.
NAMED: Final = 60
#: Cells in a line: people don't like to read longer ones, however wide the terminal is.
WIDEST: Final = 110
#: Remarks on a plan where room is short.
BRIEF: Final = 2

_VERDICTS: Final = {"approved": "done", "dismissed": "muted"}


class _LabelledText(NamedTuple):
    label: str
    look: str
    text: str
    whose: str = ""
    row: Row | None = None


def question_lines(card: PlanCard, width: int, now: int) -> Iterator[Line]:
    """Say that the agent waits for a person, and where to answer it."""
    asked = card.question
    if asked is None:
        return
    options = one_line(" / ".join(asked.options))
    words = "your review" if card.waits_here else f"your answer in {one_line(card.client_name)}: {options}"
    text = fitted(f"The agent is waiting for {words}", MOST_ASKED * max(width - 5, 10))
    for parts in hanging(("  ◆ ", "waiting"), text, "waiting", ago(asked.at, now), width):
        yield Line(parts, "", (PLAN, card.id))


def remark_lines(card: PlanCard, width: int, now: int, *, numbered: bool = False, brief: bool = False) -> list[Line]:
    """Why the plan exists, the newest notes, suggestions without a place among the steps, and reviews that matter.

    In print suggestions are `numbered`, for commands to name. A `brief` list has the last remarks, and all suggestions
    count as having no place.
    """
    remarks = [*_reasons(card), *_remarks(card, now, numbered, brief)]
    return [line for each in (remarks[-BRIEF:] if brief else remarks) for line in _labelled(each, width)]


def _reasons(card: PlanCard) -> Iterator[_LabelledText]:
    if card.uri is not None:
        yield _LabelledText("File", "muted", one_line(card.uri))
    if card.why:
        yield _LabelledText("Why", "note", card.why)
    if card.thinking:
        yield _LabelledText("Thinking", "muted", card.thinking)


def _remarks(card: PlanCard, now: int, numbered: bool, brief: bool) -> Iterator[_LabelledText]:
    for note in card.notes[-NOTES:]:
        yield _LabelledText("Note", "note", note.text, origin(note.by, note.at, now))
    for each in card.suggestions:
        if brief or not each.has_place:
            number = f"suggestion {each.number}, " if numbered else ""
            row = (SUGGESTION, card.id, each.number, -1)
            yield _LabelledText("Suggested", "suggestion", each.text, f"{number}{origin(each.by, each.at, now)}", row)
    for review in card.shown_reviews[-REVIEWS:]:
        label, look = ("Comment", "note") if review.is_comment else ("Review", _VERDICTS.get(review.verdict, "odd"))
        yield _LabelledText(label, look, " · ".join(_review_words(review)), origin(review.by, review.at, now))


def _review_words(review: ReviewCard) -> Iterator[str]:
    """What a review says of the plan as a whole. Steps show the remarks on themselves."""
    if not review.is_comment:
        yield review.words
    if review.to_run is not None:
        chosen = "; ".join(review.to_run)
        yield f"to run: {chosen or 'nothing'}" if len(chosen) <= NAMED else f"{len(review.to_run)} steps to run"
    yield from review.comments
    if review.stale and not review.is_comment:
        yield "the plan has changed since"


def _labelled(remark: _LabelledText, width: int) -> Iterator[Line]:
    text = "\n".join(one_line(each) for each in printable(remark.text).split("\n") if each.strip())
    start = (f"  {remark.label:<{LABEL}}", remark.look)
    for parts in hanging(start, text, "", remark.whose, min(width, WIDEST)):
        yield Line(parts, "", remark.row)
