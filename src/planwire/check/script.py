"""A scripted model's answers, and the requests that it gets: values, the same for every provider."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from msgspec import Struct


class ModelCall(Struct, frozen=True):
    """One call of a tool."""

    name: str
    arguments: Mapping[str, Any]


class Usage(Struct, frozen=True):
    """The tokens that an answer says it cost. A large `input` makes a client believe that its context is full."""

    input: int = 12
    output: int = 9


class Latch(Protocol):
    """An event that an answer waits for, such as a `threading.Event`."""

    def wait(self, timeout: float, /) -> bool:
        """Wait for the event. Returns whether it came within these seconds."""


class ModelTurn(Struct, frozen=True):
    """One answer of the model: text, calls, or both. With `hold` the answer waits for that event."""

    text: str = ""
    calls: tuple[ModelCall, ...] = ()
    usage: Usage = Usage()
    hold: Latch | None = None


class ModelRequest(Struct, frozen=True):
    """One request as it came. `api` is the name of the provider's API, `tools` are those that were offered: the schemas
    of their arguments by their names."""

    path: str
    api: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    tools: Mapping[str, Mapping[str, Any]] = {}

    @property
    def text(self) -> str:
        """Every string in the body, a line each: what the model could read, wherever the provider keeps it."""
        return "\n".join(_strings(self.body))

    def names_of(self, tool: str) -> list[str]:
        """The names under which the model has a tool: those that are offered and contain its own, else those in the
        text, where agents list the tools that they keep back, as `server__tool`."""
        offered = [name for name in self.tools if tool in name]
        return offered or list(dict.fromkeys(re.findall(rf"\b\w+__{re.escape(tool)}\b", self.text)))

    @property
    def last_words(self) -> str:
        """Every string in the last two messages; of a prompt that is a bare text, the text."""
        messages: Any = next((self.body[key] for key in ("messages", "input", "contents") if key in self.body), [])
        return "\n".join(_strings(messages[-2:] if isinstance(messages, list) else messages))


ScriptStep: TypeAlias = ModelTurn | Callable[[ModelRequest], ModelTurn]
"""One step of a script: an answer, or a function that makes one from the request."""


def say(text: str, usage: Usage = Usage()) -> ModelTurn:
    """A turn of text alone."""
    return ModelTurn(text, usage=usage)


def call(name: str, **arguments: Any) -> ModelTurn:
    """A turn with one call."""
    return ModelTurn(calls=(ModelCall(name, json.loads(json.dumps(arguments))),))


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for each in value.values() for text in _strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in _strings(each)]
    return []
