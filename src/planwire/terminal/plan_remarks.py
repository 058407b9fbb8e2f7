"""What people and the agent said of a plan, as lines: on the screen around its head, in print below its steps."""

from collections.abc import Iterator
from typing import Final

from planwire.model.events import APPROVED, COMMENTED, DISMISSED, AddStep
from planwire.model.fold import Delta, PlanRecord, Review
from planwire.readmodel.annotations import suggestion_sentence
from planwire.readmodel.history import verdict_words
from planwire.readmodel.plain_text import one_line, printable
from planwire.terminal.lines import Line, Row, fitted, folded, hanging
from planwire.terminal.plan_card import PLAN, SUGGESTION, Card, ago, origin
from planwire.tools.delivered_reviews import unanswered

__all__ = ["printed_remarks", "question_lines", "remark_lines"]

#: The newest notes and reviews of a plan on the screen, and in print; the history has them all.
NOTES: Final = 3
REVIEWS: Final = 4
PRINTED: Final = 5
LABEL: Final = 10
#: Lines for the answers that an agent offers, about.
MOST_ASKED: Final = 4
#: Characters up to which steps to run are named. Longer lists are counted: these steps have a sign of their own.
NAMED: Final = 60
#: Cells in a line: people don't like to read longer ones, however wide the terminal is.
WIDEST: Final = 110


# -- on the screen


def question_lines(card: Card, width: int, now: int) -> Iterator[Line]:
    """Say that the agent waits for a person, and where to answer it."""
    asked = card.record.asked if card.record else None
    if asked is None:
        return
    where = f" in {one_line(card.client)}" if card.client else " in its client"
    words = f"your answer{where}: {one_line(' / '.join(asked.options))}" if asked.options else "your review"
    text = fitted(f"The agent waits for {words}", MOST_ASKED * max(width - 5, 10))
    for parts in hanging(("  ◆ ", "waiting"), text, "waiting", ago(asked.at, now), width):
        yield Line(parts, "", (PLAN, card.id))


def remark_lines(card: Card, width: int, now: int) -> Iterator[Line]:
    """Why the plan exists, the newest notes, suggestions without a place among the steps, and reviews that matter."""
    record = card.record
    if card.uri is not None:
        yield from _labelled("File", "muted", one_line(card.uri), "", width)
    if record is None:
        return
    if record.summary:
        yield from _labelled("Why", "note", record.summary, "", width)
    if card.said:
        yield from _labelled("Thinking", "muted", card.said, "", width)
    for delta in [each for each in record.deltas if each.note][-NOTES:]:
        yield from _labelled("Note", "note", delta.note or "", origin(delta.by, delta.at, now), width)
    for suggestion in record.suggestions:
        if not _has_a_place(record, suggestion):
            whose = origin(suggestion.by, suggestion.at, now)
            row = (SUGGESTION, card.id, suggestion.seq, -1)
            yield from _labelled("Wished", "wish", suggestion_sentence(record, suggestion), whose, width, row)
    for review in _that_matter(record):
        label, look, text = _review(record, review)
        yield from _labelled(label, look, text, origin(review.by, review.at, now), width)


def _has_a_place(record: PlanRecord, suggestion: Delta) -> bool:
    """Whether the steps show all of a suggestion."""
    steps = {step.id for step in record.state.steps}
    return bool(suggestion.changes) and all(
        isinstance(each, AddStep) or each.step in steps for each in suggestion.changes
    )


def _that_matter(record: PlanRecord) -> list[Review]:
    """The last review, and earlier ones that the agent has not answered. Steps show the remarks on themselves."""
    new = unanswered(record)
    known = [each for each in record.reviews if each is record.review or each in new]
    return [each for each in known if each.verdict != COMMENTED or any(said.step is None for said in each.comments)][
        -REVIEWS:
    ]


def _review(record: PlanRecord, review: Review) -> tuple[str, str, str]:
    """A review's label, the look of it, and what it says of the plan as a whole."""
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


def _labelled(label: str, look: str, text: str, whose: str, width: int, row: Row | None = None) -> Iterator[Line]:
    text = "\n".join(one_line(each) for each in printable(text).split("\n") if each.strip())
    for parts in hanging((f"  {label:<{LABEL}}", look), text, "", whose, min(width, WIDEST)):
        yield Line(parts, "", row)


# -- in print


def printed_remarks(record: PlanRecord, width: int, now: int, most: int | None = None) -> list[Line]:
    """Notes, suggestions, reviews and the agent's question, with the numbers for commands; or the last `most`."""
    said = list(_printed(record, now, PRINTED if most is None else 1, brief=most is not None))
    return [line for each in (said if most is None else said[-most:]) for line in folded(each, width)]


def _printed(record: PlanRecord, now: int, most: int, *, brief: bool) -> Iterator[Line]:
    notes = [delta for delta in record.deltas if delta.note]
    if len(notes) > most and not brief:
        yield Line((("  ✎ ", "muted"), (f"{len(notes) - most} earlier notes", "muted")))
    for delta in notes[-most:]:
        yield _signed("✎", "note", origin(delta.by, delta.at, now), delta.note or "")
    for suggestion in record.suggestions:
        words = f"wish {suggestion.seq}: {suggestion_sentence(record, suggestion)}"
        yield _signed("☆", "wish", origin(suggestion.by, suggestion.at, now), words)
    for review in record.reviews[-most:]:
        yield from _printed_review(record, review, now, brief=brief)
    if record.asked:
        offered = f": {' / '.join(record.asked.options)}" if record.asked.options else ""
        yield _signed("◆", "waiting", origin("agent", record.asked.at, now), f"waits for a review{offered}")


def _printed_review(record: PlanRecord, review: Review, now: int, *, brief: bool) -> Iterator[Line]:
    sign, look = ("✔", "done") if review.verdict == APPROVED else ("✎", "odd")
    since = "; the plan has changed since" if record.is_stale(review) else ""
    yield _signed(sign, look, origin(review.by, review.at, now), verdict_words(review) + since)
    if brief:
        return
    if review.selected is not None:
        yield Line(((f"    steps to run: {one_line(', '.join(review.selected)) or 'none'}", ""),))
    for comment in review.comments:
        place = f"{one_line(comment.step)}: " if comment.step else ""
        yield Line(((f"    “{place}{one_line(comment.text)}”", ""),))


def _signed(sign: str, look: str, whose: str, words: str) -> Line:
    return Line(((f"  {sign} ", look), (f"{whose}: ", "muted"), (one_line(words), "")))
