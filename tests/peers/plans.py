"""What a model says to make a plan with each agent's own tools: the same three steps everywhere."""

from tests.peers.script import Call, Turn, call, say

__all__ = [
    "PROPOSAL",
    "STEPS",
    "enter_plan_mode",
    "exit_plan_mode",
    "proposed_plan",
    "task_create",
    "task_update",
    "todo",
    "todo_write",
    "todowrite",
    "update_plan",
    "write_todos",
]

STEPS = ("Read the config file", "Write the parser — with ünïcode", "Run the tests")
WORKING_ON = ("Reading the config file", "Writing the parser", "Running the tests")
PROPOSAL = "# Plan\n\n1. Read the config\n2. Write the *parser*\n\n```py\nprint('x')\n```"


def todo_write(*statuses: str) -> Turn:
    """claude-agent-acp's whole list: a status for each step, none to empty the list."""
    named = zip(STEPS, WORKING_ON, statuses, strict=False)
    return call("TodoWrite", todos=[{"content": c, "activeForm": a, "status": s} for c, a, s in named])


def write_todos(*statuses: str) -> Turn:
    """deepagents-acp's whole list."""
    return call("write_todos", todos=[{"content": c, "status": s} for c, s in zip(STEPS, statuses, strict=False)])


def update_plan(*statuses: str) -> Turn:
    """codex-acp's whole list."""
    return call("update_plan", plan=[{"step": c, "status": s} for c, s in zip(STEPS, statuses, strict=False)])


def todowrite(*statuses: str) -> Turn:
    """OpenCode's whole list."""
    named = zip(STEPS, statuses, strict=False)
    return call("todowrite", todos=[{"content": c, "status": s, "priority": "medium"} for c, s in named])


def todo(*statuses: str) -> Turn:
    """hermes-agent's whole list."""
    named = enumerate(zip(STEPS, statuses, strict=False))
    return call("todo", todos=[{"id": str(number), "content": c, "status": s} for number, (c, s) in named])


def task_create(*numbers: int) -> Turn:
    """claude-agent-acp's single tasks, by their numbers from 1."""
    made = ({"subject": STEPS[n - 1], "description": STEPS[n - 1], "activeForm": WORKING_ON[n - 1]} for n in numbers)
    return Turn(calls=tuple(Call("TaskCreate", arguments) for arguments in made))


def task_update(number: int, status: str) -> Turn:
    """One task's new status; `deleted` takes it off the list."""
    return call("TaskUpdate", taskId=str(number), status=status)


def enter_plan_mode() -> Turn:
    """claude-agent-acp begins to plan, which nobody need allow."""
    return call("EnterPlanMode")


def exit_plan_mode(proposal: str = PROPOSAL) -> Turn:
    """claude-agent-acp shows its plan and asks for permission to go on."""
    return call("ExitPlanMode", plan=proposal)


def proposed_plan(proposal: str = PROPOSAL) -> Turn:
    """codex-acp, in its plan mode, shows its plan and asks whether to carry it out."""
    return say(f"<proposed_plan>\n{proposal}\n</proposed_plan>\n")
