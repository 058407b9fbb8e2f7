"""A plan that moved on while somebody decided: what they are shown before they decide again."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from planwire.acp.board import PlanChange
from planwire.model.diff import compare
from planwire.readmodel.plain_text import one_line
from planwire.session.moved_on import MovedOn
from planwire.terminal.differences import plan_difference_lines
from planwire.terminal.history_lines import word_text

__all__ = ["moved_texts"]

#: Words that are told of what happened, the newest.
LISTED: Final = 8
#: What is not seen in a difference of two plans.
_UNSEEN: Final = ("wish", "settled", "withdrawn", "note", "why", "text", "asked")


def moved_texts(session: str, moved: MovedOn, wanted: str) -> list[Text]:
    """What somebody wanted, and how the plan differs from the one that they saw."""
    return [
        Text.assemble(("You want  ", "dim"), (one_line(wanted), "bold")),
        Text(f"You saw revision {moved.seen}. Since then, up to revision {moved.revision}:", "dim"),
        *(list(_differences(session, moved)) or [Text("  nothing that can be seen", "dim")]),
    ]


def _differences(session: str, moved: MovedOn) -> Iterator[Text]:
    if moved.before is None or moved.now is None:
        yield Text("  it is another plan now", "yellow")
        return
    difference = compare(moved.before.state, moved.now.state)
    if difference:
        change = PlanChange(moved.plan_id, moved.before.state, moved.now.state, difference)
        yield from plan_difference_lines(session, change)
    told = [(moment.by, word) for moment in moved.moments for word in moment.words if word.kind in _UNSEEN]
    for by, word in told[-LISTED:]:
        yield Text("    ").append_text(word_text(word)).append(f"   {one_line(by)}", "dim")
