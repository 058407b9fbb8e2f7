"""The text of a hidden message for the model: a block, which every format sends as user context.

    <plan id="main" version="2" revision="17" by="agent">      <plan-update id="main" seq="3" revision="18" by="ann">
    <step id="s1" status="completed">Read the config</step>    <status step="s2">completed</status>
    <step id="s2" by="ann">Write the parser</step>             <note>the parser is done</note>
    </plan>                                                    </plan-update>

    <plan-remarks>
    <comment id="r3" by="ann" plan="main" step="s2">never touch vendor/</comment>
    </plan-remarks>

A block depends on its message alone, never on its surroundings: once sent, it stays as it is. The author of a text is
the `by` of its element, or of the one around it. `markup` explains why no text can imitate that.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from planwire.chat.foreign import foreign_block, goal_update
from planwire.chat.markup import element, tag
from planwire.chat.messages import EventMessage, Ordinary, PlanMessage, Stored
from planwire.chat.roles import PARENT, REMARK, SUMMARIZATION_MARKER
from planwire.model.authors import authored
from planwire.model.identity import track
from planwire.model.kinds import kind_named
from planwire.model.plan import MAIN, MEDIUM, Entry, Fields, FilePlan, ItemsPlan, MarkdownPlan
from planwire.model.statuses import DEFAULT_STATUS
from planwire.model.steps import Step
from planwire.model.text import shortened, unwrapped

#: Length of a step's text in the index of a markdown plan, below the whole text.
INDEXED_CHARACTERS: Final = 48

#: The mark of a plan that is told by its title because there are too many.
LEFT_OUT: Final = "left_out"
#: The mark of a plan file that could not be read when it was told.
UNREAD: Final = "unread"
_UNREAD: Final = "as it was last read: the file can't be read now"
#: The author of a text that is in a file.
_FILE: Final = "file"
#: The author of a text with steps by several authors; its index names them.
_SEVERAL: Final = "several"
_UNKNOWN: Final = "unknown"
#: Fields of a marker that name the messages it replaces, for planwire and not for the model.
_IDS: Final = ("first_message_id", "sources")

#: Events in the pursuit of a goal that are kept for people, and not for the model.
_ARCHIVAL: Final = (
    "pursuit_quiescent",
    "budget_exhausted",
    "no_progress",
    "stopped",
    "paused",
    "snoozed",
    "resumed",
)
#: The elements of what people said.
_SAID: Final = frozenset(
    ("comment", "request", "selection", "suggestion", "verdict", "closed", "edit", "set", "removed")
)
#: What a remark asks of the agent, where its words don't say so.
_MEANING: Final = {
    "request": "change the plan before you go on",
    "selection": "run only these steps now, and leave the others until you are told",
    "suggestion": "a change to your plan that is asked for, and not made yet",
    "closed": "it holds no longer",
}


def block(message: Stored) -> str:
    """The text for the model of a hidden message, or of one with a role that the provider does not know. Empty if there
    is nothing to say."""
    match message:
        case PlanMessage():
            return _plan(message)
        case EventMessage(subkind="plan_delta"):
            return _delta(message)
        case EventMessage(subkind=subkind) if subkind == REMARK:
            return _remarks(message.payload)
        case EventMessage(subkind="summarization_marker", payload={"summarized_subkind": subkind, "count": int(count)}):
            return element("event-history", f"{count} earlier {subkind} events", source=message.source)
        case EventMessage(subkind="goal_delta"):
            return goal_update(message)
        case EventMessage(subkind="goal_pursuit", payload={"kind": kind}) if kind in _ARCHIVAL:
            return ""
        case Ordinary():
            return foreign_block(message)
    return _event(message)


def step_line(step: Step) -> str:
    """A step on one line: `s3 [ ] (high) text`."""
    box = step.known.box if step.known else unwrapped(step.status)
    return f"{unwrapped(step.id)} [{box}] ({unwrapped(step.priority)}) {unwrapped(step.content)}"


def message_steps(message: PlanMessage) -> Sequence[Step]:
    """The steps that a plan message holds besides its text, if any."""
    return _steps(message.plan.get("steps")) or _entries(message.plan.get("entries"))


def remark_elements(items: Iterable[Any], besides: Iterable[Any] = ()) -> Iterator[str]:
    """The elements of what people said, from the items of `model.unheard`."""
    for item in items:
        if isinstance(item, dict):
            yield from _item(item)
    if ids := " ".join(str(each) for each in besides):
        yield element("also-open", ids, means="get_plan has them in full")


def _plan(message: PlanMessage) -> str:
    plan = message.plan
    by = _author(plan)
    opening: Fields = {
        "id": message.plan_id,
        "version": message.version,
        "type": plan.get("type"),
        "revision": plan.get("revision"),
        "by": by,
        "mode": plan.get("mode") or None,
    }
    if isinstance(title := plan.get("title"), str):  # told by its title alone
        means = f"get_plan with plan_id {message.plan_id} shows it" if plan.get(LEFT_OUT) is True else None
        return "\n".join([tag("plan", **opening), element("title", title, means=means), "</plan>"])
    lines = [tag("plan", **opening), *_parent(plan.get("parent")), *_body(message)]
    if isinstance(plan.get("summary"), str):
        lines.append(element("why", plan["summary"]))
    return "\n".join([*lines, *_notes(plan), "</plan>"])


def _parent(parent: Any) -> Iterator[str]:
    """The step that the plan works for."""
    match parent:
        case {"text": str(text)}:
            plan_id = parent.get("plan_id") or MAIN
            yield element("parent", text, plan=plan_id, step=parent.get("step"), by=_author(parent) or _UNKNOWN)


def _notes(plan: Fields) -> Iterator[str]:
    notes, count = _list(plan.get("notes")), plan.get("noted")
    if isinstance(count, int) and count > len(notes):
        yield element("older-notes", count=count - len(notes), means="get_plan with notes shows them")
    yield from map(_note, notes)


def _body(message: PlanMessage) -> Iterator[str]:
    plan, kind = message.plan, kind_named(message.plan.get("kind", MarkdownPlan.kind))
    steps = message_steps(message)
    is_file = kind is not None and kind.plan is FilePlan
    text = plan.get("text") if is_file else message.content if kind and kind.is_text else ""
    if is_file:
        yield element("file", message.content)
    if isinstance(text, str) and text:
        authors, below = _authors(plan), _below(plan)
        by = _FILE if is_file else _SEVERAL if authors else None
        yield element("text", text, by=by, means=_UNREAD if plan.get(UNREAD) is True else None)
        steps = steps or track(MarkdownPlan(None, text)).steps
        for step in steps:
            by = authors.get(step.id, _author(plan)) if authors else None
            yield element("index", step=step.id, by=by, words=_indexed(step.content), below=below.get(step.id))
    elif steps:
        authors, below = _authors(plan), _below(plan)
        yield from (_step(each, authors.get(each.id), below=below.get(each.id)) for each in steps)
    elif message.content and not is_file:
        yield element("text", message.content)


def _step(step: Step, by: str | None, name: str = "step", **attributes: Any) -> str:
    status = None if step.status == DEFAULT_STATUS else step.status or None
    priority = None if step.priority == MEDIUM else step.priority
    return element(name, step.content, id=step.id or None, status=status, priority=priority, by=by, **attributes)


def _note(note: Any) -> str:
    """A note with its author, if its program names one."""
    match note:
        case {"text": str(text)}:
            return element("note", text, by=_author(note) or _UNKNOWN)
    return element("note", note if isinstance(note, str) else _json(note), by=_UNKNOWN)


def _delta(message: EventMessage) -> str:
    payload = message.payload
    opening: Fields = {"id": message.plan_id, "seq": payload.get("seq"), "revision": payload.get("revision")}
    lines = [*map(_change, _list(payload.get("changes")))]
    if payload.get("rewritten") is True:
        lines.append(element("rewritten", means="the file's text changed: get_plan shows it"))
    if payload.get("removed") is True:
        lines.append(element("dismissed"))
    if message.content:
        lines.append(element("note", message.content))
    if not lines and (unread := message.event.get("payload")) not in (None, "", {}, []) and unread is not payload:
        lines.append(element("payload", _json(unread)))
    return "\n".join([tag("plan-update", **opening, by=_author(payload)), *lines, "</plan-update>"]) if lines else ""


def _change(change: Any) -> str:
    """A change of a step, as it stands in `payload.changes`."""
    match change:
        case {"do": "status", "step": str(step), "status": str(status)}:
            return element("status", status, step=step)
        case {"do": "reword", "step": str(step), "content": str(content)}:
            return element("reword", content, step=step)
        case {"do": "priority", "step": str(step), "priority": str(priority)}:
            return element("priority", priority, step=step)
        case {"do": "add", "content": str(content)}:
            words = content, str(change.get("status", DEFAULT_STATUS)), str(change.get("priority", MEDIUM))
            return _step(Step(str(change.get("id") or ""), *words), None, "add", **_place(change.get("after")))
        case {"do": "move", "step": str(step), "after": after}:
            return element("move", step=step, **_place(after))
        case {"do": "remove", "step": str(step)}:
            return element("remove", step=step)
    return element("change", _json(change))


def _place(after: Any) -> dict[str, str]:
    if after is None:
        return {"place": "end"}
    return {"after": str(after)} if after else {"place": "beginning"}


def _remarks(payload: Fields) -> str:
    elements = [*remark_elements(_list(payload.get("items")), _list(payload.get("besides")))]
    return "\n".join([tag("plan-remarks"), *elements, "</plan-remarks>"]) if elements else ""


def _item(item: Fields) -> Iterator[str]:
    kind = str(item.get("said"))
    name = kind if kind in _SAID else "remark"
    opening: Fields = {
        "id": item.get("id"),
        "by": _author(item),
        "plan": item.get("plan_id") or MAIN,
        "step": item.get("step"),
        "revision": item.get("revision"),
        "how": item.get("how"),
        "in_force": "yes" if item.get("in_force") else None,
        "said_before": item.get("said_before"),
        "means": item.get("means") or _MEANING.get(kind),
    }
    parts = [(part, str(item[part])) for part in ("quote", "verdict", "text") if item.get(part) is not None]
    if steps := _list(item.get("steps")):
        parts.append(("steps", " ".join(map(str, steps))))
    changes = [*map(_stale, _list(item.get("stale"))), *map(_change, _list(item.get("changes")))]
    if not changes and (not parts or (len(parts) == 1 and parts[0][0] != "quote")):
        yield element(name, parts[0][1] if parts else "", **opening)
        return
    yield "\n".join(
        [tag(name, **opening), *(element(*part, **_whose(part[0], item)) for part in parts), *changes, f"</{name}>"]
    )


def _stale(changed: Any) -> str:
    """A step that reads differently now from what the person saw: their words are about what it was."""
    match changed:
        case {"step": str(step), "was": str(was)}:
            return element("stale", was, step=step, by="plan")
    return element("stale", _json(changed))


def _whose(part: str, item: Fields) -> Fields:
    """What there is to say of a part of a remark: a quote is the plan's words."""
    return {"by": "plan", "occurrence": item.get("occurrence"), "is": item.get("quote_is")} if part == "quote" else {}


