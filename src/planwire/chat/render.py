"""The text of a hidden message for the model: a block, which every format sends as user context.

    <plan id="main" version="2" revision="17">      <plan-update id="main" seq="3">
    s1 [x] (high) Read the config                   s2 completed
    s2 [~] (medium) Write the parser                </plan-update>
    </plan>

A block depends on its message alone, never on its surroundings: once sent, it stays as it is.

A block looks like XML, and is: `&` and `<` become entities, and so does the `>` of a CDATA end. Every other `>` stays,
so that markdown's quotes and arrows read as their author wrote them. Characters that XML does not allow become pictures
(␛) or a replacement character, so that no provider and no terminal obeys them.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from planwire.chat.messages import EventMessage, Hidden, PlanMessage
from planwire.chat.roles import SUMMARIZATION_MARKER
from planwire.model.events import COMMENTED
from planwire.model.kinds import kind_named
from planwire.model.plan import MEDIUM, Entry, ItemsPlan, MarkdownPlan
from planwire.model.statuses import DEFAULT_STATUS
from planwire.model.steps import Step, track
from planwire.model.text import shortened, unwrapped

__all__ = ["attribute", "block", "change_line", "inside", "message_steps", "step_line"]

#: Length of a step's text in the index of a markdown plan: the whole text stands above it.
INDEXED_CHARACTERS: Final = 48

#: Fields of a marker that name the messages behind it, for planwire and not for the model.
_IDS: Final = ("first_message_id", "sources")

_IN_TEXT: Final = {"&": "&amp;", "<": "&lt;", "]]>": "]]&gt;"}
_IN_ATTRIBUTE: Final = {
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&apos;",
}
_ANY_IN_TEXT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f&<\x7f-\x9f\ud800-\udfff\ufffe\uffff]|]]>")
_ANY_IN_ATTRIBUTE: Final = re.compile("[\x00-\x1f&<>\"'\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


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


def inside(text: str) -> str:
    """Text that can't leave the block it stands in."""
    return _ANY_IN_TEXT.sub(lambda found: _IN_TEXT.get(found[0]) or _picture(found[0]), text)


def attribute(text: str) -> str:
    """Text for an attribute of a block, between quotation marks."""
    return _ANY_IN_ATTRIBUTE.sub(lambda found: _IN_ATTRIBUTE.get(found[0]) or _picture(found[0]), text)


def _picture(character: str) -> str:
    """What stands for a character that XML does not allow."""
    if character < " ":
        return chr(0x2400 + ord(character))
    return "\N{SYMBOL FOR DELETE}" if character == "\x7f" else "\N{REPLACEMENT CHARACTER}"


def step_line(step: Step) -> str:
    """A step on one line: `s3 [ ] (high) text`."""
    box = step.known.box if step.known else unwrapped(step.status)
    return f"{unwrapped(step.id)} [{box}] ({unwrapped(step.priority)}) {unwrapped(step.content)}"


def message_steps(message: PlanMessage) -> Sequence[Step]:
    """The steps that a plan message holds beside its text, if it has any."""
    return _steps(message.plan.get("steps")) or _entries(message.plan.get("entries"))


def _plan(message: PlanMessage) -> str:
    plan = message.plan
    attributes = {"id": message.plan_id, "version": message.version, "revision": plan.get("revision")}
    body, index = message.content, _index(message) if _is_markdown(message) else ()
    if not body:
        body = "\n".join(step_line(step) for step in message_steps(message))
    elif isinstance(text := plan.get("text"), str):  # of the file at this address
        body = f"{body}\n\n{text.strip()}"
    why = (f"why: {plan['summary']}",) if isinstance(plan.get("summary"), str) else ()
    notes = (f"note: {note}" for note in _list(plan.get("notes")) if isinstance(note, str))
    return "\n".join([_open("plan", attributes), inside(body), *index, *map(inside, (*why, *notes)), "</plan>"])


