"""What the demo agent does: updates with the seconds that pass before each, one list a prompt."""

from collections.abc import Iterator
from typing import Any

__all__ = ["Beat", "first_part", "second_part"]

Update = dict[str, Any]
Beat = tuple[float, Update]

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
_FOUND = ("Set the locale in the cron job", "Setting the locale in the cron job", "medium")


def first_part(checklist: str) -> Iterator[Beat]:
    """Up to the moment at which the agent's context is compacted. `checklist` is the URI of a file plan."""
    yield 0.4, _say("I'll look at the export first, then propose what to do.")
    yield 0.5, _text("proposal", _PROPOSAL[0])
    for delta in _PROPOSAL[1:]:
        yield 0.5, {**_text("proposal", ""), "_meta": {"jetbrains": {"air": {"contentDelta": delta}}}}
    yield 1.0, _items(_STEPS, done=0, current=None)
    yield 0.6, _items(_STEPS, done=0)
    yield 0.5, _say(" A fixture with three rows is enough to see it.")
    yield 0.8, _items(_STEPS, done=1)
    yield 0.6, _text("findings", "## Findings\n\n- [x] `export.py` opens files without an encoding\n- [ ] `rows.py`\n")
    yield 0.6, {"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "checklist", "uri": checklist}}
    yield 0.8, _items((*_STEPS[:3], _FOUND, *_STEPS[3:]), done=2)
    yield (
        0.6,
        _text(
            "findings",
            "## Findings\n\n- [x] `export.py` opens files without an encoding\n- [x] `rows.py` swallows the error\n"
            "- [~] the cron job sets `LANG=C`\n",
        ),
    )
    yield (
        0.5,
        {
            "sessionUpdate": "plan_update",
            "plan": {"type": "_risks", "planId": "risks", "risks": ["old readers expect Latin-1"]},
        },
    )
    yield 0.8, _items((*_STEPS[:3], _FOUND, *_STEPS[3:]), done=3)
    yield 0.4, {"sessionUpdate": "compaction_update", "compactionId": "c1", "status": "in_progress"}
    yield (
        0.6,
        {
            "sessionUpdate": "compaction_update",
            "compactionId": "c1",
            "status": "completed",
            "summary": [{"type": "text", "text": "The user wants the export fixed."}],
        },
    )


def second_part(*, reminded: bool) -> Iterator[Beat]:
    """After it. `reminded` says whether the prompt brought the plan back."""
    if reminded:
        yield 0.4, _say("My context was compacted, and the prompt brought my plan back. I go on where I was.")
    else:
        yield 0.4, _say("My context was compacted, and nobody told me what I was about. I have my notes.")
    steps = (*_STEPS[:3], _FOUND, *_STEPS[3:])
    yield 0.6, _items(steps, done=4)
    yield 0.7, {"sessionUpdate": "plan_removed", "planId": "findings"}
    yield 0.8, _items(steps, done=5, cancelled=5)
    yield 0.6, {"sessionUpdate": "plan_removed", "planId": "risks"}
    yield 0.9, _items(steps, done=6, cancelled=5)
    yield 0.9, _items(steps, done=7, cancelled=5)
    yield 0.3, _say(" All green.")


def _say(text: str) -> Update:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def _text(plan_id: str, content: str) -> Update:
    return {"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": plan_id, "content": content}}


def _items(
    steps: tuple[tuple[str, str, str], ...], *, done: int, current: int | None = -1, cancelled: int = -1
) -> Update:
    """The list with `done` steps behind it. The next one is being worked on, in other words, as agents say it then."""
    current = done if current == -1 else current
    entries = []
    for index, (text, doing, priority) in enumerate(steps):
        status = "completed" if index < done else "in_progress" if index == current else "pending"
        words = doing if status == "in_progress" and index != cancelled else text
        status = "cancelled" if index == cancelled else status
        entries.append({"content": words, "priority": priority, "status": status})
    return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "fix", "entries": entries}}
