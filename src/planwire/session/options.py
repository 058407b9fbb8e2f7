"""The options of a session, spelled out for editors and type checkers.

Both kinds of session take them in `open` as keywords (`**options: Unpack[SessionOptions]`), so that a type checker
knows each by name and type wherever they are passed on.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, cast

from planwire.model.events import SessionOpened

#: The provider formats of messages and tools: the rows of `chat.formats`.
ProviderFormat: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic", "gemini"]
#: What happens to a plan's text or a note that is too large: an error for the model, or the end is cut off.
Oversize: TypeAlias = Literal["error", "truncate"]
#: A message and a tool in the provider's format. Each provider's package has its own types, and planwire imports none
#: of them: Any can be passed to all of their functions without a cast.
ProviderMessage: TypeAlias = Any
ProviderTool: TypeAlias = Any


class SessionOptions(TypedDict, total=False):
    """What `open` takes beside the journal and the session's id."""

    #: The provider format of the messages; openai-chat if there is none.
    format: ProviderFormat
    #: The name under which the session writes: `agent` by default, another for a person or a further agent.
    by: str
    #: The folders in which `set_plan` may read a plan from a file.
    folders: Iterable[str | Path] | str | Path
    oversize: Oversize
    #: The agent's mode, kept with each plan.
    mode: str
    #: What is known about the session, recorded if it is new.
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
    """The options in `known`, overridden by `others`."""
    return cast(SessionOptions, {**known, **others})
