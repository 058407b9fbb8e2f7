"""An observer of an agent that is driven to show its ways: what it sends when it compacts, how it names and gates the
tools of an MCP server, how it joins the texts of a prompt that it replays. No I/O: lines and requests in."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct, field

from planwire.acp.conversation import AGENT, value_of
from planwire.acp.permissions import tool_call_of
from planwire.acp.words import COMPACTION_UPDATES
from planwire.check.offers import COMPACT, LOAD, compact_command
from planwire.check.script import ModelRequest

#: The part in which the agent has an MCP server, the server's name, and its only tool.
TOOLS: Final = "tools"
SERVER: Final = "trialserver"
TOOL: Final = "trialtool"
#: The two texts of the prompt in that part.
ECHOED: Final = ("Look at the first sample.", "Look at the second sample.")

_MAX_SIGNS: Final = 20


class Observed(Struct):
    """What was observed; None or empty where nothing was.

    - `command`: the advertised command that compacts. `signs`: what came while it ran, in words; `titles` and `meta`:
      the titles of tool calls and the members of `_meta` among the signs.
    - `offered`: the model's names of the server's tool. `is_hidden`: the model was not told of the server at all.
    - `gates`: how the agent spells the tool when it asks for permission to call it.
    - `joiner`: what stands between two texts of one prompt that came back as one.
    """

    initialized: Any = None
    command: str | None = None
    signs: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    meta: list[str] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)
    is_hidden: bool | None = None
    gates: list[str] = field(default_factory=list)
    joiner: str | None = None


class Observer:
    """Takes in every line of a connection and every request to the model; `begin` says what is driven next."""

    def __init__(self) -> None:
        self.seen = Observed()
        self._part = ""

    def begin(self, part: str) -> None:
        self._part = part

    def hear_model(self, requests: Iterable[ModelRequest]) -> None:
        """Take in the model's requests in the part with the MCP server."""
        for request in requests:
            names = request.names_of(TOOL)
            self.seen.offered += [name for name in names if name not in self.seen.offered]
            self.seen.is_hidden = (self.seen.is_hidden is not False) and not names and SERVER not in request.text

    def hear(self, line: bytes, sender: str | None) -> None:
        message = value_of(line) if sender == AGENT else None
        if not isinstance(message, dict):
            return
        params, result = message.get("params"), message.get("result")
        if isinstance(result, dict) and "protocolVersion" in result:
            self.seen.initialized = result
        elif message.get("method") == "session/request_permission" and self._part == TOOLS:
            self._hear_question(tool_call_of(params))
        elif isinstance(params, dict) and isinstance(update := params.get("update"), dict):
            self._hear_update(update)

    def _hear_question(self, call: Any) -> None:
        words = [call.get(key) for key in ("title", "name")] if isinstance(call, dict) else []
        for word in words:
            spelled = re.search(rf"[\w./:-]*{SERVER}[\w./:-]*{TOOL}|{TOOL}", word) if isinstance(word, str) else None
            if spelled and spelled.group() not in self.seen.gates:
                self.seen.gates.append(spelled.group())

    def _hear_update(self, update: dict[str, Any]) -> None:
        tag = update.get("sessionUpdate")
        if tag == "available_commands_update":
            self.seen.command = compact_command(update) or self.seen.command
        elif self._part == COMPACT:
            self._hear_compaction(str(tag), update)
        elif self._part == LOAD and tag in ("user_message_chunk", "user_message"):
            for text in _texts(update.get("content")):
                between = re.search(rf"{re.escape(ECHOED[0])}(\s*){re.escape(ECHOED[1])}", text)
                if between:
                    self.seen.joiner = between.group(1)

    def _hear_compaction(self, tag: str, update: dict[str, Any]) -> None:
        if tag in ("tool_call", "tool_call_update") and isinstance(title := update.get("title"), str):
            self._sign(f"{tag} {title!r}")
            self.seen.titles.append(title)
        elif tag in COMPACTION_UPDATES:
            self._sign(tag)
        for member in _members(update.get("_meta")):
            if re.search("compact|compress", member, re.IGNORECASE):
                self._sign(f"_meta {member}")
                self.seen.meta.append(member)

    def _sign(self, text: str) -> None:
        if text not in self.seen.signs and len(self.seen.signs) < _MAX_SIGNS:
            self.seen.signs.append(text)


def _texts(content: Any) -> Iterator[str]:
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            yield block["text"]


def _members(value: Any, path: str = "") -> Iterator[str]:
    """The members of an object that are strings, each as `path=string`."""
    for key, each in value.items() if isinstance(value, dict) else ():
        if isinstance(each, str):
            yield f"{path}{key}={each}"
        else:
            yield from _members(each, f"{path}{key}.")
