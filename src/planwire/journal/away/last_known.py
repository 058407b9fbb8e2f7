"""What this machine last knew of sessions, for processes that start while the server is away: a file for each session.

Views note each state that they fold. New states are written every few seconds, and when the journal closes, so an
append costs no extra file and no extra call to the server. A state is a cache of what the server has: it never holds
events that wait. Only the newest sessions are kept, and none that the journal was told to forget.
"""

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from planwire.journal.away.delivery import file_name
from planwire.journal.protocol import KnownSession, Snapshot
from planwire.journal.spool_append import make_folder, put
from planwire.journal.view import STATE, UNKEEPABLE
from planwire.journal.waiting import is_waiting
from planwire.model.records import SessionState

#: How many sessions are kept, and how many bytes one may have.
MOST: Final = 128
MOST_BYTES: Final = 2 << 20


class _KeptState(Struct, frozen=True, array_like=True):
    """A session as it was last known. `data` is as the view of states writes it."""

    known: KnownSession
    data: bytes


_read_kept: Final = msgspec.msgpack.Decoder(_KeptState)


class KeptNumbers(NamedTuple):
    """The last event numbers of the states in files (by file name) and of those not written yet (by session id)."""

    files: dict[str, int]
    noted: dict[str, int]


class LastKnown:
    """The states in a folder, which need not exist. Any thread may call any method."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._noted: dict[str, SessionState] = {}
        #: The files there were before the server listed its sessions, and that list.
        self._listed: tuple[dict[str, int], list[KnownSession]] | None = None
        self._lock = Lock()
        self._writing = Lock()  # so that no session forgotten meanwhile is written

    def note(self, state: SessionState) -> None:
        """Note a state, to be written later."""
        if state.seq and not is_waiting(state.seq):
            with self._lock:
                known = self._noted.get(state.id)
                if known is None or known.seq <= state.seq:
                    self._noted[state.id] = state
                if len(self._noted) > 2 * MOST:
                    self._noted = {each.id: each for each in _newest(self._noted.values())}

    def kept(self) -> KeptNumbers:
        """What is kept now, for `note_all`. Call it before asking the server for its sessions."""
        with self._lock:
            return KeptNumbers(self._files(drafts=True), {each.id: each.seq for each in self._noted.values()})

    def note_all(self, sessions: list[KnownSession], kept: KeptNumbers) -> None:
        """Note that these are all the sessions of the journal. Any other session in `kept`, from before the server was
        asked, was forgotten there. What was kept since then may be newer than the server's answer, and stays."""
        with self._lock:
            self._listed = (kept.files, sessions)
            if kept.noted:
                there = {each.id: each.last_seq for each in sessions}
                for session, seq in kept.noted.items():
                    if seq > there.get(session, 0) and session in self._noted and self._noted[session].seq == seq:
                        del self._noted[session]

    @property
    def is_behind(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._noted) or self._listed is not None

    def write(self) -> None:
        """Write the new states. Those that can't be written are lost."""
        if not self.is_behind:
            return
        with self._writing, suppress(OSError):
            with self._lock:
                noted, self._noted = _newest(self._noted.values()), {}
                listed, self._listed = self._listed, None
            if listed is not None and listed[0]:
                there = {file_name(each.id): each.last_seq for each in listed[1]}
                self._remove({name for name, seq in listed[0].items() if seq > there.get(name, 0)})
            files = self._files()
            for state in noted:
                name = file_name(state.id)
                if state.seq > files.get(name, 0) and (data := _encoded(state)):
                    make_folder(str(self._folder.parent))
                    make_folder(str(self._folder))
                    put(str(self._folder), f"{name}-{state.seq}", data)
                    if name in files:
                        (self._folder / f"{name}-{files[name]}").unlink(missing_ok=True)
                    files[name] = state.seq
            if len(files) > MOST:
                self._remove_oldest(files)

    def forget(self, *sessions: str) -> None:
        with self._writing:
            with self._lock:
                for each in sessions:
                    self._noted.pop(each, None)
            self._remove({file_name(each) for each in sessions})

    def sessions(self) -> list[KnownSession]:
        """The sessions of which a state is kept."""
        found = (self._kept(name, seq) for name, seq in self._files().items())
        return [each.known for each in found if each is not None]

    def snapshot(self, session: str) -> Snapshot | None:
        """The last known state of a session, as a view keeps it."""
        name = file_name(session)
        seq = self._files().get(name)
        kept = self._kept(name, seq) if seq is not None else None
        return Snapshot(kept.known.last_seq, kept.data) if kept is not None and kept.known.id == session else None

    def state(self, session: str) -> SessionState | None:
        """The last known state of a session, written or not; None if there is none that can be read."""
        with self._writing, self._lock:
            noted = self._noted.get(session)
        kept = self.snapshot(session)
        if kept is None or (noted is not None and noted.seq >= kept.seq):
            return noted
        return STATE.read(kept, session)

    def _kept(self, name: str, seq: int) -> _KeptState | None:
        with suppress(OSError, msgspec.MsgspecError):
            return _read_kept.decode((self._folder / f"{name}-{seq}").read_bytes())
        return None

    def _files(self, *, drafts: bool = False) -> dict[str, int]:
        """The number of the last event in each file, by the file name of its session. `drafts`: also in files that are
        being written, or whose writer was killed."""
        found: dict[str, int] = {}
        for each in self._names():
            name, _, seq = each.partition("-")
            if drafts and name.startswith("."):
                name, seq = name[1:], seq.partition("-")[0]
            if name and seq.isdecimal():
                found[name] = max(int(seq), found.get(name, 0))
        return found

    def _names(self) -> list[str]:
        try:
            return os.listdir(self._folder)  # noqa: PTH208  (names are all it takes)
        except OSError:
            return []

    def _remove(self, names: Collection[str]) -> None:
        """Remove all files of sessions: drafts, and several states if processes wrote at the same time."""
        for each in self._names() if names else ():
            if each.removeprefix(".").partition("-")[0] in names:
                (self._folder / each).unlink(missing_ok=True)

    def _remove_oldest(self, files: dict[str, int]) -> None:
        def written(name: str) -> float:
            with suppress(OSError):
                return (self._folder / f"{name}-{files[name]}").stat().st_mtime
            return 0.0

        self._remove({*sorted(files, key=written)[:-MOST]})


def _newest(states: Iterable[SessionState]) -> list[SessionState]:
    return sorted(states, key=lambda state: state.at)[-MOST:]


def _encoded(state: SessionState) -> bytes | None:
    first = min((each.created_at for each in state.plans.values()), default=state.at)
    with suppress(*UNKEEPABLE):
        kept = _KeptState(KnownSession(state.id, state.seq, first, state.at), STATE.written(state))
        data = msgspec.msgpack.encode(kept)
        return data if len(data) <= MOST_BYTES else None
    return None
