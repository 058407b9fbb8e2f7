"""What a person can do with a plan, in one table: keys, names and what they mean."""

from typing import Final, NamedTuple

from textual.binding import Binding

from planwire.model.statuses import STATUSES

__all__ = ["ACTS", "Act", "act_bindings"]


class Act(NamedTuple):
    """One row. `keys` are as Textual names them, and `display` is the one that people read. `name` is that of a method
    of `PlanActs`; `shown` says whether the footer has it."""

    keys: str
    name: str
    label: str
    meaning: str
    display: str
    shown: bool = False

    @property
    def action(self) -> str:
        """The action of the session's screen."""
        return f"act('{self.name}')"


ACTS: Final = (
    Act("x,space", "tick", "Tick", "done, or not done after all", "x", shown=True),
    Act("e", "reword", "Edit", "another text; a plan file opens in your editor", "e", shown=True),
    Act("a", "add", "Add", "a new step below; on a plan's head, on top", "a", shown=True),
    Act("c", "comment", "Comment", "on the step; on a plan's head, on the plan", "c", shown=True),
    Act("s", "mark", "Select", "choose the step to be run", "s", shown=True),
    Act("r,enter", "run", "Run", "only the selected steps, or this one", "r", shown=True),
    Act("v", "review", "Review", "approve the plan, or ask for changes", "v", shown=True),
    Act("o", "status", "Other status", ", ".join(row.spoken for row in STATUSES.values()), "o"),
    Act("alt+up,K", "move_up", "Move up", "among the steps beside it", "K"),
    Act("alt+down,J", "move_down", "Move down", "among the steps beside it", "J"),
    Act("d,delete", "remove", "Remove", "the step, and all that is nested in it", "d"),
    Act("C", "comment_plan", "Comment on the plan", "whatever step the cursor is on", "C"),
    Act("u", "take_back", "Take back", "a wish that has not come true", "u"),
)
_MENU: Final = Act("m", "menu", "More", "all that can be done with it", "m", shown=True)


def act_bindings() -> list[Binding]:
    """All of them as bindings of a screen, and one for the list of them."""
    made = []
    for act in (*ACTS, _MENU):
        first, *others = act.keys.split(",")
        display = act.display if first == act.display else None
        made.append(Binding(first, act.action, act.label, show=act.shown, key_display=display, tooltip=act.meaning))
        made += [Binding(key, act.action, act.label, show=False, tooltip=act.meaning) for key in others]
    return made
