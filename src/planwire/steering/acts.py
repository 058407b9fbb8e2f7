"""The acts of people on plans: one table, one row per act.

Every face is built from it: the terminal's keys and menus, the board's buttons and keys, the commands of the command
line, and the tables of keys in the documentation. A new act is a function in `commands` and a row here.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.errors import PlanError, StaleRevision, UnknownAct, UnknownPlan
from planwire.model.events import CHANGES_REQUESTED, COMMENTED, Remarked
from planwire.model.kinds import address_of, kind_of
from planwire.model.plan import PRIORITIES, PlanId
from planwire.model.records import USER, PlanRecord, SessionState
from planwire.model.statuses import STATUSES
from planwire.model.step_changes import AddStep
from planwire.model.steps import PlanState
from planwire.steering import commands, now, remark_acts, reviews
from planwire.steering.answers import with_verdict
from planwire.steering.commands import suggested_step
from planwire.steering.conflict import Touches, is_outdated
from planwire.steering.edits import refuse_untaken
from planwire.steering.now import with_telling
from planwire.steering.reach import NOBODY, STOP, TELL, Reach
from planwire.steering.reviews import to_run
from planwire.steering.target import Decision, Target, refuse_unchangeable
from planwire.steering.wanted import ARGUMENTS, Wanted
from planwire.steering.words import named


class On(Enum):
    """What an act is on: the thing that a person points at."""

    STEP = "step"
    PLAN = "plan"
    REMARK = "remark"


class Gesture(Struct, frozen=True):
    """One way to do an act with a key: the keys, the words for it, and the arguments that the key stands for.

    Keys are written as people read them: `x`, `Space`, `Alt+Up`. `on` is what the key works on, if that differs from
    its act: a plan's own key for a comment, say. A short list of keys shows only the `main` ones.
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
    - `on`: what it is on. `needs`: its required arguments. `takes`: its optional arguments.
    - `touches`: how much of the plan must still be as the person saw it.
    - `or_plan`: without a target it is on the plan as a whole. `any_plan`: it changes no step, so plans without steps
      take it, too. `on_suggested`: it is also for steps that are only suggested. `on_past`: a dismissed plan takes it,
      too.
    - `opens_file`: on a plan file, a face with an editor opens the file for it. `is_final`: it can't be undone once it
      is done rather than suggested. `gestures`: its keys.
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
    or_plan: bool = False
    any_plan: bool = False
    on_suggested: bool = False
    on_past: bool = False
    opens_file: bool = False
    is_final: bool = False
    gestures: tuple[Gesture, ...] = ()

    @property
    def needs_target(self) -> bool:
        """Whether it needs a target."""
        return self.on is not On.PLAN and not self.or_plan


