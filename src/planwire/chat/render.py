"""What the model reads of a hidden message: a block of text, which every format sends as user context.

    <plan id="main" version="2" revision="17">      <plan-update id="main" seq="3">
    s1 [x] (high) Read the config                   s2 completed
    s2 [~] (medium) Write the parser                </plan-update>
    </plan>

A block depends on its message alone, never on what stands around it: a block that was sent stays as it is.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from planwire.chat.escape import attribute, inside
from planwire.chat.messages import EventMessage, Hidden, PlanMessage
from planwire.chat.roles import SUMMARIZATION_MARKER
from planwire.model.events import COMMENTED
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.statuses import CANCELLED, COMPLETED, IN_PROGRESS, PENDING, meaning
from planwire.model.steps import Step, track

__all__ = ["block", "change_line", "message_steps", "step_line"]

#: How much of a step's text its line in the index of a markdown plan repeats: the text itself stands above it.
INDEXED_CHARACTERS: Final = 48

#: What a marker says of the messages that it stands for, which is for us and not for the model.
_IDS: Final = ("first_message_id", "sources")

_BOXES = {PENDING: " ", IN_PROGRESS: "~", COMPLETED: "x", CANCELLED: "-"}


def block(message: Hidden) -> str:
    """The text of a hidden message for the model."""
    match message:
        case PlanMessage():
            return _plan(message)
        case EventMessage(subkind="plan_delta"):
            return _delta(message)
        case EventMessage(subkind="summarization_marker", payload={"summarized_subkind": subkind, "count": int(count)}):
            source = attribute(message.source)
            return f'<event-history source="{source}">{count} earlier {inside(str(subkind))} events</event-history>'
    return _event(message)


def step_line(step: Step) -> str:
    """A step on one line: `s3 [ ] (high) text`."""
    box = _BOXES.get(meaning(step.status) or "") or _one_line(step.status)
    return f"{_one_line(step.id)} [{box}] ({_one_line(step.priority)}) {_one_line(step.content)}"


def message_steps(message: PlanMessage) -> Sequence[Step]:
    """The steps that a plan message holds beside its text, if it does."""
    return _steps(message.plan.get("steps")) or _entries(message.plan.get("entries"))


def _plan(message: PlanMessage) -> str:
    plan = message.plan
    steps = message_steps(message)
    attributes = {"id": message.plan_id, "version": message.version, "revision": plan.get("revision")}
    body = message.content or "\n".join(step_line(step) for step in steps)
    index = _index(steps or _checkboxes(message.content)) if _is_markdown(message) else ()
    why = (f"why: {plan['summary']}",) if isinstance(plan.get("summary"), str) else ()
    notes = (f"note: {note}" for note in _list(plan.get("notes")) if isinstance(note, str))
    return "\n".join([_open("plan", attributes), inside(body), *index, *map(inside, (*why, *notes)), "</plan>"])


def _is_markdown(message: PlanMessage) -> bool:
    return bool(message.content) and message.plan.get("kind", "markdown") == "markdown"


def _index(steps: Sequence[Step]) -> Iterable[str]:
    """The ids of a markdown plan's steps, in the order of its checkboxes."""
    if not steps:
        return ()
    return ("<steps>", *(inside(f"{_one_line(step.id)} {_shortened(step.content)}") for step in steps), "</steps>")


def _delta(message: EventMessage) -> str:
    payload = message.payload
    changes = (change_line(change) for change in _list(payload.get("changes")))
    lines = [_opening_words(payload), message.content, *changes]
    attributes = {"id": message.plan_id, "seq": payload.get("seq")}
    return "\n".join([_open("plan-update", attributes), *(inside(line) for line in lines if line), "</plan-update>"])


def _opening_words(payload: dict[str, Any]) -> str:
    """What the lines of an update are, unless they are changes that were made."""
    match payload:
        case {"removed": True}:
            return "This plan is dismissed."
        case {"withdrawn": int(number)}:
            return f"The wish of update {number} is taken back."
        case {"wish": True}:
            return f"The {payload.get('by', 'user')} asks for this change; it is not made yet:"
        case {"review": dict(review)}:
            return "\n".join(_review(review, str(payload.get("by", "user"))))
    return ""


