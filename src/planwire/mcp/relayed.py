"""A server behind the relay: it learns its session late, and lets the client hear of a plan before the agent goes on.

The relay knows the session only when the agent has answered, and the agent may wait for its servers before it answers.
So the server starts at once, and finds its session while it answers other requests.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Final

import anyio

from planwire.errors import ToolError
from planwire.mcp.project_session import plan_folders
from planwire.session.handoff import Handoff, read_handoff
from planwire.session.plan_session import PlanSession

__all__ = ["RelayedSession"]

#: Limits how long an answer waits for the client to hear of it: a slow client must not stop an agent.
TOLD_SECONDS: Final = 2.0
_GLANCE: Final = 0.005
_WAIT: Final = 0.02


class RelayedSession:
    """The session that the relay names in a hand-off file, sooner or later."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @asynccontextmanager
    async def open(self, wait_seconds: float) -> AsyncIterator[PlanSession]:
        """The session, as soon as the relay has named it."""
        binding = await self._bound()
        folders = _folders(binding.folder)
        assert binding.session is not None
        opening = PlanSession.open(binding.journal, binding.session, folders=folders, wait_seconds=wait_seconds)
        plans = await opening.__aenter__()
        try:
            yield plans
        finally:
            with anyio.CancelScope(shield=True):  # cancellation ends the server
                await opening.__aexit__(None, None, None)

    async def told(self, revision: int) -> None:
        """Wait a moment for the client to hear of a revision, so that it comes before the agent's next words."""
        until = monotonic() + TOLD_SECONDS
        while (binding := read_handoff(self._path)) and binding.told < revision and monotonic() < until:
            await anyio.sleep(_GLANCE)

    async def _bound(self) -> Handoff:
        while True:
            binding = read_handoff(self._path)
            if binding and binding.problem:
                raise ToolError("no_journal", f"no plans are kept here: {binding.problem}", "go on without plan tools")
            if binding and binding.session:
                return binding
            await anyio.sleep(_WAIT)


def _folders(folder: str | None) -> tuple[Path, ...]:
    """The folders whose plan files the model may read: the session's own, if it is one."""
    try:
        return plan_folders(Path(folder).resolve(strict=True)) if folder else ()
    except (OSError, RuntimeError, ValueError):  # a client may name anything
        return ()
