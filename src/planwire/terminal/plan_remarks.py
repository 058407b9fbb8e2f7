"""What the agent and people said about a plan, as lines: the why above it, everything else below it.

People's words go below, so that the plan does not move under the cursor of the person who adds some.
"""

from collections.abc import Container, Iterator
from typing import Final

from msgspec.structs import replace

from planwire.readmodel.card import OpenSuggestion, PlanCard, RemarkCard
from planwire.readmodel.plain_text import counted, one_line
from planwire.terminal.lines import Line, Row, cut, hanging, is_endless
from planwire.terminal.plan_questions import verdict_words
from planwire.terminal.remark_words import SHORT_LABELS, remark_parts, unwrapped_lines
from planwire.terminal.rows import CLOSED, DRAFT, FOLD, REMARK, origin
from planwire.terminal.step_lines import Shown, draft_parts

#: The newest notes of a plan; the history has them all.
NOTES: Final = 3
LABEL: Final = 10
#: How many of the latest verdicts to look at, for the one that holds and those that came too late.
LATEST: Final = 3
#: Cells in a line: people don't like to read longer ones, however wide the terminal is.
WIDEST: Final = 110
#: The most remarks on a plan where room is short.
BRIEF: Final = 2

_VERDICTS: Final = {"approved": "done", "dismissed": "muted"}
_LOOKS: Final = {"suggestion": "suggestion", "request": "odd", "selection": "to_run"}


def reason_lines(card: PlanCard, width: int) -> Iterator[Line]:
    """Where the plan comes from, and why."""
    if card.uri is not None:
        yield from _labelled("File", "muted", one_line(card.uri), "", width)
    for label, look, text in (("Why", "note", card.why), ("Thinking", "muted", card.thinking)):
        for line in _labelled(label, look, text, "", width) if text else ():
            yield replace(line, words=line.text.strip())


def remark_count(card: PlanCard) -> str:
    """How many remarks on the plan and its steps are open, in two words; "" for none."""
    count = len(card.open_remarks) + len(card.suggestions)
    return f"{count} remark{'s' * (count > 1)}" if count else ""


def remark_lines(
    card: PlanCard, width: int, now: int, shown: Shown, placed: Container[object] = (), *, named: bool = False
) -> list[Line]:
    """The newest notes, the last verdict, open remarks on the plan as a whole, suggestions without a place among its
    steps, comments that wait for a review, and how many remarks are closed. `placed` are remarks and comments that are
    shown elsewhere. In print, `named` adds the ids that commands take."""
    suggestions = [each for each in card.suggestions if not each.has_place]
    lines = [
        *_notes(card, width, now),
        *_verdict(card, width, now),
        *(line for each in suggestions for line in _suggested(card, each, width, now, named)),
        *(line for each in card.remarks if each.id not in placed for line in _remark(card, each, width, now, named)),
        *_drafts(card, width, shown, placed),
    ]
    is_unheard = any(each.heard for each in card.open_remarks) or any(each.heard for each in card.suggestions)
    if named and not card.ended and is_unheard:
        words = f"Not seen yet: {card.heard[:1].lower()}{card.heard[1:]}"
        lines += _labelled("", "", words, "", width, look="muted")
    return [*lines, *_closed(card, width, now, shown, named)]


def brief_lines(card: PlanCard, width: int, now: int) -> list[Line]:
    """The last words on a plan or its steps, where room is short."""
    words = [
        list(reason_lines(card, width)),
        list(_notes(card, width, now)),
        list(_verdict(card, width, now)),
        *(list(_suggested(card, each, width, now, named=True)) for each in card.suggestions),
        *(list(_remark(card, each, width, now, named=True)) for each in card.open_remarks),
    ]
    return [line for lines in [*filter(None, words)][-BRIEF:] for line in lines]


def _drafts(card: PlanCard, width: int, shown: Shown, placed: Container[object]) -> Iterator[Line]:
    for number, draft in enumerate(shown.drafts):
        if draft not in placed and not (draft.step and card.row(draft.step)):
            row = (REMARK, card.id, DRAFT, number)
            yield from (Line(parts, "", row) for parts in draft_parts(draft, 2, width))


def _notes(card: PlanCard, width: int, now: int) -> Iterator[Line]:
    if len(card.notes) > NOTES:
        yield Line(((f"  {counted(len(card.notes) - NOTES, 'earlier note')}: planwire log", "muted"),))
    for note in card.notes[-NOTES:]:
        yield from _labelled("Note", "note", note.text, origin(note.by, note.at, now), width)


def _verdict(card: PlanCard, width: int, now: int) -> Iterator[Line]:
    """The last verdict, and answers that came too late. The verdict of an open request for changes is left out, since
    the request says it, unless it was sent as an answer."""
    is_said = any(each.kind == "request" for each in card.remarks)
    for verdict in card.reviews[-LATEST:]:
        is_repeated = is_said and verdict.verdict == "changes_requested" and not verdict.delivery
        if verdict.late or (verdict == card.verdict and not is_repeated):
            look = "muted" if verdict.late else _VERDICTS.get(verdict.verdict, "odd")
            yield from _labelled("Review", look, *verdict_words(card, verdict, now), width)


def _suggested(card: PlanCard, suggestion: OpenSuggestion, width: int, now: int, named: bool) -> Iterator[Line]:
    words = (suggestion.id if named else "", origin(suggestion.by, suggestion.at, now), suggestion.delivery)
    row = (REMARK, card.id, suggestion.id, -1)
    yield from _labelled("Suggested", "suggestion", suggestion.text, " · ".join(filter(None, words)), width, row)


def _remark(card: PlanCard, remark: RemarkCard, width: int, now: int, named: bool) -> Iterator[Line]:
    label = one_line(SHORT_LABELS.get(remark.kind, remark.label), LABEL - 1)
    start = (f"  {label:<{LABEL}}", _LOOKS.get(remark.kind, "note") if remark.is_open else "muted")
    for parts in remark_parts(start, remark, now, _readable(width), named=named):
        yield Line(parts, "", (REMARK, card.id, remark.id, -1))


def _closed(card: PlanCard, width: int, now: int, shown: Shown, named: bool) -> Iterator[Line]:
    """The remarks that ended: how many, or all of them."""
    count = len(card.closed_remarks)
    if not count:
        return
    sign, more = ("▾", "Enter hides them") if shown.closed else ("▸", "Enter shows them")
    more = "" if shown.unfold is None else f"   {more}"
    more = "   planwire show --all" if named and not shown.closed else more
    parts = cut(((f"  {sign} {count} closed", "muted"), (more, "muted")), width)
    yield Line(parts, "", (FOLD, card.id, CLOSED))
    if shown.closed:
        for remark in reversed(card.closed_remarks):
            yield from _remark(card, remark, width, now, named)


def _labelled(
    label: str, label_look: str, text: str, whose: str, width: int, row: Row | None = None, look: str = ""
) -> Iterator[Line]:
    start = (f"  {label:<{LABEL}}", label_look)
    for parts in hanging(start, unwrapped_lines(text), look, whose, _readable(width)):
        yield Line(parts, "", row)


def _readable(width: int) -> int:
    return width if is_endless(width) else min(width, WIDEST)
