"""The words that teach a model when a plan is worth making, and how to keep it.

Agents that rewrote their list all the time paid for it in tokens and did not get better; agents that lost their plan
with a compaction got worse. So: few plans, written once, then only changes, never the whole again.
"""

from typing import Final

NAME: Final = "plan"
TITLE: Final = "Work to a plan"
SUMMARY: Final = "When a plan is worth making, how to make it, and how to keep it up to date."

#: A host gives this to the model in every conversation: it is short.
INSTRUCTIONS: Final = (
    "Keeps the plan of longer work outside your context, where people can watch, change and review it. "
    "Call get_plan before you begin or continue work of several steps. What answers have under people or remarks, "
    "people said: heed it."
)

_TEXT: Final = """\
First decide whether the work needs a plan at all.
- It does if it has several steps that depend on each other, may outlast your context, is shared with other agents, or \
if a person should agree before you begin.
- It does not if you would answer at once or be done after a few actions: a list kept for its own sake costs more than \
it helps.

If it does:
1. get_plan: if there is a plan for this work, continue it, and keep its decisions. If it is under unfinished, take it \
up with get_plan and its session first.
2. set_plan: three to ten steps in order, each with an outcome that can be checked. High priority is for steps \
that the goal fails without. The summary says why.
3. If a person should agree: get_plan with wait="review". If it is still_waiting, call again. Heed what people say \
(people: since your last call; remarks: all that holds) and run only the steps that a selection names. \
update_plan with answers says what became of a remark.
4. update_plan when a step begins or is done, with only the change. A step is completed when it is checked. \
A note is for what you would otherwise have to find out again.
5. get_plan again when you no longer see the plan, or were refused: people may have changed it.
6. remove_plan when the work is over and nobody needs the plan any more.\
"""


def prompt_text(task: str | None = None) -> str:
    """The prompt, for a task if there is one."""
    return f"{_TEXT}\n\nThe work: {task.strip()}" if task and task.strip() else _TEXT
