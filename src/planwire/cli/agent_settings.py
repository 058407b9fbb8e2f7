"""Agents in an editor's JSON settings: add one behind the relay, put the relay before all of them, undo that.

Each function takes the text of the file and returns the new text with what it did, in words. Nothing here knows where
the file is.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from planwire.cli.jsonc import BadSettings, Node, read_settings
from planwire.cli.settings_edit import (
    compact_json,
    drop_items,
    insert_member,
    prepend_items,
    remove_member,
    replace_value,
)
from planwire.errors import InputError
from planwire.readmodel.plain_text import one_line

_COMMAND: Final = "command"
_ARGUMENTS: Final = "args"

#: Puts the relay before a command.
Wrap = Callable[[list[str]], list[str]]


class Edit(NamedTuple):
    """A text after an edit, a line for each thing done, and one for each that was left alone."""

    text: str
    done: tuple[str, ...]
    left: tuple[str, ...] = ()


class AgentSettings(NamedTuple):
    """Agents by their names under `key`, with `more` to say about each."""

    key: str
    more: Mapping[str, str]

    def entry(self, command: Sequence[str]) -> dict[str, Any]:
        """The settings of an agent with this command."""
        return {**self.more, _COMMAND: command[0], _ARGUMENTS: list(command[1:]), "env": {}}

    def add(self, text: str, name: str, command: Sequence[str]) -> Edit:
        """Add an agent."""
        entry = self.entry(command)
        agents = self._agents(text)
        if name not in agents:
            return Edit(insert_member(text, (self.key,), name, entry), (f"add {_quoted(name)}",))
        if _words(agents[name]) == list(command):
            return Edit(text, (), (f"{_quoted(name)} is there already",))
        raise InputError(
            f"it has another agent named {_quoted(name)}: choose another with --name, or take it out first"
        )

    def wrap(self, text: str, wrap: Wrap) -> Edit:
        """Put the relay before every agent's command, in place: chats and choices in the editor stay with the agent."""
        done, left = [], []
        for name, agent in self._agents(text).items():
            words = _words(agent)
            if words is None:
                left.append(f"{_quoted(name)} has no command in this file: the editor starts it in its own way")
            elif is_behind_relay(words):
                left.append(f"{_quoted(name)} is behind planwire already")
            else:
                text = self._wrapped(text, name, agent, wrap(words))
                done.append(f"put the relay before {_quoted(name)}")
        return Edit(text, tuple(done), tuple(left))

    def take_back(self, text: str, before: str | None, after: str) -> Edit:
        """Undo in a text the edit that made `after` from `before`, except where a person has changed it since."""
        old, ours, now = self._agents(before or ""), self._agents(after), self._agents(text)
        done, left = [], []
        for name, agent in ours.items():
            if old.get(name) == agent or name not in now:
                continue
            if name not in old and _words(now[name]) == _words(agent):
                text = remove_member(text, (self.key, name))
                done.append(f"take out {_quoted(name)}")
            elif name in old and (count := _added(old[name], agent, now[name])) is not None:
                text = self._unwrapped(text, name, before or "", count)
                done.append(f"take the relay from {_quoted(name)}")
            else:
                left.append(f"{_quoted(name)} was changed since: it stays as it is")
        if done and not self._agents(text) and _node(before or "", self.key) is None and _node(text, self.key):
            text = remove_member(text, (self.key,))
        return Edit(text, tuple(done), tuple(left))

    def _agents(self, text: str) -> dict[str, Any]:
        node = _node(text, self.key)
        if node is None:
            return {}
        if not isinstance(node.value, dict):
            raise BadSettings(text, node.start, f'"{self.key}" has to be an object, {{…}}')
        return node.value

    def _wrapped(self, text: str, name: str, agent: Mapping[str, Any], command: Sequence[str]) -> str:
        path = (self.key, name)
        arguments = command[1:]
        text = replace_value(text, (*path, _COMMAND), compact_json(command[0]))
        if _ARGUMENTS not in agent:
            return insert_member(text, path, _ARGUMENTS, arguments)
        if agent[_ARGUMENTS] is None:
            return replace_value(text, (*path, _ARGUMENTS), compact_json(arguments))
        return prepend_items(text, (*path, _ARGUMENTS), arguments[: len(arguments) - len(agent[_ARGUMENTS])])

    def _unwrapped(self, text: str, name: str, before: str, count: int) -> str:
        path = (self.key, name)
        text = drop_items(text, (*path, _ARGUMENTS), count)
        if not _value(before, *path, _ARGUMENTS) and not _value(text, *path, _ARGUMENTS):
            were = _node(before, *path, _ARGUMENTS)
            at = (*path, _ARGUMENTS)
            text = replace_value(text, at, before[were.start : were.end]) if were else remove_member(text, at)
        command = _node(before, *path, _COMMAND)
        return replace_value(text, (*path, _COMMAND), before[command.start : command.end]) if command else text


def is_behind_relay(words: Sequence[str]) -> bool:
    """Whether a command starts planwire's relay, as a program or as a module."""
    names = [re.split(r"[\\/]", word)[-1].removesuffix(".exe") for word in words]
    return ("planwire", "relay") in pairwise(names)


def _node(text: str, *path: str) -> Node | None:
    root = read_settings(text)
    return root.member(*path) if root else None


def _value(text: str, *path: str) -> Any:
    node = _node(text, *path)
    return node.value if node else None


def _words(agent: Any) -> list[str] | None:
    """An agent's command, if the settings have one."""
    if not isinstance(agent, dict):
        return None
    command, arguments = agent.get(_COMMAND), agent.get(_ARGUMENTS)
    if not command or not isinstance(arguments, list | None):
        return None
    words = [command, *(arguments or ())]
    return words if all(isinstance(word, str) for word in words) else None


def _added(old: Any, ours: Any, now: Any) -> int | None:
    """How many arguments the relay put before an agent's own, if they are still there."""
    old_words, our_words, words = _words(old), _words(ours), _words(now)
    if old_words is None or our_words is None or words is None:
        return None
    count = len(our_words) - len(old_words)
    return count if words[: count + 1] == our_words[: count + 1] else None


def _quoted(name: str) -> str:
    return f'"{one_line(name)}"'
