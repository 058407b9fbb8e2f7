"""The process of an agent, as its hooks see it: the nearest of their ancestors that is no shell.

An agent has its hooks run by a shell, which is gone when they are. The agent itself stays, and its end is the end of
its turn, however it comes.
"""

from typing import Final

__all__ = ["agent_process"]

_SHELLS: Final = frozenset(("sh", "ash", "bash", "busybox", "dash", "env", "fish", "ksh", "mksh", "zsh"))


def agent_process(ancestors: str) -> str:
    """The name of the agent's process (`journal.processes`), from what a hook noted: `PID:START:PROGRAM`, nearest
    first, separated by commas. Empty if it does not say."""
    for each in ancestors.split(","):
        pid, _, rest = each.partition(":")
        began, _, program = rest.partition(":")
        if pid.isdecimal() and began and program not in _SHELLS:
            return f"{pid}-{began}"
    return ""
