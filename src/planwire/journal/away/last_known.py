"""What this machine last knew of sessions, for processes that start while the server is away: a file for each session.

Views note each state that they fold. New states are written every few seconds, and when the journal closes, so an
append costs no extra file and no extra call to the server. A state is a cache of what the server has: it never holds
events that wait. Only the newest sessions are kept, and none that the journal was told to forget.
"""

import os
from binascii import crc32
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final

from planwire.journal.away.delivery import file_name
from planwire.journal.protocol import KnownSession, Snapshot
from planwire.journal.spool_append import make_folder, put
from planwire.journal.view import STATE, UNKEEPABLE
from planwire.journal.waiting import is_waiting
from planwire.model.records import SessionState

#: How many sessions are kept, and how many bytes one may have.
MOST: Final = 128
MOST_BYTES: Final = 2 << 20
#: How many bytes of a file are its checksum.
_CHECK: Final = 4


class LastKnown:
    """The states in a folder, which need not exist. Any thread may call any method."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._noted: dict[str, SessionState] = {}
        self._lock = Lock()

    def note(self, state: SessionState) -> None:
        """Note a state, to be written later."""
        if state.seq and not is_waiting(state.seq):
            with self._lock:
                known = self._noted.get(state.id)
                if known is None or known.seq <= state.seq:
                    self._noted[state.id] = state
                if len(self._noted) > 2 * MOST:
                    self._noted = {each.id: each for each in _newest(self._noted.values())}

    def kept(self) -> tuple[dict[str, int], dict[str, SessionState]]:
        """What is kept now, for `note_all`. Call it before asking the server for its sessions."""
        with self._lock:
            return self._files(drafts=True), self._noted.copy()

    def note_all(self, sessions: Iterable[KnownSession], kept: tuple[dict[str, int], dict[str, SessionState]]) -> None:
        """Note that these are all the sessions of the journal. Any other session in `kept`, from before the server was
        asked, was forgotten there. What was kept since then may be newer than the server's answer, and stays."""
        files, noted = kept
        there = {each.id: each.last_seq for each in sessions}
        with self._lock, suppress(OSError):
            for session, state in noted.items():
                if state.seq > there.get(session, 0) and self._noted.get(session) is state:
                    del self._noted[session]
            named = {file_name(session): seq for session, seq in there.items()} if files else {}
            self._remove({name for name, seq in files.items() if seq > named.get(name, 0)})

    def write(self) -> None:
        """Write the new states. Those that can't be written are lost."""
        with self._lock, suppress(OSError):
            noted, self._noted = _newest(self._noted.values()), {}
            files = self._files() if noted else {}
            for state in noted:
                name = file_name(state.id)
                if state.seq > files.get(name, 0) and (data := _encoded(state)):
                    make_folder(str(self._folder))
                    put(str(self._folder), f"{name}-{state.seq}", data + crc32(data).to_bytes(_CHECK))
                    if name in files:
                        (self._folder / f"{name}-{files[name]}").unlink(missing_ok=True)
                    files[name] = state.seq
            if len(files) > MOST:
                self._remove_oldest(files)

    def forget(self, *sessions: str) -> None:
        with self._lock:
            for each in sessions:
                self._noted.pop(each, None)
            self._remove({file_name(each) for each in sessions})

    def sessions(self) -> list[KnownSession]:
        """The sessions of which a state is kept."""
        found = (STATE.decoded(self._kept(name, seq)) for name, seq in self._files().items())
        return [KnownSession(each.id, each.seq, _began_at(each), each.at) for each in found if each is not None]

    def snapshot(self, session: str) -> Snapshot | None:
        """The last known state of a session, as a view keeps it."""
        name = file_name(session)
        data = self._kept(name, self._files().get(name, 0))
        state = STATE.decoded(data)
        return Snapshot(state.seq, data) if state is not None and state.id == session else None

    def state(self, session: str) -> SessionState | None:
        """The last known state of a session, written or not; None if there is none that can be read."""
        with self._lock:  # once those that are being written are there
            noted = self._noted.get(session)
        kept = self.snapshot(session)
        if kept is None or (noted is not None and noted.seq >= kept.seq):
            return noted
        return STATE.read(kept, session)

    def _kept(self, name: str, seq: int) -> bytes:
        """What is in a file; nothing if there is none, or it is damaged."""
        with suppress(OSError):
            data = (self._folder / f"{name}-{seq}").read_bytes()
            return data[:-_CHECK] if crc32(data[:-_CHECK]) == int.from_bytes(data[-_CHECK:]) else b""
        return b""

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


def _began_at(state: SessionState) -> int:
    return min((each.created_at for each in state.plans.values()), default=state.at)


def _encoded(state: SessionState) -> bytes:
    """A state as a view keeps it; nothing if it is too large, or can't be kept."""
    with suppress(*UNKEEPABLE):
        if len(data := STATE.written(state)) <= MOST_BYTES:
            return data
    return b""
