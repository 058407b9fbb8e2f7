"""A session's plans as a markdown document: checkboxes, with the why, notes and reviews as prose."""

from collections.abc import Iterator

import msgspec

from planwire.model.fold import PlanRecord, SessionState
from planwire.model.plan import FilePlan, MarkdownPlan, OtherPlan
from planwire.model.statuses import CANCELLED, COMPLETED, IN_PROGRESS, meaning
from planwire.model.steps import Step
from planwire.readmodel.annotations import wish_sentence
from planwire.readmodel.history import plan_name, verdict_words
from planwire.readmodel.plain_text import one_line, printable

__all__ = ["document"]


def document(state: SessionState) -> str:
    """The live plans, each under a heading of its own."""
    return "\n".join(_lines(state)).rstrip() + "\n"


def _lines(state: SessionState) -> Iterator[str]:
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
        yield from _plan(record)


def _plan(record: PlanRecord) -> Iterator[str]:
    plan, progress = record.state.plan, record.state.progress
    done = f" ({progress.done}/{progress.total})" if record.state.steps else ""
    yield f"## {one_line(plan_name(plan.id))}{done}"
    yield ""
    if record.summary:
        yield from (f"> {line}" for line in printable(record.summary).split("\n"))
        yield ""
    match plan:
        case MarkdownPlan(content=content):
            yield printable(content).rstrip()
        case FilePlan(uri=uri):
            yield f"<{one_line(uri)}>"
        case OtherPlan(type=plan_type, fields=fields):
            value = msgspec.json.format(msgspec.json.encode({"type": plan_type, **fields}), indent=2).decode()
            yield from (f"    {line}" for line in printable(value).split("\n"))
        case _:
            yield from (_checkbox(step) for step in record.state.steps)
            if not record.state.steps:
                yield "Nothing on the list."
    yield ""
    yield from _last_words(record)


def _checkbox(step: Step) -> str:
    """As every reader of markdown shows it: a box is empty or ticked, and the other statuses are words."""
    text, status = one_line(step.content), meaning(step.status)
    box = "x" if status in (COMPLETED, CANCELLED) else " "
    if status == CANCELLED:
        text = f"~~{text}~~"
    words = [step.priority] if step.priority != "medium" else []
    if status in (IN_PROGRESS, CANCELLED) or status is None:
        words.append(step.status.replace("_", " "))
    return f"- [{box}] {text}" + (f" _({one_line(', '.join(words))})_" if words else "")


def _last_words(record: PlanRecord) -> Iterator[str]:
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
