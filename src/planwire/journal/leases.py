"""Leases: entries of a store that name their holders, and how long one lasts.

A journal that takes a lease is a holder: alive as long as it is open and its process lives (`Store.alive`). On the
holder's own machine, a lease also lapses as soon as the holder's process has ended. For a lease of another process
(`Terms.process`), only that process's machine knows whether it still runs. Other machines trust each statement of its
terms for a while.

Where the clock of a server decides, a thread states every third of `TTL` that the holder is alive. A holder that was
cut off for longer may be alive and find that its lease was ended. So it then looks for its leases, and writes those
again that are gone. If the session is gone as well, they were forgotten with it. Nor does a journal that was opened
less than `TTL` seconds ago end a lease of another machine: the server may have been down until just now.
"""

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread
from time import monotonic
from typing import Final

import msgspec

from planwire.errors import JournalError
from planwire.journal.chain import sha256
from planwire.journal.codec import decode_terms, encode_terms, is_text
from planwire.journal.machines import this_machine
from planwire.journal.processes import is_running, process_name
from planwire.journal.protocol import KnownLease, Terms
from planwire.journal.store import Store, StoreEntry

#: Seconds that a lease on a server lasts without a renewal; and one that was taken on behalf of another process.
TTL: Final = 30
PROCESS_TTL: Final = 600
#: Seconds between renewals, and until the next try after one that failed.
BEAT: Final = TTL / 3
RETRY: Final = 2.0
#: The kind of the entries that hold leases.
LEASE: Final = "lease"

_log = logging.getLogger("planwire")


class HeldLease:
    """A `Lease` in the hands of its holder. `keep` stores its name, session and terms; `remove` removes it."""

    def __init__(
        self, session: str, terms: Terms, keep: Callable[[str, str, Terms], None], remove: Callable[[str, str], None]
    ) -> None:
        self._session = session
        self._name = terms.lease_of(session) or os.urandom(8).hex()
        self._keep = keep
        self._remove = remove
        self._released = False
        self._keep(self._name, session, terms)
        self._terms = terms

    def renew(self, terms: Terms) -> None:
        if not self._released and terms != self._terms:
            self._keep(self._name, self._session, terms)
            self._terms = terms

    def release(self) -> None:
        if not self._released:
            self._remove(self._name, self._session)
            self._released = True


class _StoredLease(msgspec.Struct, frozen=True, kw_only=True):
    """A lease as it is stored. `process` is that of the holder, on `machine`."""

    holder: str
    machine: str
    process: str
    terms: str


_leases: Final = msgspec.json.Decoder(_StoredLease)
_encode: Final = msgspec.json.Encoder().encode


class Leases:
    """The leases of a journal: all that are stored, and its own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._opened = monotonic()
        self._holder = os.urandom(8).hex()
        self._own: dict[tuple[str, str], bytes] = {}  # this journal's own, by session and name
        self._owning = Lock()
        self._is_holder = False
        self._closing = Event()

    def keep(self, name: str, session: str, terms: Terms) -> None:
        """Write a lease, new or with other terms, or again after a `forget` removed it."""
        text = encode_terms(session, terms)
        process = terms.process or process_name(os.getpid()) or ""
        holder = f"{process}:{sha256(session.encode()).hexdigest()[:16]}" if terms.process else self._holder
        value = _encode(_StoredLease(holder=holder, machine=this_machine(), process=process, terms=text))
        if not terms.process:
            with self._owning:
                self._live()
                self._own[session, name] = value
        elif self._store.has_clock:
            self._store.alive(holder, PROCESS_TTL)
        self._store.put(LEASE, session, name, value)

    def known(self) -> list[KnownLease]:
        found = [(each, _read(each)) for each in self._store.get(LEASE)]
        held: dict[str, bool] = {}
        for _, lease in found:
            if lease is not None and lease.holder not in held:
                held[lease.holder] = self._is_held(lease)
        return [
            KnownLease(each.session, each.name, decode_terms(lease.terms), held[lease.holder])
            for each, lease in found
            if lease is not None
        ]

    def lapsed(self, known: KnownLease) -> StoreEntry | None:
        """The entry of a lapsed lease; None if the lease is held, or gone, or was held until just now, perhaps."""
        for entry in self._store.get(LEASE, known.session, known.name) if is_text(known.session) else ():
            lease = _read(entry)
            is_young = self._store.has_clock and monotonic() - self._opened < TTL
            if lease is not None and not (is_young and lease.machine != this_machine()) and not self._is_held(lease):
                return entry
        return None

    def remove(self, entry: StoreEntry) -> None:
        """Remove a lease, unless its holder came back."""
        self._store.put(LEASE, entry.session, entry.name, None, entry.value)

    def release(self, name: str, session: str) -> None:
        with self._owning:
            self._own.pop((session, name), None)
        self._store.put(LEASE, session, name, None)

    def close(self) -> None:
        """Give back this journal's own leases, as far as the store can be reached."""
        self._closing.set()
        with self._owning, suppress(JournalError):
            for session, name in self._own:
                self._store.put(LEASE, session, name, None)
            if self._is_holder:
                self._store.alive(self._holder, 0)

    def _live(self) -> None:
        """State that this journal is alive, before any lease names it as the holder."""
        if not self._is_holder:
            self._store.alive(self._holder, TTL)
            self._is_holder = True
            if self._store.has_clock:
                Thread(target=self._beat, name="planwire-leases", daemon=True).start()

    def _beat(self) -> None:
        wait = BEAT
        while not self._closing.wait(wait):
            wait = RETRY
            try:
                self.renew()
                wait = BEAT
            except JournalError:
                continue
            except Exception:  # if this thread died, the leases of a live process would lapse
                _log.exception("the leases of a journal could not be renewed")

    def renew(self) -> None:
        """State that this journal is alive, and write those of its leases again that others ended."""
        self._store.alive(self._holder, TTL)
        there = {(each.session, each.name) for each in self._store.get(LEASE)}
        for session, name in [each for each in tuple(self._own) if each not in there]:
            if self._store.ends(session):
                with self._owning:  # it may be released meanwhile
                    if (value := self._own.get((session, name))) is not None:
                        self._store.put(LEASE, session, name, value, None)

    def _is_held(self, lease: _StoredLease) -> bool:
        if lease.machine == this_machine() and lease.process and not is_running(lease.process):
            return False
        if lease.holder == self._holder:
            return True
        is_of_process = lease.machine == this_machine() and lease.holder.startswith(f"{lease.process}:")
        return is_of_process or self._store.alive(lease.holder)


def _read(found: StoreEntry) -> _StoredLease | None:
    """The lease in an entry; None if it is not planwire's."""
    try:
        return _leases.decode(found.value)
    except msgspec.MsgspecError:
        return None
