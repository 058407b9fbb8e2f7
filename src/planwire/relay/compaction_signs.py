"""Signs of a compaction, other than a report: a command that compacts, a tool call or a `_meta` that says so.

An agent that does not report its compactions still shows them, each in its own way (`agents`). The model lacks its plan
in the very next prompt, so no sign may come later than the end of the turn.
"""

from collections.abc import Iterator
from typing import Any, Final

from planwire.acp.words import TOOL_COMPLETED, TOOL_FAILED
from planwire.model.plan import Fields
from planwire.model.stop_reasons import STOP_END_TURN
from planwire.model.text import in_quotes
from planwire.relay.agents import AgentRow, matches
from planwire.relay.envelope import text_of

#: How deep `_meta` is searched, and how many commands and unfinished tool calls are remembered.
_DEEPEST: Final = 4
_MOST: Final = 500
#: The kinds of tool calls that can compact: a call that reads or runs something may have any title.
_KINDS: Final = ("", "other", "think")


class CompactionSigns:
    """One session's signs. `hear` and `end_turn` return why a compaction is certain, in words, or None."""

    def __init__(self) -> None:
        self._advertised: frozenset[str] = frozenset()
        self._command: str | None = None  # the one that this turn runs
        self._calls: dict[str, str] = {}  # titles of tool calls that have not ended

    def advertise(self, update: Fields) -> None:
        """Take in the commands that the agent has, from its update."""
        commands = update.get("availableCommands")
        names = (text_of(each, "name").lstrip("/") for each in (commands if isinstance(commands, list) else ())[:_MOST])
        self._advertised = frozenset(name for name in names if name)

    def begin_turn(self) -> None:
        self._calls.clear()
        self._command = None

    def prompt(self, text: str, ways: AgentRow) -> None:
        """Note the text that this turn's prompt begins with: it may be a command that compacts."""
        words = text[1:].split(maxsplit=1) if text.startswith("/") else []
        is_known = bool(words) and words[0] in self._advertised and words[0].casefold() in ways.compact_commands
        self._command = words[0] if is_known else None

    def hear(self, update: Fields, ways: AgentRow) -> str | None:
        """Take in an update, which may show a compaction."""
        members = (each for each in _members(update.get("_meta")) if matches(each.casefold(), ways.compact_meta))
        if (member := next(members, None)) is not None:
            return f"the agent says {member}"
        title, call = text_of(update, "title"), text_of(update, "toolCallId")
        is_sign = text_of(update, "kind") in _KINDS and matches(title.casefold(), ways.compact_titles)
        if call and is_sign and len(self._calls) < _MOST:
            self._calls[call] = title
        if call not in self._calls or text_of(update, "status") not in (TOOL_COMPLETED, TOOL_FAILED):
            return None
        title = self._calls.pop(call)
        return f"the agent says {in_quotes(title)}" if update["status"] == TOOL_COMPLETED else None

    def end_turn(self, stop_reason: str) -> str | None:
        """The turn ends. If it ended well, so did its command, and the tool calls whose end was never reported."""
        command, self._command = self._command, None
        title = next(iter(self._calls.values()), None)
        self._calls.clear()
        if stop_reason != STOP_END_TURN:
            return None
        if command is not None:
            return f"the command /{command} ended"
        return f"the agent says {in_quotes(title)}" if title is not None else None


def _members(value: Any, path: str = "", depth: int = 0) -> Iterator[str]:
    """The members of an object that are short texts, each as `path=value`."""
    if isinstance(value, dict) and depth < _DEEPEST:
        for key, member in value.items():
            yield from _members(member, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, str) and len(value) < 100:
        yield f"{path}={value}"