def _review(review: dict[str, Any], by: str) -> Iterable[str]:
    revision, verdict = review.get("revision"), str(review.get("verdict"))
    if verdict == COMMENTED:
        yield f"The {by} commented on revision {revision}:"
    else:
        yield f"The {by} reviewed revision {revision}: {verdict.replace('_', ' ')}."
    named = review.get("steps")
    words = named if isinstance(named, dict) else {}
    match review.get("selected"):
        case []:
            yield "No step is to be run now."
        case [*steps]:
            yield "Run only these steps now, and leave the others until you are told:"
            yield from (_one_line(f"{step} {words.get(step, '')}") for step in steps)
    for comment in _list(review.get("comments")):
        if isinstance(comment, dict):
            step = comment.get("step")
            about = f"{step} ({_shortened(str(words[step]))})" if step in words else step or "plan"
            yield f"{about}: {comment.get('text', '')}"


def change_line(change: Any) -> str:
    """A change of a step on one line, as it stands in `payload.changes`."""
    match change:
        case {"do": "status", "step": step, "status": status}:
            return _one_line(f"{step} {status}")
        case {"do": "reword", "step": step, "content": content}:
            return _one_line(f"{step} reworded: {content}")
        case {"do": "priority", "step": step, "priority": priority}:
            return _one_line(f"{step} priority: {priority}")
        case {"do": "add", "content": content}:
            words = str(content), str(change.get("status", PENDING)), str(change.get("priority", "medium"))
            return f"{step_line(Step(str(change.get('id') or 'new'), *words))} {_place('added', change.get('after'))}"
        case {"do": "move", "step": step, "after": after}:
            return f"{_one_line(str(step))} {_place('moved', after)}"
        case {"do": "remove", "step": step}:
            return _one_line(f"{step} removed")
    return _json(change)


def _place(what: str, after: Any) -> str:
    if after is None:
        return f"({what} at the end)"
    return f"({what} after {_one_line(str(after))})" if after else f"({what} at the beginning)"


def _event(message: EventMessage) -> str:
    lines = [_open("event", {"subkind": message.subkind, "source": message.source})]
    payload = message.event.get("payload")
    if message.subkind == SUMMARIZATION_MARKER and isinstance(payload, dict):
        payload = {key: value for key, value in payload.items() if key not in _IDS}
    if payload not in (None, {}):
        lines.append(f"<payload>{inside(_json(payload))}</payload>")
    if message.content:
        lines.append(f"<message>{inside(message.content)}</message>")
    return "\n".join([*lines, "</event>"])


def _open(name: str, attributes: dict[str, Any]) -> str:
    written = "".join(f' {key}="{attribute(str(value))}"' for key, value in attributes.items() if value is not None)
    return f"<{name}{written}>"


def _steps(values: Any) -> list[Step]:
    """Steps as a plan message holds them. Those that can't be read are left out: the text of the plan is all there."""
    try:
        return msgspec.convert(values, list[Step]) if values else []
    except msgspec.ValidationError:
        return []


def _entries(values: Any) -> Sequence[Step]:
    """Entries without ids, of a plan that was stored by someone else. They get the ids that they would have here."""
    found = [each for each in _list(values) if isinstance(each, dict) and isinstance(each.get("content"), str)]
    entries = (
        Entry(each["content"], str(each.get("priority") or "medium"), str(each.get("status") or PENDING))
        for each in found
    )
    return track(ItemsPlan(None, tuple(entries))).steps


def _checkboxes(text: str) -> Sequence[Step]:
    return track(MarkdownPlan(None, text)).steps


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shortened(text: str) -> str:
    text = _one_line(text)
    return text if len(text) <= INDEXED_CHARACTERS else text[: INDEXED_CHARACTERS - 1].rstrip() + "…"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
