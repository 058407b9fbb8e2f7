"""The session that a server is bound to: one of its own, one that the user names, the latest of the project's folder if
it is to be shared, or the relay's.

So two hosts in one folder never work on each other's plan unless someone asked for it.
"""

import hashlib
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Final

import anyio

from planwire.errors import EngineAway, ToolError
from planwire.journal import Journal
from planwire.readmodel.away_words import go_by_last_known
from planwire.readmodel.folders import latest_of_folder
from planwire.session.handoff import Handoff, read_handoff, take_up
from planwire.session.plan_session import PlanSession
from planwire.session.recording_mark import MARK, read_mark
from planwire.tools.plan_files import holds_more

#: Limits how long an answer waits for the client to hear of it: a slow client must not stop an agent.
TOLD_SECONDS: Final = 2.0
#: Limits how long a call waits for the journal to have what the agent sent before: in a flood there is no order to
#: keep.
CAUGHT_UP_SECONDS: Final = 0.25
_LOOK: Final = 0.001
_GLANCE: Final = 0.005
_WAIT: Final = 0.02


def find_session(journal: Journal, folder: Path) -> str:
    """The folder's session with the latest event; while the journal's server is away, of those that this machine last
    knew. Without one, a name made from the folder, so that every server that looks for a session chooses the same
    one."""
    go_by_last_known(journal)
    try:
        latest = latest_of_folder(journal, str(folder))
    except EngineAway:  # this machine has seen none
        latest = None
    return latest.id if latest else _named(folder, hashlib.sha256(os.fsencode(folder)).hexdigest())


def new_session(folder: Path) -> str:
    """A name for a new session."""
    return _named(folder, secrets.token_hex(4))


def plan_folders(folder: Path) -> tuple[Path, ...]:
    """The folders whose plan files the model may read. Hosts without a project start their servers in the root or in
    the user's home: those hold more than plans, so they stay closed."""
    return () if holds_more(folder) else (folder,)


def _named(folder: Path, mark: str) -> str:
    return f"{folder.name or 'root'}-{mark[:8]}"


class RelayedSession:
    """The session that the relay names in a handoff file, sooner or later.

    The relay knows it only when the agent has answered, and the agent may wait for its servers before it answers. So
    the server starts at once, and finds its session while it answers other requests. It also has the client hear of a
    plan before the agent goes on.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        take_up(path)

    @asynccontextmanager
    async def open(self, wait_seconds: float) -> AsyncIterator[PlanSession]:
        """Open the session that the relay names now, waiting until it names one."""
        handoff = await self._bound()
        folders = _folders(handoff.folder)
        assert handoff.session is not None
        opening = PlanSession.open(handoff.journal, handoff.session, folders=folders, wait_seconds=wait_seconds)
        plans = await opening.__aenter__()
        try:
            yield plans
        finally:
            with anyio.CancelScope(shield=True):  # cancellation ends the server
                await opening.__aexit__(None, None, None)

    def named(self) -> str | None:
        """The id of the session that the relay names now, if any. An agent that has one server for all of its sessions
        calls it for the one whose turn it is."""
        handoff = read_handoff(self._path)
        return handoff.session if handoff else None

    async def told(self, revision: int) -> None:
        """Wait a moment for the client to hear of a revision, so that it comes before the agent's next words."""
        until = monotonic() + TOLD_SECONDS
        while (handoff := read_handoff(self._path)) and handoff.told < revision and monotonic() < until:
            await anyio.sleep(_GLANCE)

    async def caught_up(self) -> None:
        """Wait a moment for the journal to have what the agent sent before, so that what comes now comes after it."""
        path, until = self._path.with_name(MARK), monotonic() + CAUGHT_UP_SECONDS
        begun = read_mark(path)
        while begun and (now := read_mark(path)) and now.recorded < begun.arrived and monotonic() < until:
            await anyio.sleep(_LOOK)

    async def _bound(self) -> Handoff:
        while True:
            handoff = read_handoff(self._path)
            if handoff and handoff.problem:
                raise ToolError("no_journal", f"no plans are kept here: {handoff.problem}", "go on without plan tools")
            if handoff and handoff.session:
                return handoff
            await anyio.sleep(_WAIT)


def _folders(folder: str | None) -> tuple[Path, ...]:
    """The folders whose plan files the model may read: the session's own, if it is one."""
    try:
        return plan_folders(Path(folder).resolve(strict=True)) if folder else ()
    except (OSError, RuntimeError, ValueError):  # a client may name anything
        return ()
