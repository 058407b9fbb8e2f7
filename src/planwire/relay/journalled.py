"""The sessions of one connection in their journal: found, written after what others wrote, and told to the policy.

This is the half of the recorder that knows what to write. The other half (`recorder`) decides when to write, and what
to do about a journal that fails.
"""

import os
import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial, reduce
from threading import Lock
from time import time_ns
from typing import Final, assert_never

from msgspec.structs import replace

from planwire.errors import EngineAway, UnstorableEvent
from planwire.journal.engines import open_journal
from planwire.journal.protocol import Journal, KnownSession, Stamped, Terms, Thought
from planwire.journal.thoughts import keep_all, think
from planwire.journal.view import View, read_on
from planwire.journal.waiting import MOMENT, begin_away, id_suffix, note_state, seen_here, why_away
from planwire.model.event_why import why_in, with_why
from planwire.model.events import ACP, Gap, PlanSet, Recorded, SessionOpened, with_way
from planwire.relay.actions import BY_CLIENT, BY_RELAY, ForJournal, Leave, Meet, Record, RecordLine, SessionMemory
from planwire.relay.dedupe import PendingHistory, begin, learn
from planwire.relay.envelope import list_on
from planwire.relay.held_sessions import HeldSessions
from planwire.session.forks import fork_session
from planwire.session.known_agents import way_below
from planwire.session.origin import placed, this_host
from planwire.session.pending_reviews import PendingReviews
from planwire.session.writer import append_latest, reopening

_MEMORY: Final = View(
    "relay", SessionMemory, begin, learn, rules=14, note=lambda journal, memory: note_state(journal, memory.state)
)
#: What follows an id in the name of a session: a number, or what was made up while nobody could say which are taken.
_GIVEN: Final = "(~[0-9]+|~[0-9a-f]{16})?"
_UNSTORABLE: Final = "the journal can't store it"


def open_for_recording(url: str | None) -> Journal:
    """Open a journal so that records reach the disk within a moment, even if its server is silent for long."""
    return open_journal(url, patience=MOMENT)


class _JournalledSession:
    """One session: what the journal has, what it will have, and what is on its way there: events, and the thoughts
    whose digests these hold."""

    def __init__(self, memory: SessionMemory, is_fresh: bool = False) -> None:
        self.is_left = False  # nobody mentions it any more
        self.is_fresh = is_fresh  # no one else can mean it, and nothing of it is written yet
        self.written = self.told = memory
        self.pending = PendingHistory(memory)
        self.unwritten: list[Stamped] = []
        self._thoughts: dict[str, Thought] = {}
        self._last: Thought | None = None
        self.opened = memory.state.opened  # as it was last known: it may have been forgotten since

    def take(self, record: Record, at: int) -> None:
        """Take in a record, with a digest in place of its why. A thought that comes again is used again."""
        if record.why:
            if self._last is None or self._last.text != record.why:
                self._last = think(record.why)
            self._thoughts[self._last.digest] = self._last
            record = replace(record, event=with_why(record.event, self._last.digest))
        self.unwritten += self.pending.take(record, at)

    def open_again(self) -> None:
        """If the journal was told to forget the session meanwhile, begin again with what was known of it."""
        events = [each.event for each in self.unwritten]
        if about := reopening(self.written.state, events, self.opened):
            opening = [Stamped(self.unwritten[0].at, BY_RELAY, each) for each in about]
            self.unwritten = self.pending.rebase(self.written, [*opening, *self.unwritten])

    def keep_thoughts(self, journal: Journal) -> list[Stamped]:
        """Keep the events' thoughts. Returns the events to write, without a why if that failed."""
        known = (self._thoughts.get(why_in(each.event)) for each in self.unwritten)
        if not keep_all(journal, self.written.id, [each for each in known if each]):
            bare = [replace(each, event=with_why(each.event, "")) for each in self.unwritten]
            self.unwritten = self.pending.rebase(self.written, bare)
        return self.unwritten

    def forget_thoughts(self) -> None:
        """Let go of thoughts that are kept by now or belong to nothing new, but keep that of a text to come."""
        self._thoughts = {digest: each for digest, each in self._thoughts.items() if digest == self.pending.held_why}


