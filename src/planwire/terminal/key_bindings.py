"""What can be done with a plan, in one table: keys, names and what they mean."""

from typing import Final, NamedTuple

from textual.binding import Binding

__all__ = ["ACTS", "STATUS_KEYS", "Act", "bindings"]


class Act(NamedTuple):
    """`keys` as Textual names them, the first of which is shown; `shown` says whether the footer has it."""

    keys: str
    action: str
    name: str
    meaning: str
    display: str
    shown: bool = False


ACTS: Final = (
    Act("x,space", "tick", "Tick", "done, or not done after all", "x", shown=True),
    Act("e", "reword", "Edit", "another text; a plan file opens in your editor", "e", shown=True),
    Act("a", "add", "Add", "a new step below; on a plan's head, on top", "a", shown=True),
    Act("c", "comment", "Comment", "on the step; on a plan's head, on the plan", "c", shown=True),
    Act("s", "mark", "Select", "choose the step to be run", "s", shown=True),
    Act("r,enter", "run", "Run", "only the selected steps, or this one", "r", shown=True),
    Act("v", "review", "Review", "approve the plan, or ask for changes", "v", shown=True),
    Act("o", "status", "Other status", "to do, in progress, done, cancelled", "o"),
    Act("alt+up,K", "shift(-1)", "Move up", "among the steps beside it", "K"),
    Act("alt+down,J", "shift(1)", "Move down", "among the steps beside it", "J"),
    Act("d,delete", "remove", "Remove", "the step, and all that is nested in it", "d"),
    Act("C", "comment_plan", "Comment on the plan", "whatever step the cursor is on", "C"),
    Act("u", "take_back", "Take back", "a wish that has not come true", "u"),
)

#: The statuses that a step may get, with a key and a name for each.
STATUS_KEYS: Final = {
    "pending": ("t", "to do"),
    "in_progress": ("i", "in progress"),
    "completed": ("d", "done"),
    "cancelled": ("c", "cancelled"),
}


def bindings() -> list[Binding]:
    """All of them as bindings of a screen, and one for the list of them."""
    made = []
    for act in ACTS:
        first, *others = act.keys.split(",")
        display = act.display if first == act.display else None
        made.append(Binding(first, act.action, act.name, show=act.shown, key_display=display, tooltip=act.meaning))
        made += [Binding(key, act.action, act.name, show=False, tooltip=act.meaning) for key in others]
    return [*made, Binding("m", "menu", "More", tooltip="all that can be done with it")]
