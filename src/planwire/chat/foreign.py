"""Messages with roles that neither the provider nor planwire knows: goals, and anything else that other programs store
in a chat. The model gets them as blocks, like plans and events.

    <goal version="1">             <goal-update seq="2">              <event subkind="message" source="context_file">
    <text>Ship it</text>           <note>without the old API</note>   <message>src/main.rs</message>
    </goal>                        </goal-update>                     </event>
"""

from typing import Any

import msgspec

from planwire.chat.markup import element, tag
from planwire.chat.messages import EventMessage, Ordinary
from planwire.chat.roles import GOAL
from planwire.model.plan import Fields


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
