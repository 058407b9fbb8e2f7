"""From the spool of hooks to the journal: every process that opens the journal drains the spool first.

All that waits in the spool for one session is one append, under the key of its segment: a drainer that is killed leaves
all of it or nothing, and the next one repeats it without doubling anything. The drainer decides what a hook tells, on
the state after everything that came before that hook; so of parallel hooks only one tells.
"""

import logging
import re
from collections.abc import Container, Iterable
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import Final, NamedTuple

from planwire.errors import DamagedJournal, UnstorableEvent
from planwire.hooks.agent_process import agent_process
from planwire.hooks.agents import HookPayload, read_hook
from planwire.hooks.answer_files import AnswerFiles, OfferedTelling
from planwire.hooks.answers import AllowCall, Tell
from planwire.hooks.happenings import Chance, Ended, HookCall, Started, TurnBegan, TurnOver
from planwire.hooks.hooked_sessions import HookedSessions
from planwire.hooks.looking import looked_up
from planwire.hooks.recording import TERMINAL, HookedSession, record
from planwire.hooks.review_events import held_back
from planwire.hooks.telling import to_tell
from planwire.journal import Journal, Once, Stamped, catch_up, load_state
from planwire.journal.drainer_lock import DrainerLock
from planwire.journal.spool import Lost, Segment, Spool, Spooled
from planwire.journal.unusable import UNUSABLE
from planwire.journal.waiting import id_suffix
from planwire.model.clocks import time_after
from planwire.model.events import Gap, Recorded, SessionOpened, Told
from planwire.model.fold import fold
from planwire.model.records import PLANWIRE, SessionState
from planwire.session.origin import placed
from planwire.session.pending_reviews import PendingReviews
from planwire.session.writer import append_latest, stamped

#: The id of a session, in the remains of a payload.
_SESSION: Final = re.compile(rb'"session_?[iI]d"\s*:\s*"([^"\\\\]{1,200})"')
#: Milliseconds after which no hook still waits for an answer.
_WAITS: Final = 10_000
_log = logging.getLogger("planwire")
_FULL: Final = "the spool of hooks was full or is damaged, or a hook was cut short"
_ANYBODYS: Final = f"{_FULL}; it may have been of another session that waited there"


class _WaitingHook(NamedTuple):
    """A hook that waits in the spool."""

    spooled: Spooled
    payload: HookPayload
    heard: HookCall

    @property
    def answer(self) -> str:
        return self.spooled.note.get("answer", "")

    @property
    def is_waiting(self) -> bool:
        """Whether it may still be there to hear an answer."""
        return time_ns() // 1_000_000 - self.spooled.at < _WAITS


class _HookReply(NamedTuple):
    """The answer for a hook, and what it tells."""

    name: str
    said: bytes
    offer: OfferedTelling | None


