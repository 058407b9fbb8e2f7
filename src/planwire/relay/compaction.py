"""Compactions of the context: noticed, and shown to a client that did not ask to hear of them.

Such a client is not sent `compaction_update` (R51). But an agent that believes its client understands these shows a
compaction in no other way, so the relay shows what the agent would have shown: a tool call.
"""

from typing import Any, Final

from planwire.acp.words import (
    COMPACTION_CANCELLED,
    COMPACTION_COMPLETED,
    COMPACTION_FAILED,
    COMPACTION_IN_PROGRESS,
    TOOL_COMPLETED,
    TOOL_FAILED,
    TOOL_IN_PROGRESS,
)
from planwire.model.plan import Fields

#: The turns in which a fall of the used context still belongs to a reported compaction: the turn of the report and the
#: next one, because agents give an estimate first.
SETTLING_TURNS: Final = 2
_TITLE: Final = "Compact conversation"
_SHOWN: Final = {
    COMPACTION_IN_PROGRESS: TOOL_IN_PROGRESS,
    COMPACTION_COMPLETED: TOOL_COMPLETED,
    COMPACTION_FAILED: TOOL_FAILED,
    COMPACTION_CANCELLED: TOOL_FAILED,
}
#: The most compactions of one session whose summaries are remembered. More than one at a time is unheard of.
_MOST: Final = 16


class Compactions:
    """One session's compactions, noticed by the agent's reports, by other signs or by the context that it uses."""

    def __init__(self) -> None:
        self._reported: set[str] = set()
        self._used: float | None = None
        self._turns_to_settle = 0
        self._is_noticed = False  # in this turn

    def begin_turn(self) -> None:
        self._is_noticed = False
        self._turns_to_settle = max(0, self._turns_to_settle - 1)

    def report(self, compaction_id: str | None) -> bool:
        """The agent reports a compaction as done. Returns whether that is news."""
        if compaction_id in self._reported:
            return False
        if compaction_id is not None:
            self._reported.add(compaction_id)
        self._settle()
        return True

    def notice(self) -> bool:
        """A sign shows a compaction. Returns whether that is news: an agent may give several signs of one compaction in
        a turn."""
        is_news = not self._is_noticed
        self._settle()
        return is_news

    def use(self, used: float, *, counts: bool) -> float | None:
        """Note the used context. Returns how much it was before if only a compaction makes it fall like that."""
        if used <= 0:  # some agents send 0 for lack of a figure
            return None
        before, self._used = self._used, used
        fell = before is not None and used * 2 < before
        if not (fell and counts) or self._turns_to_settle:
            return None
        self._is_noticed = True
        return before

    def _settle(self) -> None:
        self._is_noticed = True
        self._turns_to_settle = SETTLING_TURNS


class CompactionFallback:
    """One session's compactions, as tool calls."""

    def __init__(self) -> None:
        self._summaries: dict[str, str] = {}
        self._last: Fields | None = None

    def lower(self, update: Fields) -> Fields | None:
        """The update that says the same to a client without the capability, or None if there is nothing to say."""
        compaction = update.get("compactionId")
        if not isinstance(compaction, str):
            return None
        first = compaction not in self._summaries
        if update.get("sessionUpdate") == "compaction_summary_chunk":
            self._summaries[compaction] = self._summaries.get(compaction, "") + _text(update.get("content"))
            return _call(compaction, TOOL_IN_PROGRESS, "", first=True) if first else None
        status = update.get("status")
        shown = _SHOWN.get(status, TOOL_IN_PROGRESS) if isinstance(status, str) else TOOL_IN_PROGRESS
        if "summary" in update:
            self._summaries[compaction] = _text(update["summary"])
        said = self._summaries.setdefault(compaction, "")
        if status == COMPACTION_FAILED and isinstance(update.get("error"), str):
            said = f"Compaction failed: {update['error']}"
        while len(self._summaries) > _MOST:
            del self._summaries[next(iter(self._summaries))]
        lowered = _call(compaction, shown, said if shown != TOOL_IN_PROGRESS else "", first=first)
        before, self._last = self._last, {**lowered, "sessionUpdate": ""}
        return None if before == self._last and not first else lowered


def _call(compaction: str, status: str, text: str, *, first: bool) -> Fields:
    update: Fields = {"sessionUpdate": "tool_call" if first else "tool_call_update", "toolCallId": compaction}
    update |= {"title": _TITLE, "kind": "think", "status": status}
    if text:
        update["content"] = [{"type": "content", "content": {"type": "text", "text": text}}]
    return update


def _text(content: Any) -> str:
    """The text of a content block, or of a list of them."""
    if isinstance(content, list):
        return "".join(map(_text, content))
    text = content.get("text") if isinstance(content, dict) else None
    return text if isinstance(text, str) else ""
