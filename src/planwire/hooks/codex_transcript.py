"""Codex's transcripts ("rollouts"): a file for each thread; sub-agents have threads of their own.

A person's decision about a plan is not in them, so each plan stays a draft.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from planwire.hooks.codex import NAME
from planwire.hooks.codex_plan import plan_item
from planwire.hooks.happenings import (
    Child,
    ChildBegan,
    ChildEnded,
    Compacted,
    Happening,
    HookCall,
    Proposed,
    Started,
    Titled,
    TurnBegan,
    TurnOver,
)
from planwire.hooks.loose_fields import fields_in, id_in, list_in, text_in
from planwire.hooks.plan_calls import GOAL_CALL, PLAN_CALLS
from planwire.hooks.transcripts import TRANSCRIPT, Keep, Past, PastCalls, TranscriptHead, instant
from planwire.model.plan import PLAN_MODE, Fields
from planwire.model.stop_reasons import STOP_CANCELLED, STOP_END_TURN

_META: Final = "session_meta"
#: The role that hooks give a sub-agent without one.
_USUAL_ROLE: Final = "default"
#: The ends of a turn, under the names of several versions.
_ENDS: Final = {"task_complete": STOP_END_TURN, "turn_complete": STOP_END_TURN, "turn_aborted": STOP_CANCELLED}


def head(lines: Iterable[Fields]) -> TranscriptHead | None:
    """What the first line says; None if it is no transcript of Codex's. A thread in the session of another is a
    sub-agent."""
    for line in lines:
        meta = fields_in(line, "payload")
        thread = id_in(meta, "id")
        if text_in(line, "type") != _META or thread is None:
            return None
        session = id_in(meta, "session_id") or thread
        child = Child(thread, _role(meta)) if session != thread else None
        return TranscriptHead(session, text_in(meta, "cwd") or None, child)
    return None


def read(head: TranscriptHead, lines: Iterable[Fields], keep: Keep) -> Iterator[Past]:
    """What happened in a thread, in the order of its transcript."""
    reading = _CodexReading(head, keep)
    for line in lines:
        yield from reading.line(line)
    yield from reading.end()


class _CodexReading:
    """A transcript that is being read, line by line."""

    def __init__(self, head: TranscriptHead, keep: Keep) -> None:
        self._head, self._keep = head, keep
        self._calls = PastCalls(keep)
        self._at = 0
        self._turn: str | None = None
        self._is_working = False

    def line(self, line: Fields) -> Iterator[Past]:
        said, is_first = fields_in(line, "payload"), not self._at
        self._at = max(self._at, instant(text_in(line, "timestamp")) or 0)
        if is_first and self._at:
            yield self._past(Started("startup") if self._head.child is None else ChildBegan())
        match text_in(line, "type"):
            case "event_msg":
                yield from self._event(said)
            case "response_item":
                yield from self._item(said)
            case "compacted":
                yield self._past(Compacted())

    def end(self) -> Iterator[Past]:
        if self._is_working and self._head.child is None:
            yield self._past(TurnOver(STOP_CANCELLED))  # how it ended is not in the transcript
        if self._at and self._head.child is not None:
            yield self._past(ChildEnded())

    def _event(self, said: Fields) -> Iterator[Past]:
        kind = text_in(said, "type")
        if kind in ("task_started", "turn_started"):
            self._turn = id_in(said, "turn_id")
            self._calls.forget()
        elif plan := plan_item(said):
            yield self._past(Proposed(PLAN_MODE, plan, draft=True), thought=self._calls.thought())
        elif kind == "thread_name_updated" and (title := text_in(said, "thread_name")):
            yield self._past(Titled(title))
        elif kind == "thread_goal_updated":
            yield from self._happened(*GOAL_CALL(None, said))
        elif self._head.child is None and (prompt := _prompt(said)) is not None:
            if not self._is_working:
                yield self._past(TurnBegan(prompt if self._keep.prompts else ""))
            self._is_working = True
        elif self._head.child is None and kind in _ENDS:
            self._is_working = False
            yield self._past(TurnOver(_ENDS[kind]))

    def _item(self, said: Fields) -> Iterator[Past]:
        key, name = text_in(said, "call_id"), text_in(said, "name")
        match text_in(said, "type"):
            case "function_call" if key and name in PLAN_CALLS and not text_in(said, "namespace"):
                self._calls.begin(key, name, _decoded(said.get("arguments")))
            case "function_call_output" if call := self._calls.end(key):
                what = PLAN_CALLS[call.name](call.arguments, said.get("output"))
                yield from self._happened(*what, thought=call.thought, key=key)
            case "reasoning" | "message" as kind if kind == "reasoning" or text_in(said, "role") == "assistant":
                for each in list_in(said, "summary" if kind == "reasoning" else "content") or ():
                    self._calls.think(text_in(each, "text"))

    def _happened(self, *what: Happening, thought: str = "", key: str | None = None) -> Iterator[Past]:
        if what:
            yield self._past(*what, thought=thought, key=key)

    def _past(self, *what: Happening, thought: str = "", key: str | None = None) -> Past:
        head = self._head
        heard = HookCall(
            NAME, head.session, TRANSCRIPT, what=what, folder=head.folder, call=key, turn=self._turn, child=head.child
        )
        return Past(self._at, heard, thought)


def _prompt(said: Fields) -> str | None:
    """What a person asks, in the form of old versions or of new ones; None if an event is anything else."""
    item = fields_in(said, "item")
    if text_in(said, "type") == "user_message":
        return text_in(said, "message")
    if text_in(said, "type") == "item_completed" and text_in(item, "type") == "UserMessage":
        return "\n".join(filter(None, (text_in(each, "text") for each in list_in(item, "content") or ())))
    return None


def _role(meta: Fields) -> str:
    """What kind of sub-agent a thread is of."""
    spawned = fields_in(fields_in(fields_in(meta, "source"), "subagent"), "thread_spawn")
    return text_in(meta, "agent_role") or text_in(spawned, "agent_role") or _USUAL_ROLE


def _decoded(arguments: Any) -> Any:
    """The arguments of a call, which are JSON in a text."""
    try:
        return msgspec.json.decode(arguments) if isinstance(arguments, str) else arguments
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
