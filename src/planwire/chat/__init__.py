"""The model's side of a plan: a chat with hidden messages, its form for a provider, and its compaction.

Names are loaded on first use. The relay and the read model need one small module each, and importing all modules takes
as long as importing the whole wire (4 ms).
"""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from planwire.chat.compaction import Compaction, compact
    from planwire.chat.formats import CHAT_FORMATS, Format, chat_format
    from planwire.chat.messages import (
        EventMessage,
        Hidden,
        Ordinary,
        PlanMessage,
        Stored,
        read_message,
        read_stream,
        read_trajectory,
        write_message,
        write_stream,
    )
    from planwire.chat.narrate import merged_plan, message_for
    from planwire.chat.render import block
    from planwire.chat.said import Said, said_in
    from planwire.chat.stream import ChatStream
    from planwire.chat.token_guess import about_tokens

__all__ = [
    "CHAT_FORMATS",
    "ChatStream",
    "Compaction",
    "EventMessage",
    "Format",
    "Hidden",
    "Ordinary",
    "PlanMessage",
    "Said",
    "Stored",
    "about_tokens",
    "block",
    "chat_format",
    "compact",
    "merged_plan",
    "message_for",
    "read_message",
    "read_stream",
    "read_trajectory",
    "said_in",
    "write_message",
    "write_stream",
]

#: The modules that define these names, the smaller ones first.
_HOMES: _typing.Final = ("messages", "formats", "render", "said", "token_guess", "narrate", "stream", "compaction")


def __getattr__(name: str) -> _typing.Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    modules = (_importlib.import_module(f"planwire.chat.{home}") for home in _HOMES)
    return next(getattr(module, name) for module in modules if hasattr(module, name))