def _event(message: EventMessage) -> str:
    lines = [tag("event", subkind=message.subkind, source=message.source)]
    payload = message.event.get("payload")
    if message.subkind == SUMMARIZATION_MARKER and isinstance(payload, dict):
        payload = {key: value for key, value in payload.items() if key not in _IDS}
    if message.source == PARENT and isinstance(payload, dict):
        lines += _parent(payload.get("parent"))
        payload = {key: value for key, value in payload.items() if key != "parent"}
    if payload not in (None, {}):
        lines.append(element("payload", _json(payload)))
    if message.content:
        lines.append(element("message", message.content))
    return "\n".join([*lines, "</event>"])


def _author(fields: Fields) -> str | None:
    by, way = fields.get("by"), fields.get("way")
    return authored(by, way if isinstance(way, str) else "") if isinstance(by, str) else None


def _authors(plan: Fields) -> Fields:
    """The authors of single steps, where they are not the plan's."""
    authors = plan.get("authors")
    return authors if isinstance(authors, dict) else {}


def _below(plan: Fields) -> Fields:
    """The progress of the plans that work for single steps."""
    below = plan.get("below")
    return below if isinstance(below, dict) else {}


def _steps(values: Any) -> list[Step]:
    """The steps in a plan message; none if they are unreadable, since the text of the plan has them, too."""
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
