"""A session as its journal has it: its plans with the why, notes, wishes and the last review."""

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from planwire.model.events import APPROVED
from planwire.model.fold import PlanRecord, Review, SessionState
from planwire.model.plan import MarkdownPlan, PlanId
from planwire.readmodel.annotations import wish_sentence
from planwire.readmodel.history import plan_name, verdict_words
from planwire.readmodel.overview import RUNNING, Overview
from planwire.readmodel.plain_text import age, one_line, printable
from planwire.terminal.sessions import STATE_LOOK, folder_name
from planwire.terminal.views import plan_view

__all__ = ["record_view", "session_heading", "session_record_view"]

#: How many notes are shown of a plan that has many: the newest.
NOTES: Final = 5
#: Lines about a plan where room is short: the newest.
BRIEF: Final = 2
#: Lines that a panel takes apart from steps and words, and those of a session's heading.
FRAME: Final = 3
HEADING: Final = 2


class _Said(NamedTuple):
    sign: str
    style: str
    text: Text


def session_record_view(
    state: SessionState,
    glance: Overview,
    now: int,
    fresh: Collection[str] = (),
    height: int | None = None,
    chosen: PlanId | None = None,
    *,
    only: bool = False,
) -> RenderableType:
    """The heading and every live plan, or `only` the chosen one. `height` bounds the lines of all of it."""
    records = {chosen: state.plans[chosen]} if only else state.live()
    heading = session_heading(glance, now)
    parts: list[RenderableType] = [heading]
    if not records:
        parts.append(Text("no plans yet" if not state.plans else "no plans any more", "dim"))
    share = None
    if height is not None:
        heading.no_wrap, heading.overflow = True, "ellipsis"
        room = height - HEADING
        share = room if sum(map(_needed, records.values())) <= room else room // max(len(records), 1)
    parts += [record_view(record, glance.state != RUNNING, now, fresh, share) for record in records.values()]
    gone = [plan_name(plan_id) for plan_id, record in state.plans.items() if record.removed and not only]
    if gone and height is None:
        parts.append(Text(f"removed: {', '.join(one_line(name) for name in gone)}  (see them with --plan)", "dim"))
    return Group(*parts)


def session_heading(glance: Overview, now: int) -> Text:
    """Two lines: what the session is about, and who works where."""
    sign, style = STATE_LOOK[glance.state]
    heading = Text.assemble((f"{sign} ", style), (one_line(glance.title or "") or "no title", "bold"))
    heading.append(f"  {one_line(glance.id)}", "dim")
    words = [one_line(word) for word in (glance.agent, glance.client) if word]
    if glance.cwd:
        words.append(folder_name(glance.cwd))
    state = glance.state if glance.stop_reason is None else f"{glance.state} ({one_line(glance.stop_reason)})"
    words += [state, _ago(glance.last_at, now)]
    return heading.append(f"\n  {' · '.join(words)}", "dim")


def record_view(
    record: PlanRecord, stopped: bool, now: int, fresh: Collection[str] = (), height: int | None = None
) -> RenderableType:
    """One plan in a panel. With a `height` the steps go first, and only the last words about them are told."""
    above = [Text(printable(record.summary), "italic"), Text()] if record.summary else []
    words = list(_last_words(record, now, brief=height is not None))
    if height is not None:
        words = words[-BRIEF:]
        height = max(3, height - FRAME - len(above) - len(words))
    below = [Text(), _lines(words)] if words else []
    return plan_view(
        record.state, fresh, height, stopped=stopped, above=above, below=below, footer=_numbers(record, now)
    )


def _needed(record: PlanRecord) -> int:
    """About how many lines a plan takes, if nothing of it is left out."""
    plan = record.state.plan
    text = plan.content.count("\n") + 1 if isinstance(plan, MarkdownPlan) and not record.state.steps else 1
    return FRAME + BRIEF + max(len(record.state.steps), text) + (2 if record.summary else 0)


def _lines(words: list[_Said]) -> RenderableType:
    """Who said what: a text that is longer than a line goes on behind its sign."""
    table = Table.grid(padding=(0, 1, 0, 0))
    for sign, style, text in words:
        table.add_row(Text(sign, style), text)
    return table


def _last_words(record: PlanRecord, now: int, *, brief: bool) -> Iterator[_Said]:
    notes = [delta for delta in record.deltas if delta.note]
    most = 1 if brief else NOTES
    if len(notes) > most and not brief:
        yield _Said("✎", "dim", Text(f"{len(notes) - most} earlier notes", "dim"))
    for delta in notes[-most:]:
        yield _said("✎", "blue", delta.by, delta.at, now, delta.note or "")
    for wish in record.wishes:
        yield _said("☆", "magenta", wish.by, wish.at, now, f"wish {wish.seq}: {wish_sentence(record, wish)}")
    for review in record.reviews[-most:]:
        yield from _review(record, review, now, brief=brief)
    if record.asked:
        offered = f": {' / '.join(record.asked.options)}" if record.asked.options else ""
        yield _said("◆", "magenta", "agent", record.asked.at, now, f"waits for a review{offered}")


def _review(record: PlanRecord, review: Review, now: int, *, brief: bool) -> Iterator[_Said]:
    sign, style = ("✔", "green") if review.verdict == APPROVED else ("✎", "yellow")
    since = "; the plan has changed since" if record.is_stale(review) else ""
    yield _said(sign, style, review.by, review.at, now, verdict_words(review) + since)
    if brief:
        return
    if review.selected is not None:
        yield _Said("", "", Text(f"steps to run: {one_line(', '.join(review.selected)) or 'none'}"))
    for comment in review.comments:
        place = f"{one_line(comment.step)}: " if comment.step else ""
        yield _Said("", "", Text(f"“{place}{one_line(comment.text)}”"))


def _numbers(record: PlanRecord, now: int) -> Text:
    words = [f"version {record.version}", f"revision {record.revision}", _ago(record.changed_at, now)]
    return Text(" · ".join(["removed", *words] if record.removed else words), "dim")


def _said(sign: str, style: str, by: str, at: int, now: int, words: str) -> _Said:
    return _Said(sign, style, Text.assemble((f"{one_line(by)}, {_ago(at, now)}: ", "dim"), one_line(words)))


def _ago(then: int, now: int) -> str:
    passed = age(then, now)
    return passed if passed == "now" else f"{passed} ago"
