"""Real agents side by side: what a test must know of each to hold the same conversation with all of them."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.peers.agents import claude, codex, hermes, opencode
from tests.peers.plans import todo, todo_write, todowrite, update_plan
from tests.peers.relayed import Make
from tests.peers.script import Turn

__all__ = ["CLAUDE", "CODEX", "HERMES", "KINDS", "OPENCODE", "Kind"]


@dataclass(frozen=True)
class Kind:
    """One agent.

    - `listed`: the turn of its model that sets its own list, by the statuses of the steps.
    - `tool`: how its model calls a tool of planwire's server.
    - `retells`: the requests that have it tell a session's history again, plans included.
    """

    make: Make
    listed: Callable[..., Turn]
    tool: str
    retells: tuple[str, ...] = ("session/load",)

    def __str__(self) -> str:
        return self.make.__name__

    def called(self, name: str) -> str:
        """The name of a tool of planwire's, as the model calls it."""
        return self.tool.format(name)


CLAUDE = Kind(claude, todo_write, "mcp__planwire__{}")
CODEX = Kind(codex, update_plan, "mcp__planwire.{}", retells=())
OPENCODE = Kind(opencode, todowrite, "planwire_{}")
HERMES = Kind(hermes, todo, "mcp__planwire__{}", retells=("session/load", "session/resume"))
KINDS = (CLAUDE, CODEX, OPENCODE, HERMES)