class JournalledSessions:
    """The sessions by their ids on the wire. `tell` gets what the journal knows of one, whenever that changes; `terms`
    tells what the lease of one should say.

    One thread writes, and another may `look`. Both tell, and neither replaces what the other told with something older.
    """

    def __init__(
        self, tell: Callable[[str, SessionMemory], None], terms: Callable[[str], Terms] = lambda _: Terms()
    ) -> None:
        self._tell = tell
        self._held = HeldSessions(terms)
        self._telling = Lock()
        self._reviews: PendingReviews | None = None
        self._sessions: dict[str, _JournalledSession] = {}

    @property
    def unwritten(self) -> int:
        """How many events are not written yet."""
        return sum(len(session.unwritten) for session in tuple(self._sessions.values()))

    def take(self, journal: Journal, action: ForJournal, at: int) -> None:
        """Take in something that happened at a time, in milliseconds."""
        session = self._sessions.get(action.session)
        if isinstance(action, Leave):
            if session is not None:
                session.is_left = True
            return
        if session is None:
            meeting = action if isinstance(action, Meet) else Meet(action.session, False)
            session = _JournalledSession(self._begin(journal, meeting, at), meeting.fresh and meeting.fork_of is None)
            self._sessions[action.session] = session
        if isinstance(action, Meet):
            with self._telling:
                self._tell(action.session, session.told)
        session.is_left = False
        record = _record(action)
        if record is not None:
            session.take(record, at)

    def write(self, journal: Journal, *, all_streams: bool = False) -> list[UnstorableEvent]:
        """Append what is new to each session, and hand on the verdicts that are due. A text that streams in waits until
        it pauses, unless `all_streams` says that no more will come. Returns an error for each event that the journal
        can't store; the others are written."""
        problems: list[UnstorableEvent] = []
        now = None if all_streams else time_ns() // 1_000_000
        self._reviews = self._reviews or PendingReviews(journal)
        for wire_id, session in tuple(self._sessions.items()):
            self._reviews.hand_on(session.told.state)
            session.unwritten += session.pending.finish_stream(None if session.is_left else now)
            if session.unwritten or session.written.seq:
                self._held.hold(journal, wire_id, session.written.id, is_new=bool(session.unwritten))
            try:
                self._append(journal, wire_id, session)
            except UnstorableEvent:
                self._append_apart(journal, wire_id, session, problems)
            if session.is_left and not session.unwritten:
                self._held.let_go(session.written.id)
                with self._telling:
                    del self._sessions[wire_id]
        return problems

    def look(self, journal: Journal) -> None:
        """Tell what others wrote. This only reads, so any thread may call it, and it waits for no writer, not even for
        ours."""
        for wire_id, session in tuple(self._sessions.items()):
            with self._telling:
                known = session.told
                if journal.last_seq(known.id) != known.seq:
                    session.told = read_on(journal, known, partial(begin, known.id), _learn_all)
                    self._tell(wire_id, session.told)

    def drop(self) -> int:
        """Forget what is not written yet. Returns how many events that were."""
        dropped = self.unwritten
        for session in self._sessions.values():
            session.unwritten.clear()
        return dropped

    def _begin(self, journal: Journal, meeting: Meet, at: int) -> SessionMemory:
        """The memory of a session that is met. A fork begins with its parent's past, as far as that is known by now.
        While the journal's server is away, taken names can't be looked up: a session that is new, or not known on this
        machine, gets a random one, which it keeps when it is loaded.
        """
        try:
            return self._found(journal, meeting)
        except EngineAway:
            is_new = meeting.fresh or meeting.fork_of
            known = () if is_new else _names_among(seen_here(journal), meeting.session)
            found = _chosen((_recalled(journal, name, at) for name in reversed(known)), meeting)
            return found or _recalled(journal, f"{meeting.session}~{os.urandom(8).hex()}", at)

    def _found(self, journal: Journal, meeting: Meet) -> SessionMemory:
        if meeting.fork_of is None:
            return _find(journal, meeting)
        known = self._sessions.get(meeting.fork_of)
        if known is not None:
            known.unwritten += known.pending.finish_stream()
            self._append(journal, meeting.fork_of, known)
            parent = known.written
        else:
            parent = _find(journal, Meet(meeting.fork_of, False, meeting.agent, meeting.cwd))
        name = _free_name(journal, meeting.session)
        if not parent.seq:
            return begin(name)
        return _MEMORY.load(journal, fork_session(journal, parent.id, name, parent.seq, BY_RELAY))

    def _append(self, journal: Journal, wire_id: str, session: _JournalledSession) -> None:
        def latest() -> SessionMemory:
            if session.is_fresh and _is_taken(journal, session.written):
                self._rename(journal, wire_id, session)
            known, suffix = session.written, id_suffix(journal)
            session.opened = known.state.opened or session.opened
            if (is_behind := journal.last_seq(known.id) != known.seq) or suffix != session.pending.suffix:
                session.pending.suffix = suffix
                session.written = _MEMORY.catch_up(journal, known) if is_behind else known
                session.unwritten = session.pending.rebase(session.written, session.unwritten)
                self._tell_written(wire_id, session, anew=session.written.seq < known.seq)
            return session.written

        def prepared(_: SessionMemory) -> list[Stamped]:
            session.open_again()
            return session.keep_thoughts(journal)

        if written := append_latest(journal, latest, prepared):
            session.is_fresh = False
            session.unwritten = []
            foreseen = session.pending.memory
            if (written[-1].seq, written[-1].at) != (foreseen.seq, foreseen.at):  # its answer was lost, so it waits
                session.pending.rebase(_learn_all(session.written, written), [])
            session.written = session.pending.memory
            note_state(journal, session.written.state)
            self._tell_written(wire_id, session)
        session.forget_thoughts()

    def _append_apart(
        self, journal: Journal, wire_id: str, session: _JournalledSession, problems: list[UnstorableEvent]
    ) -> None:
        """Append event by event, with a gap in the place of each that the journal can't store. Only its server knows
        what is too large for it, and all together may be too large where none of them is."""
        waiting = deque(session.keep_thoughts(journal))
        try:
            while waiting:
                session.unwritten = session.pending.rebase(session.written, [waiting[0]])
                try:
                    self._append(journal, wire_id, session)
                except UnstorableEvent as error:
                    if isinstance(waiting[0].event, Gap):
                        raise  # then the session is at fault, not an event
                    problems.append(error)
                    waiting[0] = Stamped(waiting[0].at, BY_RELAY, Gap(1, _UNSTORABLE))
                else:
                    waiting.popleft()
        finally:
            session.unwritten = session.pending.rebase(session.written, list(waiting))

    def _rename(self, journal: Journal, wire_id: str, session: _JournalledSession) -> None:
        """Give a new session the next free name: another relay took the one that was free when it was met."""
        self._held.let_go(session.written.id)
        session.written = begin(_free_name(journal, wire_id))
        session.unwritten = session.pending.rebase(session.written, session.unwritten)
        self._held.hold(journal, wire_id, session.written.id, is_new=True)
        self._tell_written(wire_id, session, anew=True)

    def _tell_written(self, wire_id: str, session: _JournalledSession, *, anew: bool = False) -> None:
        """Tell what the journal has, unless a look found more meanwhile. `anew`: the session was forgotten."""
        with self._telling:
            if anew or session.written.seq > session.told.seq:
                session.told = session.written
                self._tell(wire_id, session.told)


