"""The sessions of agents with hooks: their names, who holds them, what they go on from, and for whom there is news.

The id of a session is the agent's own. If two agents share one, the second gets a prefix. The holder is the agent's
process: its end ends the turn, whichever process notices. A cleared context mostly gets a new id, and goes on with the
plans of the session before it, which the same process held.
"""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from planwire.errors import JournalError, PlanwireError
from planwire.hooks.agents import HookPayload
from planwire.hooks.recording import HookedSession
from planwire.journal import Journal, Terms, catch_up, load_state
from planwire.journal.processes import is_running
from planwire.journal.spool_append import make_folder
from planwire.model.readers import LEAD
from planwire.model.records import PLANWIRE, SessionState
from planwire.model.unheard import news
from planwire.readmodel.states import HOOK
from planwire.session.forks import fork_session
from planwire.session.known_agents import note_agent
from planwire.steering.reach import HEAR

#: An id that is spelled the same in a payload, and that can be a file's name.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")


class HookedSessions:
    """What is known of the sessions that hooks speak of, in a journal and the folder of hooks beside it."""

    def __init__(self, journal: Journal, folder: Path) -> None:
        self._journal = journal
        self._news = folder / "news"

    def name_of(self, payload: HookPayload, known: SessionState | None = None) -> str:
        """The id of the session that a hook is of. `known`: the state of the one with its own id."""
        own = payload.heard.session
        opened = (known or load_state(self._journal, own)).opened
        if opened is None or opened.agent in (None, payload.agent.title):
            return own
        return self.second_name_of(payload)

    @staticmethod
    def second_name_of(payload: HookPayload) -> str:
        """The id of a session whose own id is taken by another agent's."""
        return f"{payload.agent.name}-{payload.heard.session}"

    def held(self) -> list[str]:
        """The sessions that agents with hooks hold."""
        return [each.session for each in self._journal.leases() if each.is_held and each.terms.holder == HOOK]

    def is_working(self, session: str, process: str) -> bool | None:
        """Whether a turn is on, as far as the holder of a session said."""
        terms = (each.terms for each in self._journal.leases() if each.session == session)
        return next((each.is_working for each in terms if each.process == process and each.holder == HOOK), None)

    def hold(self, session: str, process: str, after: HookedSession) -> None:
        """Have the agent's process hold its session, or let go of it. A process that ended after its turn holds
        nothing; one that ended in the middle of a turn leaves a lapsed lease."""
        is_alive = is_running(process)
        if after.is_over or not (is_alive or after.is_working):
            self._journal.lease(session, Terms(HOOK, process=process)).release()
        elif is_alive:
            terms = Terms(HOOK, bool(after.is_working), (HEAR,), process)
            if not any(each.session == session and each.terms == terms for each in self._journal.leases()):
                self._journal.lease(session, terms)
                opened = after.state.opened
                note_agent(process, (opened.agent if opened else None) or "")

    def let_rest(self, session: str, process: str) -> None:
        """Have the agent's process hold a session at rest: its turn ended, but no drained hook says so."""
        if self.is_working(session, process):
            self.hold(session, process, HookedSession(load_state(self._journal, session), is_working=False))

    def follow_on(self, session: str, agent: str, folder: str | None, process: str) -> None:
        """Begin a session with the plans of the one that its agent had before its context was cleared. One process may
        run many sessions: if more than one fits, none is chosen."""
        if self._journal.last_seq(session) or not process:
            return
        leases = (each for each in self._journal.leases() if each.terms.holder == HOOK)
        held = {each.session for each in leases if each.terms.process == process and not each.terms.is_working}
        states = [load_state(self._journal, each) for each in held - {session}]
        meant = [each for each in states if each.has_work_left and _is_at(each, agent, folder)]
        if len(meant) == 1:
            with suppress(PlanwireError):
                fork_session(self._journal, meant[0].id, session, None, PLANWIRE)
                self._journal.lease(meant[0].id, Terms(HOOK, process=process)).release()

    def mark_news(self, session: str, known: SessionState | None = None) -> None:
        """Leave signs for hooks if people said something that the agent or a sub-agent has not heard, and remove
        outdated ones. A sign is named after its addressee's id, which a hook finds in its payload: so what waits for a
        sub-agent, which may be gone, costs other hooks nothing."""
        with suppress(OSError, JournalError):
            state = catch_up(self._journal, known) if known else load_state(self._journal, session)
            children = {each.reader for each in state.live().values()} - {LEAD}
            is_due = state.compacted > state.recapped and state.has_work_left
            self._mark(session, is_due or bool(state.pending or news(state)))
            for reader in children:
                self._mark(reader.partition("@")[2], bool(news(state, reader=reader)))

    def _mark(self, name: str, has_news: bool) -> None:
        if not _PLAIN.fullmatch(name):  # no agent's id is any other
            return
        if has_news:
            make_folder(str(self._news.parent))
            make_folder(str(self._news))
            os.close(os.open(self._news / name, os.O_CREAT | os.O_WRONLY, 0o600))
        else:
            (self._news / name).unlink(missing_ok=True)


def _is_at(state: SessionState, agent: str, folder: str | None) -> bool:
    return state.opened is not None and (state.opened.agent, state.opened.cwd) == (agent, folder)
