"""What changed between two states of a session, or between two sessions."""

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import islice
from typing import Final

from rich.text import Text

from planwire.acp.board import Change, PlanChange
from planwire.model.fold import SessionState
from planwire.model.plan import MarkdownPlan
from planwire.readmodel.plain_text import one_line, printable
from planwire.terminal.changes import change_lines

__all__ = ["difference_lines", "plan_difference_lines"]

#: Tasks are told as steps already.
_TASK: Final = re.compile(r"[ +-]\s*(?:[-*+]|\d+[.)])\s+\[.\]\s")
#: Longer texts are not compared line by line, nor more lines than these shown.
LONGEST: Final = 200_000
MOST_LINES: Final = 200
#: Lines before the first difference: the names of the files.
HEADER: Final = 2


def difference_lines(before: SessionState, after: SessionState, changes: Sequence[PlanChange]) -> Iterator[Text]:
    """A headline, then for each plan what came, went and changed."""
    sides = (one_line(before.id), before.seq), (one_line(after.id), after.seq)
    names = [f"{session} at {seq}" for session, seq in sides]
    if before.id == after.id:
        names = [f"{names[0]}", f"{after.seq}"]
    yield Text(" → ".join(names), "dim")
    if not changes:
        yield Text("  no difference", "dim")
    for change in changes:
        yield from plan_difference_lines(after.id, change)


def plan_difference_lines(session: str, change: PlanChange) -> Iterator[Text]:
    """A headline, then what came, went and changed in one plan."""
    yield from change_lines(Change(session, (change,)))
    yield from _text_lines(change)


def _text_lines(change: PlanChange) -> Iterator[Text]:
    match change.before and change.before.plan, change.after and change.after.plan:
        case MarkdownPlan(content=old), MarkdownPlan(content=new) if max(len(old), len(new)) <= LONGEST:
            lines = islice(unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm=""), HEADER, None)
            told = [line for line in lines if line[0] in "+-" and not _TASK.match(line)]
            for line in told[:MOST_LINES]:
                yield Text(f"    {line[0]} {printable(line[1:])}", "green" if line[0] == "+" else "red")
            if len(told) > MOST_LINES:
                yield Text(f"    … {len(told) - MOST_LINES} more lines", "dim")
