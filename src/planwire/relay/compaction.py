"""Compactions of the context: noticed, and shown to a client that did not ask to hear of them.

Such a client is not sent `compaction_update` (R51). But an agent that is told of a client which understands it keeps
quiet otherwise: what it would have shown as a tool call instead, the relay shows as one.
"""

from typing import Any, Final

from planwire.model.plan import Fields

__all__ = ["COMPACTION_UPDATES", "CompactionFallback", "fell_by_more_than_half"]

COMPACTION_UPDATES: Final = frozenset(("compaction_update", "compaction_summary_chunk"))

_TITLE = "Compact conversation"
_STATUSES = {"in_progress": "in_progress", "completed": "completed", "failed": "failed", "cancelled": "failed"}
#: Compactions of one session whose summaries are still being told; more than one is unheard of.
_MOST = 16


def fell_by_more_than_half(before: float | None, now: float) -> bool:
    """Whether the used context shrank as only a compaction makes it shrink."""
    return before is not None and now * 2 < before


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
            return _call(compaction, "in_progress", "", first=True) if first else None
        status = update.get("status")
        shown = _STATUSES.get(status, "in_progress") if isinstance(status, str) else "in_progress"
        if "summary" in update:
            self._summaries[compaction] = _text(update["summary"])
        said = self._summaries.setdefault(compaction, "")
        if status == "failed" and isinstance(update.get("error"), str):
            said = f"Compaction failed: {update['error']}"
        while len(self._summaries) > _MOST:
            del self._summaries[next(iter(self._summaries))]
        lowered = _call(compaction, shown, said if shown != "in_progress" else "", first=first)
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
