"""Whose calls planwire's tool server gets: the hook before a call binds it to its session.

An agent may have one server for all of its sessions, or clear its context and go on with the same server. The hook
before a call knows the session and the call, and leaves both in a file. The server finds this file by the id of the
call, or by tool and arguments, but the latter never for another agent. A host that names the session itself needs no
hook. Without such a hook, the process has to tell: the session is the one that this agent's process holds.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import Any, Final, NamedTuple

from planwire.hooks.agent_process import agent_process
from planwire.hooks.agents import HookPayload, read_hook
from planwire.hooks.happenings import OwnCall
from planwire.hooks.hooked_sessions import HookedSessions
from planwire.hooks.loose_fields import id_in
from planwire.journal import Journal
from planwire.journal.processes import lineage
from planwire.journal.spool import read_note
from planwire.readmodel.states import HOOK

#: Where hosts put the id of a model's call, and that of its session.
_CALL_IDS: Final = ("claudecode/toolUseId", "callId")
_SESSION_IDS: Final = ("sessionId", "threadId")
#: Seconds after which an announced call no longer comes: it was denied, or interrupted.
_OLD: Final = 600


class BoundCall(NamedTuple):
    """The session that a call is for, its agent and its folder as far as they are known, and the id of the call."""

    session: str
    agent: str | None = None
    folder: str | None = None
    call: str | None = None


class _Left(NamedTuple):
    """What the hook before a call left."""

    path: Path
    payload: HookPayload
    is_of_this_agent: bool | None  # None: not known

    def is_for(self, call: str | None, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether it is for that call: by its id if both have one, otherwise by what is called. Another agent calls the
        same tools, often with the same words."""
        heard = self.payload.heard
        if call is not None and heard.call is not None:
            return call == heard.call
        if self.is_of_this_agent is False:
            return False
        wanted = (each for each in heard.what if isinstance(each, OwnCall))
        return any(each.tool == tool and (each.arguments or {}) == arguments for each in wanted)


class OwnCalls:
    """The calls that hooks announced in a folder. One server asks for its own."""

    def __init__(self, journal: Journal, folder: Path) -> None:
        self._journal = journal
        self._folder = folder / "calls"
        self._sessions = HookedSessions(journal, folder)
        self._lineage = frozenset(lineage())

    def bind(self, tool: str, arguments: Mapping[str, Any], meta: Mapping[str, Any]) -> BoundCall | None:
        """The session of a call; None if it is not known."""
        call = _id(meta, _CALL_IDS)
        fits = [each for each in self._left() if each.is_for(call, tool, arguments)]
        found = next((each for each in fits if each.is_of_this_agent), fits[0] if fits else None)
        if found is not None:
            with suppress(OSError):
                found.path.unlink()
            heard, agent = found.payload.heard, found.payload.agent
            return BoundCall(self._sessions.name_of(found.payload), agent.title, heard.folder, call or heard.call)
        if (named := _id(meta, _SESSION_IDS)) is not None:
            return BoundCall(named, call=call)
        held = self._held()
        return BoundCall(held, call=call) if held else None

    def _left(self) -> Iterator[_Left]:
        """What hooks left, the newest first, because a denied call leaves something too."""
        try:
            names = sorted(os.listdir(self._folder), reverse=True)  # noqa: PTH208  (names are all it takes)
        except OSError:
            return
        for name in names:
            path = self._folder / name
            with suppress(OSError):
                if time_ns() - path.stat().st_mtime_ns > _OLD * 10**9:
                    path.unlink()
                if name.startswith("."):  # it is being written
                    continue
                head, _, body = path.read_bytes().partition(b"\n")
                note = read_note(head)
                payload = read_hook(body, note.get("agent"), note.get("variables", "").split())
                if payload is not None:
                    process = agent_process(note.get("ancestors", ""))
                    yield _Left(path, payload, process in self._lineage if process else None)

    def _held(self) -> str | None:
        """The session that this agent's process holds, the latest if there are several."""
        leases = (each for each in self._journal.leases() if each.terms.holder == HOOK and each.is_held)
        found = [each.session for each in leases if each.terms.process in self._lineage]
        return found[-1] if found else None


def _id(meta: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next(filter(None, (id_in(meta, key) for key in keys)), None)
