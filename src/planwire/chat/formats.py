"""The providers' formats: one table, one row per format.

An author's own messages pass through as they are. A row says how to give a model a text as user context, which roles
the provider takes, which tool calls a message makes or answers, how to answer an interrupted call, and how to declare a
tool. A new format is a new row here, and a file beside this one for the parts of its messages.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct

import planwire.chat.anthropic_blocks as anthropic_blocks
import planwire.chat.gemini_parts as gemini_parts
import planwire.chat.openai_items as openai_items
import planwire.chat.openai_messages as openai_messages
from planwire.chat.calls import CallRef
from planwire.chat.foreign import without_foreign_fields
from planwire.errors import FormatError
from planwire.model.plan import Fields

#: The roles of the model in all formats.
_MODEL: Final = ("assistant", "model")


class Format(Struct, frozen=True, kw_only=True):
    """One row: the shape of a provider's messages and tools."""

    name: str
    #: The roles that the provider takes.
    roles: frozenset[str]
    context: Callable[[str], Fields]
    #: The calls that a message makes: those for the client, then those that the server has yet to answer.
    calls: Callable[[Fields], Sequence[CallRef]]
    results: Callable[[Fields], Sequence[CallRef]]
    cancelled: Callable[[CallRef], Fields]
    #: A part of a message, by its kind (`text`, `image/png`) and its data.
    part: Callable[[str, str], Fields]
    #: The declaration of a tool: name, description, schema of its arguments.
    tool: Callable[[str, str, Fields], Fields]
    #: The earlier calls that the server answers in a message of the model.
    answered_by_server: Callable[[Fields], Sequence[CallRef]] = lambda message: ()
    #: Whether the server put a summary of all earlier messages into a message. They are let go before it is.
    stands_for_all_before: Callable[[Fields], bool] = lambda message: False
    #: A message with results, in a role that the provider takes.
    as_result: Callable[[Fields], Fields] = lambda message: {**message, "role": "user"}
    #: The field that holds all answers to one batch of calls; None if the provider takes a message for each.
    batch: str | None = None
    #: One answer of the model is several items, which follow each other.
    in_items: bool = False
    #: Messages mark how far the provider may cache the prompt.
    has_breakpoints: bool = False

    def is_foreign(self, message: Fields) -> bool:
        """Whether a message has a role that the provider does not know: it is sent as user context. Items need no role,
        and results get the right one."""
        return not self._takes(message.get("role")) and not self.results(message)

    def taken(self, message: Fields) -> Fields:
        """A message that is not foreign, in a form that the provider takes."""
        return self.own_fields(message) if self._takes(message.get("role")) else self.as_result(message)

    def own_fields(self, message: Fields) -> Fields:
        """A message as the provider takes it, without what another program added."""
        return without_foreign_fields(message, self.part)

    def _takes(self, role: Any) -> bool:
        return role is None or (isinstance(role, str) and role in self.roles)

    def answers(self, messages: Sequence[Fields]) -> list[Fields]:
        """The answers to a batch of calls in the form that the provider takes: results before anything else."""
        field, messages = self.batch, [self.taken(message) for message in messages]
        if field is None or len(messages) < 2:
            return messages
        parts = [part for message in messages for part in message[field]]
        return [{**messages[0], field: sorted(parts, key=lambda part: not self.results({field: [part]}))}]

    def is_by_model(self, message: Fields) -> bool:
        """Whether the model, or its server, made a message."""
        return openai_items.is_of_model(message) if self.in_items else message.get("role") in _MODEL

    def is_of_model(self, message: Fields) -> bool:
        """Whether an item is part of an answer of the model (formats in items only)."""
        return self.in_items and openai_items.is_of_model(message)

    def holds_the_next(self, message: Fields) -> bool:
        """Whether the item that follows belongs to this one, so that nothing may come between them."""
        return self.in_items and message.get("type") in openai_items.HOLD_THE_NEXT


_TABLE: Final = (
    Format(
        name="openai-chat",
        roles=openai_messages.ROLES,
        context=lambda text: {"role": "user", "content": text},
        calls=openai_messages.calls,
        results=openai_messages.results,
        cancelled=openai_messages.cancellation,
        as_result=openai_messages.as_result,
        part=openai_messages.part,
        tool=lambda name, words, schema: {
            "type": "function",
            "function": {"name": name, "description": words, "parameters": schema},
        },
    ),
    Format(
        name="openai-responses",
        roles=openai_items.ROLES,
        context=lambda text: {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
        calls=openai_items.calls,
        results=openai_items.results,
        cancelled=openai_items.cancellation,
        part=openai_items.part,
        stands_for_all_before=lambda item: item.get("type") == openai_items.COMPACTION,
        tool=lambda name, words, schema: {
            "type": "function",
            "name": name,
            "description": words,
            "parameters": schema,
            "strict": False,
        },
        in_items=True,
    ),
    Format(
        name="anthropic",
        roles=anthropic_blocks.ROLES,
        context=lambda text: {"role": "user", "content": [{"type": "text", "text": text}]},
        calls=anthropic_blocks.calls,
        results=anthropic_blocks.results,
        cancelled=anthropic_blocks.cancellation,
        part=anthropic_blocks.part,
        answered_by_server=anthropic_blocks.answered_by_server,
        stands_for_all_before=anthropic_blocks.stands_for_all_before,
        tool=lambda name, words, schema: {"name": name, "description": words, "input_schema": schema},
        batch="content",
        has_breakpoints=True,
    ),
    Format(
        name="gemini",
        roles=gemini_parts.ROLES,
        context=lambda text: {"role": "user", "parts": [{"text": text}]},
        calls=gemini_parts.calls,
        results=gemini_parts.results,
        cancelled=gemini_parts.cancellation,
        part=gemini_parts.part,
        answered_by_server=gemini_parts.answered_by_server,
        tool=lambda name, words, schema: {"name": name, "description": words, "parametersJsonSchema": schema},
        batch="parts",
    ),
)
#: The rows by their names.
CHAT_FORMATS: Final = {form.name: form for form in _TABLE}


def chat_format(name: str) -> Format:
    """The format with this name."""
    try:
        return CHAT_FORMATS[name]
    except KeyError:
        raise FormatError(f"there is no chat format {name!r}: use one of {', '.join(CHAT_FORMATS)}") from None