class HookDrainer:
    """Drains the spool in a folder of hooks into its journal. One process does so at a time."""

    def __init__(self, journal: Journal, folder: Path) -> None:
        self._journal = journal
        self._spool = Spool(folder)
        self._answers = AnswerFiles(folder)
        self._sessions = HookedSessions(journal, folder)
        self._pending = PendingReviews(journal)
        self._states: dict[str, SessionState] = {}  # of the sessions in a segment
        self.lock = DrainerLock(folder)

    @property
    def has_work(self) -> bool:
        """Whether hooks wait, or answers that were said have yet to be recorded."""
        return not self._spool.is_empty() or self._answers.are_any

    def drain(self) -> None:
        """Drain what is there. The caller holds the lock; an empty spool costs next to nothing. What can't be
        understood at all is set aside: it must not keep the rest from the journal."""
        self.settle()
        for segment in self._spool.drain(self.lock):
            try:
                is_taken = self._take(segment)
            except UNUSABLE:  # the segment stays for the next drainer
                raise
            except Exception:
                segment.set_aside()
            else:
                if is_taken:
                    segment.done()

    def mark_news(self, among: Container[str] | None = None) -> None:
        """Mark the sessions with news, of all that agents with hooks hold or of those `among` some."""
        for session in self._sessions.held():
            if among is None or session in among:
                self._sessions.mark_news(session)

    def settle(self) -> None:
        """Record which answers hooks have said. While the journal is unavailable, the answers stay where they are."""
        for each in self._answers.settle():
            if each.told is not None and self._journal.last_seq(each.session):  # else it was forgotten
                with suppress(DamagedJournal, UnstorableEvent):
                    told = stamped([each.told], PLANWIRE)
                    self._journal.append(each.session, told, once=Once(f"hook:{each.name}", 0))
                self._sessions.mark_news(each.session)

    def _take(self, segment: Segment) -> bool:
        """Record what is in a segment. Returns False if another process has taken over meanwhile. A damaged session
        does not keep the others from being recorded."""
        self._states.clear()
        waiting: dict[str, list[_WaitingHook]] = {}
        lost: list[Lost] = []
        for each in segment:
            if isinstance(each, Lost):
                lost.append(each)
                continue
            with suppress(DamagedJournal, UnstorableEvent):
                self._sort(each, waiting)
        for session, hooks in waiting.items():
            if not self.lock.is_held:  # this also shows that we are alive, however many there are
                return False
            with suppress(DamagedJournal, UnstorableEvent):
                self._record(session, hooks, segment.name)
        for each in lost:
            found = _SESSION.search(each.head)
            for session in (found[1].decode("utf-8", "replace"),) if found else waiting:
                with suppress(DamagedJournal, UnstorableEvent):
                    self._note_loss(session, each, _FULL if found else _ANYBODYS)
            if not found and not waiting:
                _log.warning("%d of the records that agents' hooks left are lost: nobody knows whose", each.count)
        return True

    def _sort(self, given: Spooled, waiting: dict[str, list[_WaitingHook]]) -> None:
        """Add a record to those of its session, or deal with it at once."""
        if (found := self._read(given)) is not None:
            session = self._sessions.name_of(found.payload, self._state(found.payload.heard.session))
            others = waiting.get(session, [found])
            if others[0].payload.agent is not found.payload.agent:
                session = self._sessions.second_name_of(found.payload)
            waiting.setdefault(session, []).append(found)
        elif given.note.get("answer"):
            self._answers.write(given.note["answer"], b"", None)

    def _state(self, session: str) -> SessionState:
        """A session as it was when the segment first spoke of it. Whoever writes looks for what came since."""
        if session not in self._states:
            self._states[session] = load_state(self._journal, session)
        return self._states[session]

    def _read(self, spooled: Spooled) -> _WaitingHook | None:
        note = spooled.note
        payload = read_hook(spooled.body, note.get("agent"), note.get("variables", "").split())
        if payload is None:
            return None
        heard = looked_up(payload.heard)
        return _WaitingHook(spooled, payload, held_back(heard) if note.get("role") == "ask" else heard)

    def _record(self, session: str, hooks: list[_WaitingHook], segment: str) -> None:
        """Append what the hooks of a session say, and answer those that wait for it."""
        process = next(filter(None, (agent_process(each.spooled.note.get("ancestors", "")) for each in hooks)), "")
        if any(isinstance(each, Started) and each.source == "clear" for hook in hooks for each in hook.heard.what):
            self._sessions.follow_on(session, hooks[0].payload.agent.title, hooks[0].heard.folder, process)
        state = self._state(session)
        self._pending.hand_on(state)
        was_working = self._sessions.is_working(session, process)
        after, replies = HookedSession(state, was_working), list[_HookReply]()

        def latest() -> SessionState:
            nonlocal state
            state = catch_up(self._journal, state)
            return state

        def prepared(now: SessionState) -> list[Stamped]:
            nonlocal after
            after, events = HookedSession(now, was_working), list[Stamped]()
            replies.clear()
            suffix = id_suffix(self._journal)
            for hook in hooks:
                after, written = record(after, hook.heard, hook.payload.agent.title, hook.spooled.at, placed, suffix)
                events += [Stamped(hook.spooled.at, by, event) for by, event in written]
                if hook.answer and hook.is_waiting:
                    reply = self._reply(after.state, hook, [each.offer.told for each in replies if each.offer])
                    replies.append(reply)
                    if reply.offer is not None:
                        told = Stamped(hook.spooled.at, PLANWIRE, reply.offer.told)
                        events.append(told)
                        after = _with(after, told)
            return events

        if was_working and _end_turn(hooks):  # first, so that the next hook finds no turn if this process dies here
            self._sessions.hold(session, process, HookedSession(state, is_working=False))
        append_latest(self._journal, latest, prepared, Once(f"{segment}:{session}", 0))
        for each in replies:
            self._answers.write(*each)
        if process and state.seq | after.state.seq:
            self._sessions.hold(session, process, after)
        self._sessions.mark_news(session, state)

    def _reply(self, state: SessionState, hook: _WaitingHook, offered: list[Told]) -> _HookReply:
        if hook.heard.moment is Chance.CALL:
            return _HookReply(hook.answer, hook.payload.spoken(AllowCall()), None)
        text = to_tell(state, hook.heard, hook.answer, [*self._answers.under_way(state.id), *offered])
        said = hook.payload.spoken(Tell(text.text)) if text else b""
        offer = OfferedTelling(state.id, text.told) if text and text.told and said else None
        return _HookReply(hook.answer, said, offer)

    def _note_loss(self, session: str, lost: Lost, why: str) -> None:
        """Record a gap for lost records."""
        state = load_state(self._journal, session)
        opened = [] if state.opened else [placed(SessionOpened(client=TERMINAL))]
        events = stamped([*opened, Gap(lost.count, why)], PLANWIRE, state.at)
        self._journal.append(session, events, once=lost.key)


def _end_turn(hooks: Iterable[_WaitingHook]) -> bool:
    """Whether no turn is on after these hooks of a session."""
    what = [each for hook in hooks if hook.heard.child is None for each in hook.heard.what]
    turns = [each for each in what if isinstance(each, TurnBegan | TurnOver | Ended)]
    return bool(turns) and not isinstance(turns[-1], TurnBegan)


def _with(session: HookedSession, stamped: Stamped) -> HookedSession:
    state, at = session.state, time_after(session.state.at, stamped.at, stamped.at)
    recorded = Recorded(state.id, state.seq + 1, at, stamped.by, stamped.event)
    return HookedSession(fold(state, recorded), session.is_working, session.is_over)
