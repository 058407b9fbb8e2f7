"""The story that the demo agent plays: updates with the seconds that pass before each, one list per prompt."""

from collections.abc import Iterator
from typing import Any, TypeAlias

from planwire.acp.words import COMPACTION_COMPLETED, COMPACTION_IN_PROGRESS
from planwire.model.statuses import BOXES

__all__ = ["Beat", "first_part", "second_part"]

#: The fields of a `session/update`.
UpdateFields: TypeAlias = dict[str, Any]
#: Seconds to wait, and then an update.
Beat: TypeAlias = tuple[float, UpdateFields]

_PROPOSAL = (
    "# Fix the nightly export\n\nRows are written with the locale's encoding, ",
    "and whatever it can't hold is skipped. The fix has two halves:\n\n- write UTF-8, whatever the locale\n",
    "- stop skipping: a row that fails must fail loudly\n\nOld files stay as they are; the importer reads both.\n",
)
_STEPS = (
    ("Reproduce the loss with a small fixture", "Reproducing the loss with a small fixture", "high"),
    ("Find where rows are skipped", "Finding where rows are skipped", "high"),
    ("Write UTF-8 in the exporter", "Writing UTF-8 in the exporter", "high"),
    ("Raise instead of skipping", "Making the exporter raise instead of skipping", "medium"),
    ("Repair the files of last week", "Repairing the files of last week", "low"),
    ("Run the test suite", "Running the test suite", "medium"),
)
_FINDINGS = "## Findings\n\n- [x] `export.py` opens files without an encoding\n"
#: Found on the way.
_FOUND = ("Set the locale in the cron job", "Setting the locale in the cron job", "medium")
_MORE_STEPS = (*_STEPS[:3], _FOUND, *_STEPS[3:])


def first_part(checklist: str) -> Iterator[Beat]:
    """The beats up to the compaction of the agent's context. `checklist` is the URI of a file plan."""
    yield 0.4, _say("I'll look at the export first, then propose what to do.")
    yield 0.5, _text("proposal", _PROPOSAL[0])
    for delta in _PROPOSAL[1:]:
        yield 0.5, {**_text("proposal", ""), "_meta": {"jetbrains": {"air": {"contentDelta": delta}}}}
    yield 1.0, _items(_STEPS, "      ")
    yield 0.6, _items(_STEPS, "~     ")
    yield 0.5, _say(" A fixture with three rows is enough to see it.")
    yield 0.8, _items(_STEPS, "x~    ")
    yield 0.6, _text("findings", f"{_FINDINGS}- [ ] `rows.py`\n")
    yield 0.6, _plan("checklist", "file", uri=checklist)
    yield 0.8, _items(_MORE_STEPS, "xx~    ")
    yield (
        0.6,
        _text("findings", f"{_FINDINGS}- [x] `rows.py` swallows the error\n- [~] the cron job sets `LANG=C`\n"),
    )
    yield 0.5, _plan("risks", "_risks", risks=["old readers expect Latin-1"])
    yield 0.8, _items(_MORE_STEPS, "xxx~   ")
    yield 0.4, _compaction(COMPACTION_IN_PROGRESS)
    yield 0.6, _compaction(COMPACTION_COMPLETED, summary=[{"type": "text", "text": "The user wants the export fixed."}])


def second_part(*, reminded: bool) -> Iterator[Beat]:
    """The beats after it. `reminded` says whether the prompt brought the plan back."""
    if reminded:
        yield 0.4, _say("My context was compacted, and the prompt brought my plan back. I'll pick up where I left off.")
    else:
        yield 0.4, _say("My context was compacted, and nothing reminded me of my plan. I have my notes.")
    yield 0.6, _items(_MORE_STEPS, "xxxx~  ")
    yield 0.7, {"sessionUpdate": "plan_removed", "planId": "findings"}
    yield 0.8, _items(_MORE_STEPS, "xxxxx- ")
    yield 0.6, {"sessionUpdate": "plan_removed", "planId": "risks"}
    yield 0.9, _items(_MORE_STEPS, "xxxxx-~")
    yield 0.9, _items(_MORE_STEPS, "xxxxx-x")
    yield 0.3, _say(" All green.")


def _say(text: str) -> UpdateFields:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def _compaction(status: str, **more: Any) -> UpdateFields:
    return {"sessionUpdate": "compaction_update", "compactionId": "c1", "status": status, **more}


def _plan(plan_id: str, kind: str, **content: Any) -> UpdateFields:
    return {"sessionUpdate": "plan_update", "plan": {"type": kind, "planId": plan_id, **content}}


def _text(plan_id: str, content: str) -> UpdateFields:
    return _plan(plan_id, "markdown", content=content)


def _items(steps: tuple[tuple[str, str, str], ...], boxes: str) -> UpdateFields:
    """The list with a checkbox per step. A step in progress has other words, as agents put it while they work on it."""
    entries = []
    for (text, in_progress, priority), box in zip(steps, boxes, strict=True):
        words = in_progress if box == "~" else text
        entries.append({"content": words, "priority": priority, "status": BOXES[box].word})
    return _plan("fix", "items", entries=entries)
