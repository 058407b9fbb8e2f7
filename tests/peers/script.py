"""What a scripted model says, and what it was asked: values, the same for every provider."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Call", "Request", "Step", "Turn", "Usage", "call", "say"]


@dataclass(frozen=True)
class Call:
    """One call of a tool."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Usage:
    """The tokens that an answer says it cost. A large `input` makes a client believe that its context is full."""

    input: int = 12
    output: int = 9


@dataclass(frozen=True)
class Turn:
    """One answer of the model: text, calls, or both. With `hold` the answer waits until the event is set."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage = Usage()
    hold: threading.Event | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Request:
    """One request as it came. `api` is the name of the provider's API, `tools` are the names that were offered."""

    path: str
    api: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    tools: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Every string in the body, a line each: what the model could read, wherever the provider keeps it."""
        return "\n".join(_strings(self.body))

    @property
    def last_words(self) -> str:
        """Every string in the last two messages; of a prompt that is a bare text, the text."""
        messages: Any = next((self.body[key] for key in ("messages", "input", "contents") if key in self.body), [])
        return "\n".join(_strings(messages[-2:] if isinstance(messages, list) else messages))


Step = Turn | Callable[[Request], Turn]
"""One step of a script: an answer, or a function that makes it of the request."""


def say(text: str, usage: Usage = Usage()) -> Turn:
    """A turn of text alone."""
    return Turn(text, usage=usage)


def call(name: str, **arguments: Any) -> Turn:
    """A turn with one call."""
    return Turn(calls=(Call(name, json.loads(json.dumps(arguments))),))


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for each in value.values() for text in _strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in _strings(each)]
    return []
