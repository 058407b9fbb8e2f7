"""What other programs store in a chat. Messages with roles that neither the provider nor planwire knows, such as goals,
reach the model as blocks, like plans and events. Of other messages the provider gets no field that it does not know.

    <goal version="1">             <goal-update seq="2">              <event subkind="message" source="context_file">
    <text>Ship it</text>           <note>without the old API</note>   <message>src/main.rs</message>
    </goal>                        </goal-update>                     </event>
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from planwire.chat.markup import element, tag
from planwire.chat.messages import EventMessage, Ordinary
from planwire.chat.roles import GOAL
from planwire.model.plan import Fields

#: Fields of a message and of its tool calls in Refact's trajectories that no provider knows.
_FOREIGN: Final = frozenset(
    (
        "checkpoints",
        "citations",
        "finish_reason",
        "preserve",
        "server_content_blocks",
        "summarization_tier",
        "summarized_range",
        "summarized_token_estimate",
        "tool_failed",
        "usage",
    )
)
#: One that others give to a gateway, which knows it.
_SHARED: Final = frozenset(("thinking_blocks",))
_TIMES: Final = frozenset(("completed_at_ms", "started_at_ms"))
#: Fields that hold the objects which Refact adds to: parts of the content, and calls.
_LISTS: Final = ("content", "tool_calls")


def without_foreign_fields(message: Fields, part: Callable[[str, str], Fields]) -> Fields:
    """A message without the fields that Refact adds to it, and with its parts (`m_type`) as the provider takes them."""

    def taken(each: Any) -> Any:
        match each:
            case {"m_type": str(kind), "m_content": str(data)}:
                return part(kind, data)
            case {} if not _TIMES.isdisjoint(each):
                return {key: value for key, value in each.items() if key not in _TIMES}
        return each

    foreign = _FOREIGN if _FOREIGN.isdisjoint(message) else _FOREIGN | _SHARED
    own = {key: value for key, value in message.items() if key not in foreign}
    own |= {key: [*map(taken, own[key])] for key in _LISTS if isinstance(own.get(key), list)}
    return message if own == message else own


def foreign_block(message: Ordinary) -> str:
    """The block for a message whose role the provider does not know; the role is given as its source. Empty if the
    message has no content."""
    role, words = str(message.message.get("role")), _words(message.message)
    if not words:
        return ""
    if role == GOAL:
        goal = message.message.get(GOAL) or (message.extra or {}).get(GOAL)
        known: Fields = goal if isinstance(goal, dict) else {}
        opening = tag("goal", version=_written(known.get("version")), status=_written(known.get("status")))
        return "\n".join([opening, element("text", words), "</goal>"])
    return "\n".join([tag("event", subkind="message", source=role), element("message", words), "</event>"])


def goal_update(message: EventMessage) -> str:
    """The text of a note on a goal."""
    if not message.content:
        return ""
    opening = tag("goal-update", seq=_written(message.payload.get("seq")))
    return "\n".join([opening, element("note", message.content), "</goal-update>"])


def _words(fields: Fields) -> str:
    """The text of a message; JSON for content that is not only text."""
    content: Any = fields.get("content", fields.get("parts"))
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(
        isinstance(each, dict) and isinstance(each.get("text"), str) for each in content
    ):
        return "\n".join(each["text"] for each in content)
    if content is None:
        content = {key: value for key, value in fields.items() if key != "role"}
    return msgspec.json.encode(content).decode() if content else ""


def _written(value: Any) -> str | int | None:
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None