def _learn_all(memory: SessionMemory, events: Iterable[Recorded]) -> SessionMemory:
    return reduce(learn, events, memory)


def _record(action: Meet | Record | RecordLine) -> Record | None:
    match action:
        case Meet():
            return None
        case Record(event=SessionOpened() as event) if event.agent or event.client or event.cwd:
            return replace(action, event=placed(event))
        case Record(by=by):  # a client that an agent started is not the person's own
            return replace(action, event=with_way(action.event, way_below())) if by == BY_CLIENT else action
        case RecordLine(session=session, line=line, why=why):
            plan = list_on(line)
            return None if plan is None else Record(session, PlanSet(plan, via=ACP), why=why)
        case _:
            assert_never(action)


def _find(journal: Journal, meeting: Meet) -> SessionMemory:
    """The memory of a session, or an empty one under a name of its own.

    Agents give ids to their sessions, and some count from 1 in every process. A new session must not pass for an old
    one with the same id, nor one agent's session for another's: it gets the next free name (`1~2`). If several may be
    meant, one of this machine is chosen. A relay that an agent started joins no session that others work in: there the
    agent could ask its question once more, and answer it.
    """
    known = () if meeting.fresh else _names_among(journal.sessions(), meeting.session)
    held = {each.session for each in journal.leases() if each.is_held} if known and way_below() else ()
    found = _chosen((_MEMORY.load(journal, name) for name in reversed(known) if name not in held), meeting)
    return found or begin(_free_name(journal, meeting.session))