_TABLE: Final = (
    Act(
        *("tick", "tick", "Tick", "Mark a step done, or undo that", commands.tick, On.STEP, Touches.STEP),
        gestures=(Gesture(("x", "Space"), "Tick", "mark done, or undo that", main=True),),
    ),
    Act(
        *("set_status", "status", "Set status", "Set a step's status", commands.set_status, On.STEP),
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
        *("reword", "reword", "Reword", "Reword a step", commands.reword, On.STEP, Touches.STEP),
        needs=("text",),
        on_suggested=True,
        opens_file=True,
        gestures=(Gesture(("e",), "Reword", "change the text, or open the plan file", main=True),),
    ),
    Act(
        *("add", "add", "Add step", "Add a step to a plan", commands.add, On.PLAN, Touches.PLACE),
        needs=("text",),
        takes=("after",),
        on_suggested=True,
        gestures=(
            Gesture(("a",), "Add", "a new step below this one", on=On.STEP, main=True),
            Gesture(("A",), "Add at the end", "a new last step", on=On.PLAN),
        ),
    ),
    Act(
        *("move", "move", "Move", "Move a step", commands.move, On.STEP, Touches.STEP),
        takes=("after", "before", "by"),
        gestures=(
            Gesture(("K", "Alt+Up"), "Move up", "one place, on the same level", {"by": -1}),
            Gesture(("J", "Alt+Down"), "Move down", "one place, on the same level", {"by": 1}),
        ),
    ),
    Act(
        *("remove", "remove", "Remove", "Remove a step and everything nested in it", commands.remove, On.STEP),
        touches=Touches.STEP,
        on_suggested=True,
        is_final=True,
        gestures=(Gesture(("d", "Delete"), "Remove", "the step and everything nested in it"),),
    ),
    Act(
        *("set_priority", "priority", "Set priority", "Set a step's priority", commands.set_priority, On.STEP),
        touches=Touches.STEP,
        needs=("priority",),
        gestures=tuple(
            Gesture((str(number),), f"{word.capitalize()} priority", f"set the priority: {word}", {"priority": word})
            for number, word in enumerate(PRIORITIES, start=1)
        ),
    ),
    Act(
        *("comment", "comment", "Comment", "Comment on a plan or a step", reviews.comment, On.STEP, Touches.NOTHING),
        needs=("text",),
        takes=("comments", "passage", "keep", "now", "interrupt"),
        or_plan=True,
        any_plan=True,
        gestures=(
            Gesture(("c",), "Comment", "on this step, or on this plan", main=True),
            Gesture(("C",), "Comment on the plan", "from any step", on=On.PLAN),
        ),
    ),
    Act(
        *("review", "approve", "Review", "Approve a plan, or request changes", reviews.review, On.PLAN, Touches.PLAN),
        needs=("verdict",),
        takes=("option", "question", "text", "comments", "keep", "now", "interrupt", "edited"),
        any_plan=True,
        gestures=(Gesture(("v",), "Review", "approve the plan, or request changes", main=True),),
    ),
    Act(
        *("select", "select", "Run steps", "Tell the agent which steps to run", reviews.select, On.PLAN),
        touches=Touches.PLAN,
        needs=("steps",),
        takes=("text", "comments", "keep", "now", "interrupt"),
        any_plan=True,
        gestures=(Gesture(("r",), "Run", "only the selected steps, or this one", on=On.STEP, main=True),),
    ),
    Act(
        *("tell", "tell", "Tell now", "Have the agent hear now what people said", now.tell, On.PLAN, Touches.NOTHING),
        takes=("text", "interrupt"),
        any_plan=True,
        gestures=(Gesture(("t",), "Tell now", "have the agent hear now what people said"),),
    ),
    Act(
        *("stop", "stop", "Stop", "Stop the agent's turn", now.stop, On.PLAN, Touches.NOTHING),
        any_plan=True,
        is_final=True,
        gestures=(Gesture(("S",), "Stop", "cancel the agent's turn"),),
    ),
    Act(
        *("suggest", "edit", "Edit as text", "Edit a plan in your editor", commands.suggest, On.PLAN),
        touches=Touches.CHANGES,
        takes=("text", "changes", "plan_text"),
        opens_file=True,
        gestures=(Gesture(("E",), "Edit as text", "all the steps at once"),),
    ),
    Act(
        *("withdraw", "withdraw", "Withdraw", "Withdraw a remark, or undo a verdict", remark_acts.withdraw, On.REMARK),
        touches=Touches.NOTHING,
        takes=("text",),
        or_plan=True,
        any_plan=True,
        on_suggested=True,
        on_past=True,
        gestures=(Gesture(("u",), "Withdraw", "a remark that is still open, or a verdict that is not sent yet"),),
    ),
    Act(
        *("reopen", "reopen", "Reopen", "Reopen a plan, or a remark on it", remark_acts.reopen, On.REMARK),
        touches=Touches.NOTHING,
        or_plan=True,
        any_plan=True,
        on_past=True,
        gestures=(Gesture(("U",), "Reopen", "a remark that is closed, or a plan that has ended"),),
    ),
    Act(
        *("dismiss", "dismiss", "Dismiss", "Dismiss a plan; its history stays", commands.dismiss, On.PLAN),
        touches=Touches.PLAN,
        any_plan=True,
        is_final=True,
        gestures=(Gesture(("X",), "Dismiss", "remove the plan; its history stays"),),
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


def acts_for(record: PlanRecord, reach: Reach = NOBODY) -> tuple[str, ...]:
    """The names of the acts that a face can offer for a plan, while its agent has this `reach`."""
    kind, steps = kind_of(record.state.plan), record.state.steps
    fit = {
        "set_priority": kind.has_priorities,
        "withdraw": bool(record.open_remarks or record.pending),
        "reopen": not record.is_living or any(each.closed for each in record.remarks),
        "tell": TELL in reach.can,
        "stop": STOP in reach.can and reach.is_working,
        "suggest": bool(steps),
        "select": any(step.is_open for step in steps),
    }
    is_editable = kind.has_editable_steps and all(step.status for step in steps)
    return tuple(
        act.name
        for act in _TABLE
        if (not record.removed or act.on_past)
        and (is_editable or act.any_plan)
        and (steps or act.on is not On.STEP or not act.needs_target)
        and fit.get(act.name, True)
    )


def is_for_now(wanted: Wanted) -> bool:
    """Whether the effect of an act depends on who runs the agent at this moment: a verdict, which may answer the
    agent's question, words that the agent is to hear now, or a stop."""
    is_verdict = wanted.act == "review" and wanted.verdict != COMMENTED
    return is_verdict or bool(wanted.now) or wanted.act in ("tell", "stop")


def decide(
    state: SessionState,
    plan_id: PlanId,
    wanted: Wanted,
    recall: Callable[[int], PlanRecord | None],
    by: str = USER,
    file: PlanState | None = None,
    reach: Reach = NOBODY,
    undo: int = 0,
) -> Decision:
    """What an act means for a session as it is now, whose agent has this `reach`. `recall` returns the plan as it was
    at a revision; it is called only if the plan changed since the person saw it. `file` has the steps of a plan file.
    A verdict can be taken back for `undo` milliseconds.

    Raises `StaleRevision` if the act no longer fits the plan, `NothingChanges` if everything is as wanted, and another
    `PlanError` with words for the person if the plan can't take it.
    """
    act = act_named(wanted.act)
    _check_arguments(act, wanted)
    record = state.plans.get(plan_id)
    if record is None:
        raise UnknownPlan("This session has no such plan. Nothing was changed.")
    wanted = with_verdict(state, record, wanted)
    if _touches(act, wanted) is not Touches.NOTHING:
        _refuse_dismissed(act, record)
    seen = None
    if wanted.seen is not None and wanted.seen != record.revision:
        seen = recall(wanted.seen)
        if not wanted.anyway and is_outdated(_touches(act, wanted), wanted, seen, record):
            problem = f"changed since revision {wanted.seen} (now {record.revision}). Look at it again."
            raise StaleRevision(f"{named(record.state.plan)} {problem}", record.revision, wanted.seen)
    is_now = bool(wanted.now) or act.name == "tell"
    on = Target(state, record, by, seen, file, reach, is_now)
    decision = _about_seen(on, act.decide(on, wanted))
    return with_telling(on, wanted, decision) if is_now else reviews.undoable(on, decision, undo)


def _about_seen(on: Target, decision: Decision) -> Decision:
    """The decision, with each remark about the words that the person saw."""
    texts, said = on.texts, decision.events
    said = tuple(replace(each, about=_named(each, texts)) if isinstance(each, Remarked) else each for each in said)
    return replace(decision, events=said)


def _named(remark: Remarked, seen: dict[str, str]) -> dict[str, str]:
    """The texts of the steps that a remark is about."""
    changed = (each.step for each in remark.changes if not isinstance(each, AddStep))
    named = dict.fromkeys([*filter(None, (remark.step,)), *remark.steps, *changed])
    return {step: seen[step] for step in named if step in seen}


def check_early(record: PlanRecord, wanted: Wanted) -> None:
    """Raise `PlanError` if the plan can't take an act whatever its missing arguments will be, so that a face refuses
    before it asks for them."""
    act, on = act_named(wanted.act), Target(SessionState(""), record)
    _refuse_dismissed(act, record)
    if not act.any_plan:
        refuse_unchangeable(record)
    if wanted.edited is not None:
        refuse_untaken(record)
    if wanted.steps is not None and address_of(record.state.plan) is None:  # a file may have changed since
        to_run(record, wanted.steps)
    if wanted.is_on_remark and act.name == "reword":
        suggested_step(on, wanted.target or "")
    elif wanted.is_on_remark and act.on is On.STEP and not act.on_suggested:
        on.step(wanted.target)


def _refuse_dismissed(act: Act, record: PlanRecord) -> None:
    if record.removed and not act.on_past:
        raise UnknownPlan(f"{named(record.state.plan)} was dismissed. Nothing was changed.")


def _touches(act: Act, wanted: Wanted) -> Touches:
    """How much an act touches. An approval must be of the plan as it is; other verdicts may be late. A suggestion does
    not change while it is open."""
    is_late = wanted.verdict in (CHANGES_REQUESTED, COMMENTED)
    return Touches.NOTHING if is_late or wanted.is_on_remark else act.touches


#: Required arguments, each with another argument that can stand in for it.
_INSTEAD: Final = {"text": "comments", "verdict": "option"}


def _check_arguments(act: Act, wanted: Wanted) -> None:
    given = [name for name in ("target", *ARGUMENTS) if getattr(wanted, name) is not None]
    needs = (("target",) if act.needs_target else ()) + act.needs
    for name in needs:
        if name not in given and not (name in _INSTEAD and getattr(wanted, _INSTEAD[name]) is not None):
            raise PlanError(f"The act {act.name!r} needs {name!r}.")
    takes = (() if act.on is On.PLAN else ("target",)) + act.needs + act.takes
    for name in given:
        if name not in takes:
            raise PlanError(f"The act {act.name!r} doesn't take {name!r}.")
    if wanted.seen is None and (wanted.plan_text is not None or wanted.edited is not None):
        raise PlanError("An edited plan needs 'seen', the revision that was edited: steps since then are not in it.")
