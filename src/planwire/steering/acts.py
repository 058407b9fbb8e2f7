"""The acts of people on plans: one table, one row an act.

Every face makes its own from it: the terminal its keys and menus, the board its buttons and keys, the command line its
commands, the documents their tables of keys. A new act is a function in `commands` and a row here.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from msgspec import Struct

from planwire.errors import PlanError, StaleRevision, UnknownAct
from planwire.model.events import CHANGES_REQUESTED, COMMENTED
from planwire.model.fold import PlanRecord, SessionState
from planwire.model.kinds import kind_of
from planwire.model.plan import PRIORITIES, PlanId
from planwire.model.statuses import DEFAULT_STATUS, STATUSES, Status, after_tick
from planwire.model.steps import PlanState
from planwire.steering import commands
from planwire.steering.commands import USER, Decision, Target
from planwire.steering.conflict import Touches, is_outdated
from planwire.steering.wanted import ARGUMENTS, Wanted

__all__ = ["ACTS", "Act", "Gesture", "On", "act_named", "acts_for", "decide", "status_offers"]


class On(Enum):
    """The thing that an act is on: what a person points at."""

    STEP = "step"
    PLAN = "plan"
    SUGGESTION = "suggestion"


class Gesture(Struct, frozen=True):
    """One way to do an act with a key: the keys, the words for it, and the arguments that the key stands for.

    Keys are written as people read them: `x`, `Space`, `Alt+Up`. `on` is where the key works, if that is not where its
    act does: a plan's own key for a comment, say. `main` are those that a short list of keys shows.
    """

    keys: tuple[str, ...]
    label: str
    help: str
    arguments: dict[str, Any] = {}
    on: On | None = None
    main: bool = False


class Act(Struct, frozen=True):
    """One row.

    - `name`: its name in requests. `command`: the command of the command line that does it.
    - `label`: two words for a button. `help`: a sentence for a list of acts or commands.
    - `on`: what it is on. `needs`: arguments without which it means nothing. `takes`: arguments that it may have.
    - `touches`: how much of the plan must still be as the person saw it.
    - `gestures`: its keys.
    """

    name: str
    command: str
    label: str
    help: str
    decide: Callable[[Target, Wanted], Decision]
    on: On
    touches: Touches
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    gestures: tuple[Gesture, ...] = ()

    @property
    def changes_steps(self) -> bool:
        """Whether it is for plans whose steps people can change here."""
        return self.name not in _WORDS


#: The acts that any plan takes: words, verdicts, and dismissal.
_WORDS: Final = ("comment", "review", "withdraw", "dismiss")

_TABLE: Final = (
    Act(
        *("tick", "tick", "Tick", "Mark a step done, or not done after all", commands.tick, On.STEP, Touches.STEP),
        gestures=(Gesture(("x", "Space"), "Tick", "done, or not done after all", main=True),),
    ),
    Act(
        *("set_status", "status", "Set status", "Give a step another status", commands.set_status, On.STEP),
        touches=Touches.STEP,
        needs=("status",),
        gestures=(
            Gesture(("o",), "Set status", ", ".join(row.spoken for row in STATUSES.values())),
            *(
                Gesture((row.key,), row.spoken.capitalize(), f"set the status: {row.spoken}", {"status": row.word})
                for row in STATUSES.values()
                if row.is_current
            ),
        ),
    ),
    Act(
        *("reword", "reword", "Reword", "Give a step another text", commands.reword, On.STEP, Touches.STEP),
        needs=("text",),
        gestures=(Gesture(("e",), "Edit", "reword the step; a plan file opens in your editor", main=True),),
    ),
    Act(
        *("add", "add", "Add step", "Add a step to a plan", commands.add, On.PLAN, Touches.PLACE),
        needs=("text",),
        takes=("after",),
        gestures=(
            Gesture(("a",), "Add", "a new step below this one", on=On.STEP, main=True),
            Gesture(("A",), "Add at the end", "a new step behind all others", on=On.PLAN),
        ),
    ),
    Act(
        *("move", "move", "Move", "Put a step in another place", commands.move, On.STEP, Touches.STEP),
        takes=("after", "by"),
        gestures=(
            Gesture(("K", "Alt+Up"), "Move up", "among the steps beside it", {"by": -1}),
            Gesture(("J", "Alt+Down"), "Move down", "among the steps beside it", {"by": 1}),
        ),
    ),
    Act(
        *("remove", "remove", "Remove", "Remove a step, with everything nested in it", commands.remove, On.STEP),
        touches=Touches.STEP,
        gestures=(Gesture(("d", "Delete"), "Remove", "the step, with everything nested in it"),),
    ),
    Act(
        *("set_priority", "priority", "Set priority", "Give a step another priority", commands.set_priority, On.STEP),
        touches=Touches.STEP,
        needs=("priority",),
        gestures=tuple(
            Gesture((str(number),), f"{word.capitalize()} priority", f"set the priority: {word}", {"priority": word})
            for number, word in enumerate(PRIORITIES, start=1)
        ),
    ),
    Act(
        *("comment", "comment", "Comment", "Comment on a plan or a step", commands.comment, On.STEP, Touches.NOTHING),
        needs=("text",),
        takes=("comments",),
        gestures=(
            Gesture(("c",), "Comment", "on the step; at the head of a plan, on the plan", main=True),
            Gesture(("C",), "Comment on the plan", "from any of its steps", on=On.PLAN),
        ),
    ),
    Act(
        *("review", "approve", "Review", "Approve a plan, or request changes", commands.review, On.PLAN, Touches.PLAN),
        needs=("verdict",),
        takes=("text", "comments"),
        gestures=(Gesture(("v",), "Review", "approve the plan, or request changes", main=True),),
    ),
    Act(
        *("select", "select", "Run steps", "Tell the agent which steps to run", commands.select, On.PLAN),
        touches=Touches.PLAN,
        needs=("steps",),
        takes=("text", "comments"),
        gestures=(Gesture(("r",), "Run", "only the selected steps, or this one", on=On.STEP, main=True),),
    ),
    Act(
        *("suggest", "edit", "Edit as text", "Change a plan in your editor", commands.suggest, On.PLAN),
        touches=Touches.NOTHING,
        takes=("text", "changes", "plan_text"),
        gestures=(Gesture(("E",), "Edit as text", "all the steps at once"),),
    ),
    Act(
        *("withdraw", "withdraw", "Withdraw", "Withdraw a suggestion", commands.withdraw, On.SUGGESTION),
        touches=Touches.NOTHING,
        gestures=(Gesture(("u",), "Withdraw", "a suggestion that the agent has not taken up"),),
    ),
    Act(
        *("dismiss", "dismiss", "Dismiss", "Dismiss a plan; its history stays", commands.dismiss, On.PLAN),
        touches=Touches.PLAN,
        gestures=(Gesture(("X",), "Dismiss", "the plan goes, and its history stays"),),
    ),
)

#: The rows by name, in the order in which faces list them.
ACTS: Final = {act.name: act for act in _TABLE}


def act_named(name: str) -> Act:
    """The row of an act. Raises `UnknownAct` if there is none."""
    act = ACTS.get(name)
    if act is None:
        raise UnknownAct(f"there is no act {name!r}; the acts are: {', '.join(ACTS)}")
    return act


def acts_for(record: PlanRecord) -> tuple[str, ...]:
    """The names of the acts that a plan can take, for a face to offer."""
    kind = kind_of(record.state.plan)
    fit = {
        "set_priority": kind.has_priorities,
        "withdraw": bool(record.suggestions),
        "suggest": bool(record.state.steps),
        "select": bool(record.state.steps),
    }
    return tuple(
        act.name
        for act in _TABLE
        if not record.removed and (kind.has_editable_steps or not act.changes_steps) and fit.get(act.name, True)
    )


def decide(
    state: SessionState,
    plan_id: PlanId,
    wanted: Wanted,
    recall: Callable[[int], PlanRecord | None],
    by: str = USER,
    file: PlanState | None = None,
) -> Decision:
    """What an act means for a session as it is now. `recall` gives the plan as it was at a revision, which matters only
    if the plan moved on since the person saw it; `file` has the steps of a plan that is a file.

    Raises `StaleRevision` if the act does not fit the plan any more, `NothingChanges` if everything is as wanted, and
    another `PlanError` with words for the person if the plan can't do it.
    """
    act = act_named(wanted.act)
    _check_arguments(act, wanted)
    record = state.live().get(plan_id)
    if record is None:
        name = "The plan" if plan_id is None else f"The plan {plan_id!r}"
        problem = "was dismissed" if plan_id in state.plans else "is not in this session"
        raise PlanError(f"{name} {problem}. Nothing was changed.")
    seen = None
    if wanted.seen is not None and wanted.seen != record.revision:
        seen = recall(wanted.seen)
        step = wanted.after if act.touches is Touches.PLACE else wanted.target
        if is_outdated(_touches(act, wanted), step, seen, record):
            name = "the plan" if plan_id is None else f"the plan {plan_id!r}"
            problem = f"{name} changed since revision {wanted.seen} (now {record.revision}): look at it again"
            raise StaleRevision(problem, record.revision, wanted.seen)
    return act.decide(Target(record, by, seen, file), wanted)


def _touches(act: Act, wanted: Wanted) -> Touches:
    """How much an act touches. Only an approval must be about the plan as it is: a request for changes may be late."""
    return Touches.NOTHING if wanted.verdict in (CHANGES_REQUESTED, COMMENTED) else act.touches


def _check_arguments(act: Act, wanted: Wanted) -> None:
    given = [name for name in ARGUMENTS if getattr(wanted, name) is not None]
    for name in act.needs:
        if name not in given and not (name == "text" and wanted.comments):
            raise PlanError(f"{act.name} needs {name!r}")
    for name in given:
        if name not in (*act.needs, *act.takes):
            raise PlanError(f"{act.name} takes no {name!r}")


class Offer(Struct, frozen=True, array_like=True):
    """One entry of a menu of statuses: its label, its key ("" for none), the status that it sets, and its look."""

    label: str
    key: str
    status: str
    look: str


def status_offers(now: Status | None) -> tuple[Offer, ...]:
    """The statuses to offer for a step: a tick, then those that a tick does not reach, or the way back from them."""
    first = STATUSES[DEFAULT_STATUS]
    ticked = STATUSES[after_tick(now.word if now else "")]
    undo = f"not {now.spoken}" if now else ""
    [tick_key, *_] = ACTS["tick"].gestures[0].keys
    offers = [_offer(ticked, tick_key, undo if ticked is first else "")]
    for row in STATUSES.values():
        if row is first or after_tick(row.word) == first.word:
            continue
        if row is not now:
            offers.append(_offer(row, row.key if row.is_current else ""))
        elif not row.is_open:
            offers.append(_offer(first, "", undo))
    return tuple(offers)


def _offer(row: Status, key: str, label: str = "") -> Offer:
    return Offer((label or row.spoken).capitalize(), key, row.word, row.look)