def _chosen(memories: Iterable[SessionMemory], meeting: Meet) -> SessionMemory | None:
    """The session that is met, of those that it may be, which come the newest first: the newest of this machine, or
    else the newest. The others are not loaded: there may be thousands."""
    elsewhere = None
    for memory in memories:
        if _is_of(memory, meeting):
            if _is_here(memory):
                return memory
            elsewhere = elsewhere or memory
    return elsewhere


def _recalled(journal: Journal, name: str, at: int) -> SessionMemory:
    """The memory of a session as this machine last knew it, with what waits here. Raises `EngineAway` if the server is
    back by now."""
    state = begin_away(journal, name, at)
    if state is None:
        raise EngineAway(why_away(journal))
    return _learn_all(replace(begin(name), state=state), journal.read(name, state.seq))


def _names_among(known: Iterable[KnownSession], session: str) -> list[str]:
    """The names among these that sessions with an id have, in the order in which they began."""
    name = re.compile(re.escape(session) + _GIVEN)
    return [each.id for each in known if name.fullmatch(each.id)]


def _free_name(journal: Journal, session: str) -> str:
    """A name that no session has: the id, or the id with a number. Of thousands of numbers, few are tried."""

    def is_free(number: int) -> bool:
        return not journal.last_seq(f"{session}~{number}" if number > 1 else session)

    free = 1
    while not is_free(free):
        free *= 2
    number = bisect_left(range(free), True, lo=free // 2 + 1, key=is_free)
    return f"{session}~{number}" if number > 1 else session


def _is_taken(journal: Journal, memory: SessionMemory) -> bool:
    """Whether another relay has meanwhile begun a session under this name. Our own plan tools may have begun it, too,
    but they mean the same session."""
    first = next(iter(journal.read(memory.id, 0, 1)), None) if not memory.seq and journal.last_seq(memory.id) else None
    return first is not None and first.by == BY_RELAY


def _is_of(memory: SessionMemory, meeting: Meet) -> bool:
    opened = memory.state.opened
    if opened is None or opened.agent is None or meeting.agent is None:
        return True
    is_there = opened.cwd is not None and opened.cwd == meeting.cwd
    return is_there or _without_version(opened.agent) == _without_version(meeting.agent)


def _is_here(memory: SessionMemory) -> bool:
    opened = memory.state.opened
    return opened is None or opened.host in (None, this_host())


def _without_version(agent: str) -> str:
    return agent.rsplit(" ", 1)[0]
