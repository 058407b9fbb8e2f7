"""Claude Code's transcripts: a file for each session, and one for each of its sub-agents.

The result of a call is in `toolUseResult`; the lines of sub-agents have it only in words. No question about a past plan
is open, so each is a draft until it was decided.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from planwire.hooks.claude_code import NAME, is_machine_made, is_plan_file
from planwire.hooks.happenings import (
    Child,
    ChildBegan,
    ChildEnded,
    Compacted,
    Decided,
    Happening,
    HookCall,
    Proposed,
    Started,
    Titled,
    TurnBegan,
    TurnOver,
)
from planwire.hooks.loose_fields import fields_in, id_in, list_in, text_in
from planwire.hooks.plan_calls import FILE_CALLS, PLAN_CALLS, plan_file_draft
from planwire.hooks.transcripts import TRANSCRIPT, Keep, Past, PastCall, PastCalls, TranscriptHead, instant
from planwire.model.plan import PLAN_MODE, Fields
from planwire.model.stop_reasons import STOP_CANCELLED, STOP_END_TURN

#: The lines that have a title, and its field in each. The last line of the first kind found counts.
_TITLES: Final = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
#: Marks of lines that the person did not write, though they have the person's role.
_NOT_WRITTEN: Final = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "toolUseResult")
_INTERRUPTED: Final = "[Request interrupted by user"
_LEAVING: Final = "ExitPlanMode"
#: How a result says that the person refused, and where their words begin.
_REFUSED: Final = "The user doesn't want to proceed with this tool use"
_WORDS: Final = "the user said:\n"


def head(lines: Iterable[Fields]) -> TranscriptHead | None:
    """What the first lines say; None if they are no transcript of Claude Code's. Only some lines of a sub-agent say
    what kind it is."""
    known = [line for line in lines if id_in(line, "sessionId") and text_in(line, "type")]
    if not known:
        return None
    first = next((line for line in known if text_in(line, "cwd")), known[0])
    child = id_in(first, "agentId") if first.get("isSidechain") is True else None
    kind = next(filter(None, (text_in(line, "attributionAgent") for line in known)), "")
    return TranscriptHead(first["sessionId"], text_in(first, "cwd") or None, Child(child, kind) if child else None)


def read(head: TranscriptHead, lines: Iterable[Fields], keep: Keep) -> Iterator[Past]:
    """What happened in a session, or in the part of a sub-agent, in the order of its transcript."""
    reading = _ClaudeReading(head, keep)
    for line in lines:
        # Older versions have what their sub-agents do in the same file.
        if head.child is not None or line.get("isSidechain") is not True:
            yield from reading.line(line)
    yield from reading.end()


class _ClaudeReading:
    """A transcript that is being read, line by line."""

    def __init__(self, head: TranscriptHead, keep: Keep) -> None:
        self._head, self._keep = head, keep
        self._calls = PastCalls(keep)
        self._titles: dict[str, str] = {}
        self._at = 0
        self._turn: str | None = None
        self._stop: str | None = None  # why the turn would end now, if one is on

    def line(self, line: Fields) -> Iterator[Past]:
        prompt = _prompt(line) if self._head.child is None else None
        if prompt is not None and self._stop:
            yield self._past(TurnOver(self._stop))
        is_first = not self._at
        self._at = max(self._at, instant(text_in(line, "timestamp")) or 0)
        if is_first and self._at:
            yield self._past(Started("startup") if self._head.child is None else ChildBegan())
        if prompt is not None:
            self._stop, self._turn = STOP_END_TURN, id_in(line, "promptId")
            self._calls.forget()
            yield self._past(TurnBegan(prompt if self._keep.prompts else ""))
        yield from self._happened(line)

    def end(self) -> Iterator[Past]:
        if title := next((self._titles[kind] for kind in _TITLES if kind in self._titles), None):
            yield self._past(Titled(title))
        if self._stop:
            yield self._past(TurnOver(self._stop))
        if self._at and self._head.child is not None:
            yield self._past(ChildEnded())

    def _happened(self, line: Fields) -> Iterator[Past]:
        blocks = [each for each in list_in(line.get("message"), "content") or () if isinstance(each, dict)]
        match text_in(line, "type"):
            case "assistant":
                yield from self._said(blocks)
            case "user":
                results = [each for each in blocks if text_in(each, "type") == "tool_result"]
                for each in results:
                    yield from self._result(each, line.get("toolUseResult") if len(results) == 1 else None)
                if _text(line).startswith(_INTERRUPTED) and self._stop:
                    self._stop = STOP_CANCELLED
            case "system" if text_in(line, "subtype") == "compact_boundary":
                yield self._past(Compacted())
            case kind if kind in _TITLES:
                self._titles[kind] = text_in(line, _TITLES[kind]) or self._titles.get(kind, "")

    def _said(self, blocks: list[Fields]) -> Iterator[Past]:
        for each in blocks:
            match text_in(each, "type"):
                case "thinking" | "text" as kind:
                    self._calls.think(text_in(each, kind))
                case "tool_use" if (key := id_in(each, "id")) and _is_of_plan(name := text_in(each, "name")):
                    call = self._calls.begin(key, name, each.get("input"))
                    text = text_in(call.arguments, "plan") if name == _LEAVING else ""
                    if text:
                        yield self._past(Proposed(PLAN_MODE, text, draft=True), call=call, key=key)

    def _result(self, block: Fields, result: Any) -> Iterator[Past]:
        call = self._calls.end(text_in(block, "tool_use_id"))
        if call is None:
            return
        text = _text({"message": block})
        if block.get("is_error") is True:
            what = self._refusal(text) if call.name == _LEAVING else ()
        elif call.name in FILE_CALLS:
            what = plan_file_draft(call.name, call.arguments, lambda path: is_plan_file(path, self._head.path))
        else:
            what = PLAN_CALLS[call.name](call.arguments, text if result is None else result)
        if what:
            yield self._past(*what, call=call, key=text_in(block, "tool_use_id"))

    def _refusal(self, text: str) -> tuple[Happening, ...]:
        """A plan that the person sent back in the terminal, with their words if they are to be kept."""
        if _REFUSED not in text:
            return ()
        words = text.partition(_WORDS)[2].strip() if self._keep.prompts else ""
        return (Decided(PLAN_MODE, approved=False, words=words),)

    def _past(self, *what: Happening, call: PastCall | None = None, key: str | None = None) -> Past:
        head = self._head
        heard = HookCall(
            NAME, head.session, TRANSCRIPT, what=what, folder=head.folder, call=key, turn=self._turn, child=head.child
        )
        return Past(self._at, heard, call.thought if call else "")


def _is_of_plan(name: str) -> bool:
    return name in PLAN_CALLS or name in FILE_CALLS


def _prompt(line: Fields) -> str | None:
    """What a person asks; None if a line is anything else."""
    if text_in(line, "type") != "user" or any(line.get(mark) for mark in _NOT_WRITTEN):
        return None
    text = _text(line)
    is_written = bool(text.strip()) and not text.startswith(_INTERRUPTED) and not is_machine_made(text)
    return text if is_written else None


def _text(line: Fields) -> str:
    """The text of a message, which may be in parts, without the results of tools."""
    message = fields_in(line, "message")
    parts = [text_in(each, "text") for each in list_in(message, "content") or () if text_in(each, "type") == "text"]
    return text_in(message, "content") or "\n".join(parts)
