"""Plans in other forms: markdown documents for people, models and exports, and JSON values for programs.

The documents differ in their readers. A session's document makes do with the two checkboxes that every reader of
markdown shows, and is safe to print on a terminal. A plan's document is for models, and `plan_markdown` for copying:
they have a box for each status, and nobody prints them.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from planwire.model.fold import PlanRecord, Review, SessionState
from planwire.model.kinds import content_of, drafts_of, kind_of, noun_of, text_of, title_of
from planwire.model.plan import MEDIUM, Fields
from planwire.model.statuses import DEFAULT_STATUS, STATUSES
from planwire.model.steps import PlanState, Step
from planwire.model.text import unwrapped
from planwire.readmodel.annotations import suggestion_sentence
from planwire.readmodel.history import plan_name, verdict_words
from planwire.readmodel.plain_text import one_line, printable

__all__ = ["plan_document", "plan_json", "plan_markdown", "plan_title", "record_json", "session_document"]

#: The checkboxes that every reader of markdown knows: empty and ticked.
_PLAIN_BOXES: Final = " x"
#: Fields of a plan that are not its content.
_AROUND: Final = ("id", "meta", "extra")
#: What a journal knows of a plan besides its content, as it is.
_FACTS: Final = ("owner", "version", "revision", "created_at", "changed_at", "summary", "mode", "removed")


def session_document(state: SessionState) -> str:
    """The live plans of a session, each under a heading of its own."""
    return "\n".join(_session_lines(state)).rstrip() + "\n"


def _session_lines(state: SessionState) -> Iterator[str]:
    opened = state.opened
    facts = [f"session {state.id}"]
    if opened is not None:
        facts += [word for word in (opened.agent, opened.cwd) if word]
    yield f"# {one_line(opened.title) if opened and opened.title else 'Plans'}"
    yield ""
    yield "_" + " · ".join(one_line(fact) for fact in facts) + f" · revision {state.seq}_"
    yield ""
    if not state.live():
        yield "No plans."
    for record in state.live().values():
        yield from _plan_lines(record)


def _plan_lines(record: PlanRecord) -> Iterator[str]:
    plan, steps, progress = record.state.plan, record.state.steps, record.state.progress
    kind, text = kind_of(plan), text_of(plan)
    done = f" ({progress.done}/{progress.total})" if steps else ""
    yield f"## {one_line(plan_name(plan.id))}{done}"
    yield ""
    if record.summary:
        yield from (f"> {line}" for line in printable(record.summary).split("\n"))
        yield ""
    if kind.is_text:
        yield printable(text).rstrip()
    elif kind.has_editable_steps:
        yield from map(_plain_task, steps) if steps else ("Nothing on the list.",)
    elif kind.field:
        yield f"<{one_line(text)}>"
    else:
        yield from (f"    {line}" for line in printable(_json({"type": noun_of(plan), **content_of(plan)})).split("\n"))
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
    suggestions = [
        f"- {one_line(suggestion.by)}: {one_line(suggestion_sentence(record, suggestion))}"
        for suggestion in record.suggestions
    ]
    reviews = []
    for review in record.reviews:
        since = ", changed since" if record.is_stale(review) else ""
        reviews.append(f"- {one_line(review.by)}: {one_line(verdict_words(review))}{since}")
        reviews += [f"  - {one_line(comment.text)}" for comment in review.comments]
    for title, lines in (("Notes", notes), ("Wishes", suggestions), ("Reviews", reviews)):
        if lines:
            yield from (f"### {title}", "", *lines, "")


def plan_title(record: PlanRecord) -> str:
    """What a person would call the plan: the heading of its text, or its id."""
    plan = record.state.plan
    return (title_of(plan) if kind_of(plan).is_text else "") or plan.id or "plan"


def plan_document(record: PlanRecord) -> str:
    """A plan to read: its text or its steps, the notes since, and what people said of it."""
    parts = [
        f"> {unwrapped(record.summary)}" if record.summary else "",
        _body(record.state),
        _section("Notes", [delta.note for delta in record.deltas if delta.note]),
        _section("Wishes", [suggestion_sentence(record, each) for each in record.suggestions]),
        _section("Reviews", (line for review in record.reviews for line in _said(review, record.is_stale(review)))),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _body(state: PlanState) -> str:
    kind, text = kind_of(state.plan), text_of(state.plan)
    if kind.is_text:
        return text.strip("\n")
    if kind.has_editable_steps:
        return "\n".join(_task(step, with_status=False) for step in state.steps)
    if kind.field:
        return f"The plan is in the file <{text}>."
    fields = msgspec.json.encode(content_of(state.plan)).decode()
    return f"A plan of the kind {noun_of(state.plan)}:\n\n```json\n{fields}\n```"


def _said(review: Review, stale: bool) -> Iterator[str]:
    yield f"{review.by}: {verdict_words(review)}{', which has changed since' if stale else ''}"
    if review.selected is not None:
        yield f"to be run: {', '.join(review.selected) or 'no step'}"
    for comment in review.comments:
        yield f"{comment.step or 'plan'}: {comment.text}"


def _section(heading: str, lines: Iterable[str]) -> str:
    items = "\n".join(f"- {unwrapped(line)}" for line in lines)
    return f"## {heading}\n\n{items}" if items else ""


def plan_markdown(state: PlanState) -> str:
    """A text as it is; any other plan as a title and a list of tasks, a link, or its fields."""
    kind, text = kind_of(state.plan), text_of(state.plan)
    if kind.is_text:
        return text
    title = "# Plan" if state.plan.id is None else f"# {unwrapped(state.plan.id)}"
    if kind.has_editable_steps:
        tasks = ("  " * step.depth + _task(step, with_status=True) for step in state.steps)
        return "\n".join([title, "", *tasks]) + "\n"
    return f"{title}\n\n<{text}>\n" if kind.field else f"{title}\n\n```json\n{_json(content_of(state.plan))}\n```\n"


def _task(step: Step, *, with_status: bool) -> str:
    """A step with the box of its status; with the status in words, if asked for and no box shows it."""
    details = [step.priority] if step.priority != MEDIUM else []
    if with_status and step.known is None:
        details.append(step.status)
    box = (step.known or STATUSES[DEFAULT_STATUS]).box
    return f"- [{box}] {unwrapped(step.content)}" + (f" ({', '.join(details)})" if details else "")


def _json(value: Fields) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def plan_json(state: PlanState) -> dict[str, Any]:
    """A plan with its steps and its progress, the same in every command."""
    plan, progress, kind = state.plan, state.progress, kind_of(state.plan)
    value: dict[str, Any] = {"id": plan.id, "kind": plan.kind}
    value |= {name: part for name, part in msgspec.structs.asdict(plan).items() if name not in _AROUND}
    if kind.field is not None and kind.has_priorities:
        value[kind.field] = [
            {"content": draft.content, "priority": draft.priority, "status": draft.status} for draft in drafts_of(plan)
        ]
    value["steps"] = [
        {"id": step.id, "content": step.content, "status": step.status, "priority": step.priority}
        for step in state.steps
    ]
    value["progress"] = {"done": progress.done, "total": progress.total}
    return value


def record_json(record: PlanRecord) -> dict[str, Any]:
    """A plan with all that a journal knows of it: the why, changes since the agent set it, suggestions, reviews."""
    return {
        **plan_json(record.state),
        **{name: getattr(record, name) for name in _FACTS},
        "changes": msgspec.to_builtins(record.deltas),
        "wishes": msgspec.to_builtins(record.suggestions),
        "reviews": [{**msgspec.to_builtins(each), "stale": record.is_stale(each)} for each in record.reviews],
        "asked": msgspec.to_builtins(record.asked),
    }
