"""The process of an agent, as its hooks see it: their nearest ancestor that is not a shell.

An agent runs its hooks in a shell, which ends with them. The agent itself stays, and its end is the end of its turn,
whatever the cause.
"""

from typing import Final

_SHELLS: Final = frozenset(("sh", "ash", "bash", "busybox", "dash", "env", "fish", "ksh", "mksh", "zsh"))


def agent_process(ancestors: str) -> str:
    """The name of the agent's process (`journal.processes`), from what a hook noted: `PID:START:PROGRAM`, nearest
    first, separated by commas. Empty if there is none."""
    for each in ancestors.split(","):
        pid, _, rest = each.partition(":")
        began, _, program = rest.partition(":")
        if pid.isdecimal() and began and program not in _SHELLS:
            return f"{pid}-{began}"
    return ""