def _is_markdown(message: PlanMessage) -> bool:
    kind = kind_named(message.plan.get("kind", MarkdownPlan.kind))
    return bool(message.content) and kind is not None and kind.is_text


def _index(message: PlanMessage) -> Iterable[str]:
    """The ids of a markdown plan's steps, in the order of its checkboxes."""
    steps = message_steps(message) or track(MarkdownPlan(None, message.content)).steps
    if not steps:
        return ()
    return ("<steps>", *(inside(f"{unwrapped(step.id)} {_indexed(step.content)}") for step in steps), "</steps>")


def _delta(message: EventMessage) -> str:
    payload = message.payload
    changes = (change_line(change) for change in _list(payload.get("changes")))
    lines = [_opening_words(payload), message.content, *changes]
    attributes = {"id": message.plan_id, "seq": payload.get("seq")}
    return "\n".join([_open("plan-update", attributes), *(inside(line) for line in lines if line), "</plan-update>"])


def _opening_words(payload: dict[str, Any]) -> str:
    """The words that say what the lines of an update mean; "" for plain changes."""
    match payload:
        case {"removed": True}:
            return "This plan is dismissed."
        case {"withdrawn": int(number)}:
            return f"The suggestion of update {number} is withdrawn."
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
    match review.get("selected"):
        case []:
            yield "No step is to be run now."
        case [*steps]:
            yield "Run only these steps now, and leave the others until you are told:"
            yield from (unwrapped(f"{step} {_named(step, review) or ''}") for step in steps)
    for comment in _list(review.get("comments")):
        if isinstance(comment, dict):
            step = comment.get("step")
            words = _named(step, review)
            about = step or "plan" if words is None else f"{step} ({_indexed(words)})"
            yield f"{about}: {comment.get('text', '')}"


def _named(step: Any, review: dict[str, Any]) -> str | None:
    """The words of a step that a review names, if it has them. Another program may name anything, a list even."""
    words = review.get("steps")
    return str(words[step]) if isinstance(step, str) and isinstance(words, dict) and step in words else None


def change_line(change: Any) -> str:
    """A change of a step on one line, as it stands in `payload.changes`."""
    match change:
        case {"do": "status", "step": step, "status": status}:
            return unwrapped(f"{step} {status}")
        case {"do": "reword", "step": step, "content": content}:
            return unwrapped(f"{step} reworded: {content}")
        case {"do": "priority", "step": step, "priority": priority}:
            return unwrapped(f"{step} priority: {priority}")
        case {"do": "add", "content": content}:
            words = str(content), str(change.get("status", DEFAULT_STATUS)), str(change.get("priority", MEDIUM))
            return f"{step_line(Step(str(change.get('id') or 'new'), *words))} {_place('added', change.get('after'))}"
        case {"do": "move", "step": step, "after": after}:
            return f"{unwrapped(str(step))} {_place('moved', after)}"
        case {"do": "remove", "step": step}:
            return unwrapped(f"{step} removed")
    return _json(change)


def _place(what: str, after: Any) -> str:
    if after is None:
        return f"({what} at the end)"
    return f"({what} after {unwrapped(str(after))})" if after else f"({what} at the beginning)"


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
    """Steps as a plan message holds them; none if they are unreadable, since the text of the plan is all there."""
    try:
        return msgspec.convert(values, list[Step]) if values else []
    except msgspec.ValidationError:
        return []


def _entries(values: Any) -> Sequence[Step]:
    """Entries of another program's plan, which have no ids. They get the ids that planwire would give them."""
    found = [each for each in _list(values) if isinstance(each, dict) and isinstance(each.get("content"), str)]
    entries = (
        Entry(each["content"], str(each.get("priority") or MEDIUM), str(each.get("status") or DEFAULT_STATUS))
        for each in found
    )
    return track(ItemsPlan(None, tuple(entries))).steps


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _indexed(text: str) -> str:
    return shortened(unwrapped(text), INDEXED_CHARACTERS)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
