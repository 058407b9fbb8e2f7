"""The shell command that an agent's hook files name: the one place that spells it.

`-S -I` makes Python start in less time: no site packages, and nothing from the environment. An exit status other than 0
can be a veto, and what goes to standard error may be shown to a person: so neither leaves the command, even if Python
or planwire is no longer where it was.
"""

import shlex
from pathlib import Path
from typing import Final, Literal, TypeAlias

from planwire.own_process import isolated

#: `record` what a hook says; also `tell` the model something, or only the `news` of what people said; allow a `call` of
#: planwire's own tools; `ask` a person.
Role: TypeAlias = Literal["record", "tell", "news", "call", "ask"]
#: The end of each command, which the shell needs as it is.
QUIETLY: Final = " 2>/dev/null || :"
ENTRY: Final = Path(__file__).with_name("entry.py")


def hook_command(role: Role, folder: str | Path, agent: str | None = None) -> str:
    """The command of a hook, for `sh`. `folder` is the folder of hooks beside the journal; `agent` is its row in the
    table of agents, if the hook files are for that agent alone."""
    words = isolated("-S", str(ENTRY), role, str(folder), *([agent] if agent else []))
    return f"{shlex.join(words)}{QUIETLY}"
