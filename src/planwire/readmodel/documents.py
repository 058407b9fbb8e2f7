"""Plans as markdown documents: those of a session, for people who export it, and one alone, for MCP hosts.

A session's document makes do with the two checkboxes that every reader of markdown shows, and is safe to print on a
terminal. A plan's document is for models: it has a box for each status, and nobody prints it.
"""

from collections.abc import Iterable, Iterator
from typing import assert_never

import msgspec

from planwire.model.fold import PlanRecord, Review, SessionState
from planwire.model.kinds import title_of
from planwire.model.plan import MEDIUM, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan
from planwire.model.steps import Step
from planwire.readmodel.annotations import wish_sentence
from planwire.readmodel.history import plan_name, verdict_words
from planwire.readmodel.plain_text import one_line, printable

__all__ = ["plan_document", "plan_title", "session_document"]

#: The checkboxes that every reader of markdown knows: empty and ticked.
_PLAIN_BOXES = " x"


def session_document(state: SessionState) -> str:
    """The live plans of a session, each under a heading of its own."""
    return "\n".join(_session_lines(state)).rstrip() + "\n"


def _session_lines(state: SessionState) -> Iterator[str]:
    opened = state.opened
    yield f"# {one_line(opened.title) if opened and opened.title else 'Plans'}"
    yield ""
    facts = [f"session {state.id}"]
    if opened is not None:
        facts += [word for word in (opened.agent, opened.cwd) if word]
    yield "_" + " · ".join(one_line(fact) for fact in facts) + f" · revision {state.seq}_"
    yield ""
    if not state.live():
        yield "No plans."
    for record in state.live().values():
        yield from _plan_lines(record)


def _plan_lines(record: PlanRecord) -> Iterator[str]:
    progress = record.state.progress
    done = f" ({progress.done}/{progress.total})" if record.state.steps else ""
    yield f"## {one_line(plan_name(record.state.plan.id))}{done}"
    yield ""
    if record.summary:
        yield from (f"> {line}" for line in printable(record.summary).split("\n"))
        yield ""
    match record.state.plan:
        case ItemsPlan():
            yield from (_plain_task(step) for step in record.state.steps)
            if not record.state.steps:
                yield "Nothing on the list."
        case MarkdownPlan(content=content):
            yield printable(content).rstrip()
        case FilePlan(uri=uri):
            yield f"<{one_line(uri)}>"
        case OtherPlan(type=plan_type, fields=fields):
            value = msgspec.json.format(msgspec.json.encode({"type": plan_type, **fields}), indent=2).decode()
            yield from (f"    {line}" for line in printable(value).split("\n"))
        case _ as never:
            assert_never(never)
    yield ""
    yield from _remark_lines(record)


def _plain_task(step: Step) -> str:
    """A step with an empty or a ticked box; a status that neither of them shows stands behind it in words."""
    row, text = step.known, one_line(step.content)
    if row is not None and not row.counts:
        text = f"~~{text}~~"
    words = [step.priority] if step.priority != MEDIUM else []
    if row is None or row.box not in _PLAIN_BOXES:
        words.append(step.status.replace("_", " "))
    box = " " if step.is_open else "x"
    return f"- [{box}] {text}" + (f" _({one_line(', '.join(words))})_" if words else "")


def _remark_lines(record: PlanRecord) -> Iterator[str]:
    notes = [f"- {one_line(delta.by)}: {one_line(delta.note)}" for delta in record.deltas if delta.note]
    wishes = [f"- {one_line(wish.by)}: {one_line(wish_sentence(record, wish))}" for wish in record.wishes]
    reviews = []
    for review in record.reviews:
        since = ", changed since" if record.is_stale(review) else ""
        reviews.append(f"- {one_line(review.by)}: {one_line(verdict_words(review))}{since}")
        reviews += [f"  - {one_line(comment.text)}" for comment in review.comments]
    for title, lines in (("Notes", notes), ("Wishes", wishes), ("Reviews", reviews)):
        if lines:
            yield from (f"### {title}", "", *lines, "")


def plan_title(record: PlanRecord) -> str:
    """What a person would call the plan: the heading of its text, or its id."""
    plan = record.state.plan
    title = title_of(plan) if isinstance(plan, MarkdownPlan) else ""
    return title or plan.id or "plan"


def plan_document(record: PlanRecord) -> str:
    """A plan to read: its text or its steps, the notes since, and what people said of it."""
    parts = [
        f"> {_in_one_line(record.summary)}" if record.summary else "",
        _body(record),
        _section("Notes", [delta.note for delta in record.deltas if delta.note]),
        _section("Wishes", [delta.note or "changes of steps" for delta in record.wishes]),
        _section("Reviews", (line for review in record.reviews for line in _said(review, record.is_stale(review)))),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _body(record: PlanRecord) -> str:
    match record.state.plan:
        case ItemsPlan():
            return "\n".join(_task(step) for step in record.state.steps)
        case MarkdownPlan(content=content):
            return content.strip("\n")
        case FilePlan(uri=uri):
            return f"The plan is in the file <{uri}>."
        case OtherPlan(type=plan_type, fields=fields):
            return f"A plan of the kind {plan_type}:\n\n```json\n{msgspec.json.encode(fields).decode()}\n```"
        case _ as never:
            assert_never(never)


def _task(step: Step) -> str:
    box = step.known.box if step.known else " "
    priority = "" if step.priority == MEDIUM else f" ({step.priority})"
    return f"- [{box}] {_in_one_line(step.content)}{priority}"


def _said(review: Review, stale: bool) -> Iterator[str]:
    yield f"{review.by}: {verdict_words(review)}{', which has changed since' if stale else ''}"
    if review.selected is not None:
        yield f"to be run: {', '.join(review.selected) or 'no step'}"
    for comment in review.comments:
        yield f"{comment.step or 'plan'}: {comment.text}"


def _section(heading: str, lines: Iterable[str]) -> str:
    items = "\n".join(f"- {_in_one_line(line)}" for line in lines)
    return f"## {heading}\n\n{items}" if items else ""


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
