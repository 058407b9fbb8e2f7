"""The options of a session, spelled out for editors and type checkers.

`open` of both kinds of session takes them as keywords (`**options: Unpack[SessionOptions]`), so that a checker knows
each by name and type wherever they are passed on.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, cast

from planwire.model.events import SessionOpened

__all__ = [
    "Oversize",
    "ProviderFormat",
    "ProviderMessage",
    "ProviderTool",
    "SessionOptions",
    "check_options",
    "with_options",
]

#: The provider formats of messages and tools: the rows of `chat.formats`.
ProviderFormat: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic", "gemini"]
#: What happens to a plan's text or a note that is too large: an error for the model, or only its beginning stays.
Oversize: TypeAlias = Literal["error", "truncate"]
#: A message and a tool as the provider's own package types them. Each has a type of its own there, and planwire imports
#: none of these packages: Any goes into all of their calls without a cast.
ProviderMessage: TypeAlias = Any
ProviderTool: TypeAlias = Any


class SessionOptions(TypedDict, total=False):
    """What `open` takes beside the journal and the session's id."""

    #: The provider format of the messages; openai-chat if there is none.
    format: ProviderFormat
    #: The name under which the session writes: `agent`, unless a person or another agent does.
    by: str
    #: The folders in which `set_plan` may read a plan from a file.
    folders: Iterable[str | Path] | str | Path
    oversize: Oversize
    #: The agent's mode, kept with each plan.
    mode: str
    #: What is known of the session, written down if it is news.
    about: SessionOpened | None
    #: Seconds that a call may wait for a review.
    wait_seconds: float


def check_options(options: SessionOptions) -> None:
    """Raise `TypeError` for an unknown option at the call, before anything is opened."""
    known = SessionOptions.__annotations__
    for name in options:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
            raise TypeError(f"a session has no option {name!r}: {hint}")


def with_options(known: SessionOptions, others: SessionOptions) -> SessionOptions:
    """Options, some of them replaced by others."""
    return cast(SessionOptions, {**known, **others})
