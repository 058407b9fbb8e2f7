"""The model's side of a plan: a chat with hidden messages, what a provider is sent of it, and how it is compacted."""

from planwire.chat.compact import Compaction, about_tokens, compact
from planwire.chat.formats import CHAT_FORMATS, Format, chat_format
from planwire.chat.messages import (
    EventMessage,
    Hidden,
    Ordinary,
    PlanMessage,
    Stored,
    read_message,
    read_stream,
    write_message,
    write_stream,
)
from planwire.chat.narrate import merged_plan, told
from planwire.chat.render import block
from planwire.chat.stream import ChatStream

__all__ = [
    "CHAT_FORMATS",
    "ChatStream",
    "Compaction",
    "EventMessage",
    "Format",
    "Hidden",
    "Ordinary",
    "PlanMessage",
    "Stored",
    "about_tokens",
    "block",
    "chat_format",
    "compact",
    "merged_plan",
    "read_message",
    "read_stream",
    "told",
    "write_message",
    "write_stream",
]
