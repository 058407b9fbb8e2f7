"""A remark in a few words: what it says, who said it, and how far it has come on its way to the agent."""

from collections.abc import Iterator
from typing import Final

from planwire.readmodel.annotations import SuggestedChange
from planwire.readmodel.authors import author
from planwire.readmodel.card import RemarkCard
from planwire.readmodel.plain_text import in_quotes, one_line, printable
from planwire.steering.wanted import is_remark
from planwire.terminal.lines import Part, hanging
from planwire.terminal.rows import ago, origin

#: The word that stands before the text of a remark, for each kind.
SHORT_LABELS: Final = {
    "comment": "Comment",
    "request": "Changes",
    "selection": "To run",
    "suggestion": "Suggested",
}
#: Up to this many characters, steps to run are named. Longer lists are counted: these steps have a sign of their own.
NAMED: Final = 60
#: Characters of a passage that a remark on it repeats.
QUOTED: Final = 60
_KEPT: Final = "kept in force"


def remark_parts(
    start: Part, remark: RemarkCard, now: int, width: int, *, quotes: bool = True, named: bool = False
) -> Iterator[tuple[Part, ...]]:
    """A remark after a sign or a label, then why it was closed, and the answers to it. `quotes` repeats the passage or
    the step that it is about; in print, `named` adds the id that commands take."""
    words = remark_text(remark, quotes=quotes)
    yield from hanging(start, words, "" if remark.is_open else "muted", _whose(remark, now, named=named), width)
    indent = " " * len(start[0])
    if remark.stale:
        yield from hanging((f"{indent}↳ ", "note"), one_line(remark.stale), "note", "", width)
    is_answer = any(each.text == remark.why_closed for each in remark.answers)
    if remark.why_closed and not is_answer and not is_remark(remark.why_closed):
        yield from hanging((f"{indent}↳ ", "muted"), one_line(remark.why_closed), "muted", "", width)
    for each in remark.answers:
        yield from hanging((f"{indent}↳ ", "note"), one_line(each.text), "", origin(each.by, each.at, now), width)


def remark_text(remark: RemarkCard, *, quotes: bool = True) -> str:
    """What a remark says."""
    text = unwrapped_lines(remark.text)
    if remark.kind == "selection":
        text = "; ".join(map(one_line, remark.steps))
        text = text if len(text) <= NAMED else f"{len(remark.steps)} steps"
    elif remark.kind == "request" and not text:
        text = "requested"
    return f"{in_quotes(one_line(remark.about, QUOTED))}:  {text}" if quotes and remark.about else text


def unwrapped_lines(text: str) -> str:
    """A text as its author broke it into lines, without empty ones."""
    return "\n".join(one_line(each) for each in printable(text).split("\n") if each.strip())


def suggestion_whose(change: SuggestedChange, now: int, *, named: bool = False) -> str:
    """Who suggests a change and when, what they say about it, and how far it has come."""
    note = in_quotes(one_line(change.note)) if change.note else ""
    words = (change.suggestion if named else "", note, origin(change.by, change.at, now), change.delivery)
    return " · ".join(filter(None, words))


def _whose(remark: RemarkCard, now: int, *, named: bool) -> str:
    kept = _KEPT if remark.kept and remark.is_open else ""
    words = (remark.id if named else "", origin(remark.by, remark.at, now), kept, _delivery(remark, now))
    return " · ".join(filter(None, words))


def _delivery(remark: RemarkCard, now: int) -> str:
    if remark.closed_at is not None:
        by = f" by {remark.why_closed}" if is_remark(remark.why_closed) else ""
        who = f", {author(remark.closed_by)}" if remark.closed_by not in ("", remark.by) else ""
        return f"{one_line(remark.delivery)}{by} {ago(remark.closed_at, now)}{who}"
    is_news = remark.told_at is not None and not remark.answers
    return f"{remark.delivery} {ago(remark.told_at or 0, now)}" if is_news else remark.delivery
