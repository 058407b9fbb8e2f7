"""What was said of a plan, as lines: whom the agent waits for, the why, notes, wishes and reviews."""

from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len

from planwire.model.events import APPROVED, COMMENTED, DISMISSED, AddStep
from planwire.model.fold import Delta, PlanRecord, Review
from planwire.readmodel.annotations import wish_sentence
from planwire.readmodel.history import verdict_words
from planwire.readmodel.plain_text import one_line, printable
from planwire.terminal.lines import Line, Part, fitted, wrapped
from planwire.terminal.plan_card import Card, ago, origin, plan_row, wish_row
from planwire.tools.delivered_reviews import unanswered

__all__ = ["asked_lines", "word_lines"]

#: How many notes of a plan are shown, and reviews: the newest; the history has them all.
NOTES: Final = 3
REVIEWS: Final = 4
LABEL: Final = 10
#: Lines for the answers that an agent offers.
MOST_ASKED: Final = 4
#: Steps to run are named where that is so short, and else counted: they have a sign of their own.
NAMED: Final = 60
#: Lines are not longer than people like to read, however wide the terminal is.
WIDEST: Final = 110


def asked_lines(card: Card, width: int, now: int) -> Iterator[Line]:
    """That the agent waits for a person, and where it is to be answered."""
    asked = card.record.asked if card.record else None
    if asked is None:
        return
    where = f" in {one_line(card.client)}" if card.client else " in its client"
    words = f"your answer{where}: {one_line(' / '.join(asked.options))}" if asked.options else "your review"
    lines = wrapped(f"The agent waits for {words}", max(width - 5, 10))
    if len(lines) > MOST_ASKED:
        lines = [*lines[: MOST_ASKED - 1], fitted(f"{lines[MOST_ASKED - 1]} …", max(width - 5, 10))]
    for number, line in enumerate(lines):
        parts: tuple[Part, ...] = (("  ◆ " if not number else "    ", "waiting"), (line, "waiting"))
        when = f"   {ago(asked.at, now)}"
        fits = number == len(lines) - 1 and cell_len(line) + 4 + cell_len(when) < width
        yield Line((*parts, (when, "muted")) if fits else parts, "", plan_row(card.id))


def word_lines(card: Card, width: int, now: int) -> Iterator[Line]:
    """What its author said of it, notes since, wishes that have no place among the steps, and the reviews."""
    record = card.record
    if card.uri is not None:
        yield from _said("File", "muted", one_line(card.uri), "", width)
    if record is None:
        return
    if record.summary:
        yield from _said("Why", "note", record.summary, "", width)
    if card.said:
        yield from _said("Thinking", "muted", card.said, "", width)
    for delta in [each for each in record.deltas if each.note][-NOTES:]:
        yield from _said("Note", "note", delta.note or "", origin(delta.by, delta.at, now), width)
    for wish in record.wishes:
        if not _has_a_place(record, wish):
            whose = origin(wish.by, wish.at, now)
            row = wish_row(card.id, wish.seq, -1)
            yield from _said("Wished", "wish", wish_sentence(record, wish), whose, width, row)
    for review in _that_matter(record):
        label, look, text = _review(record, review)
        yield from _said(label, look, text, origin(review.by, review.at, now), width)


def _has_a_place(record: PlanRecord, wish: Delta) -> bool:
    """Whether all of a wish is shown among the steps."""
    steps = {step.id for step in record.state.steps}
    return bool(wish.changes) and all(isinstance(each, AddStep) or each.step in steps for each in wish.changes)


def _that_matter(record: PlanRecord) -> list[Review]:
    """The last review, and those before it that the agent has not answered. What was said of steps is shown there."""
    known = [each for each in record.reviews if each is record.review or each in unanswered(record)]
    return [each for each in known if each.verdict != COMMENTED or any(said.step is None for said in each.comments)][
        -REVIEWS:
    ]


def _review(record: PlanRecord, review: Review) -> tuple[str, str, str]:
    """A label, its look, and what was said of the plan as a whole."""
    said = [comment.text for comment in review.comments if comment.step is None]
    if review.verdict == COMMENTED:
        return "Comment", "odd", " · ".join(said)
    words = [verdict_words(review)]
    if review.selected is not None:
        texts = {step.id: step.content for step in record.state.steps}
        chosen = "; ".join(texts.get(step, step) for step in review.selected)
        words.append(
            f"to run: {chosen or 'nothing'}" if len(chosen) <= NAMED else f"{len(review.selected)} steps to run"
        )
    words += said
    words += ["the plan has changed since"] if record.is_stale(review) else []
    looks = {APPROVED: "done", DISMISSED: "muted"}
    return "Review", looks.get(review.verdict, "odd"), " · ".join(words)


def _said(
    label: str, look: str, text: str, whose: str, width: int, row: tuple[object, ...] | None = None
) -> Iterator[Line]:
    name = f"  {label:<{LABEL}}"
    room = max(min(width, WIDEST) - cell_len(name) - 1, 10)
    lines = [line for each in printable(text).split("\n") if each.strip() for line in wrapped(one_line(each), room)]
    for number, line in enumerate(lines or [""]):
        parts: tuple[Part, ...] = ((name if not number else " " * cell_len(name), look), (line, ""))
        if whose and number == len(lines) - 1:
            if cell_len(line) + cell_len(whose) + 3 > room:
                yield Line(parts, "", row)
                parts = ((" " * cell_len(name), ""), (fitted(whose, room), "muted"))
            else:
                parts += ((f"   {whose}", "muted"),)
        yield Line(parts, "", row)
