"""A client of a journal as a process: random calls, each told before it is made and once its outcome is known.

    python -m tests.lab.client ROLE SETTINGS    (the settings are JSON, the journal's URL is in PLANWIRE_JOURNAL)

A `writer` makes calls until its standard input ends. A `follower` says what it hears, and goes on from where it was
after each error. An `idler` holds a lease and does nothing. Lines go out one by one and whole, so that a kill cuts at
most the last one.
"""

import os
import sys
from collections.abc import Callable, Iterable
from random import Random
from threading import Event, Thread
from time import monotonic, time_ns
from typing import Final, Protocol

import msgspec
from msgspec import Struct

from planwire.errors import (
    CannotWait,
    Conflict,
    EngineAway,
    JournalError,
    JournalUnavailable,
    NotWritable,
)
from planwire.journal import Journal, Lease, Once, Stamped, Terms, open_journal
from planwire.journal.engines import open_engine
from planwire.model.events import TurnEnded
from tests.lab.history import (
    APPENDS,
    BLIND,
    EXPECTED,
    FORGET,
    ONCE,
    VERDICT,
    Call,
    Done,
    Heard,
    Line,
    event_of,
    text_of,
    token_of,
)

__all__ = ["SHARED", "Settings", "Writer", "over", "own_session", "reap", "settings_after", "write"]

#: The sessions that all writers share, and the holders of leases. Nobody forgets these.
SHARED: Final = ("shared 0", "shared 1")
LEASED: Final = "leased"
#: Seconds between two tries, and between two calls at most.
NAP: Final = 0.05
BREATH: Final = 0.02
HOURS: Final = 4 * 3_600_000


class Settings(Struct, frozen=True):
    """What a process is started with: its name, its seed, the number of its first call, the call that it repeats, and,
    for a follower, the position after which it begins. With `is_away`, what can wait may wait here."""

    name: str
    seed: str
    first: int = 0
    again: Call | None = None
    after: int = 0
    is_away: bool = False


def settings_after(history: Iterable[Line], name: str, seed: str, *, is_away: bool) -> Settings:
    """How a client is started that goes on where it was, as far as its history tells."""
    number, open_call, position = 0, None, 0
    for each in history:
        if isinstance(each, Heard) and each.client == name:
            position = each.position
        elif isinstance(each, Call) and each.client == name:
            number, open_call = each.n, each if each.kind == ONCE else None
        elif isinstance(each, Done) and (each.client, each.n, each.outcome) == (name, number, "ok"):
            open_call = None
    return Settings(name, seed, number, open_call, position, is_away)


def own_session(name: str) -> str:
    """The session that only this writer uses, and forgets now and then."""
    return f"own of {name}"


def over(token: str) -> str:
    """The token of the event that ends a lease."""
    return f"over:{token}"


class Stopper(Protocol):
    """What `threading.Event` is to a writer."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float) -> object: ...


class Writer:
    """Random calls, one after the other. `stop` may have a clock of its own."""

    def __init__(
        self, settings: Settings, opened: Callable[[], Journal], say: Callable[[Line], None], stop: Stopper
    ) -> None:
        self._settings = settings
        self._opened = opened
        self._say = say
        self._stop = stop
        self._draw = Random(f"{settings.seed} {settings.name} {settings.first}")
        self._n = settings.first
        self._journal: Journal | None = None
        self._leases: dict[str, Lease] = {}
        self._clock = self._draw.randrange(-HOURS, HOURS)

    def run(self) -> None:
        """Make calls until `stop` is set."""
        self.begin()
        while not self._stop.is_set():
            self.one_call()
            self._stop.wait(self._draw.random() * BREATH)
        self.end()

    def begin(self) -> None:
        """Repeat the call of an earlier process whose outcome nobody knows."""
        if self._settings.again is not None:
            self._append(self._settings.again)

    def one_call(self) -> None:
        draw, name = self._draw, self._settings.name
        kind = draw.choices(
            (*APPENDS, FORGET, "own", "lease", "renew", "release", "reap", "close"),
            (20, 16, 24, 6, 1, 6, 3, 2, 2, 1, 1),
        )[0]
        if kind in APPENDS:
            tokens = tuple(f"{name}.{self._n}.{each}" for each in range(draw.choice([1, 1, 1, 2, 3])))
            self._append(self._call(kind, draw.choice(SHARED), tokens))
        elif kind == "own":
            self._append(self._call(draw.choice([BLIND, ONCE]), own_session(name), (f"{name}.{self._n}.own",)))
        elif kind == FORGET:
            self._do(self._call(kind, own_session(name)), lambda journal: journal.forget(own_session(name)))
        elif kind == "lease":
            self._lease(self._call(kind, LEASED, (f"{name}.{self._n}",)))
        elif kind == "reap":
            self._do(self._call(kind), reap)
        elif kind == "close":
            self.end()
        elif self._leases:
            token = draw.choice(list(self._leases))
            lease = self._leases[token]
            if kind == "renew":
                terms = Terms("lab", draw.random() < 0.5, can=(token,))
                self._do(self._call(kind, LEASED, (token,)), lambda _: lease.renew(terms))
            elif self._do(self._call(kind, LEASED, (token,)), lambda _: lease.release()) == "ok":
                del self._leases[token]

    def _call(self, kind: str, session: str = "", tokens: tuple[str, ...] = ()) -> Call:
        self._n += 1
        return Call(self._settings.name, self._n, kind, session, tokens, is_away=self._settings.is_away)

    def _append(self, call: Call) -> None:
        """Make an append. One with a key is repeated until it is acknowledged."""
        if call.kind == EXPECTED:
            try:
                last = self._open().last_seq(call.session) + self._draw.choice([0, 0, 0, 0, 1, -1])
            except JournalError:
                return
            call = msgspec.structs.replace(call, expected=max(0, last))
        while self._do(call, lambda journal: self._written(journal, call)) != "ok" and call.kind == ONCE:
            self._stop.wait(NAP)

    def _written(self, journal: Journal, call: Call) -> tuple[int, ...]:
        at = time_ns() // 1_000_000 + self._clock
        events = [Stamped(at, call.client, event_of(each, call.kind), call.kind != VERDICT) for each in call.tokens]
        once = Once(f"lab {call.client}", call.n) if call.kind == ONCE else None
        return tuple(each.seq for each in journal.append(call.session, events, call.expected, once))

    def _lease(self, call: Call) -> None:
        [token] = call.tokens

        def take(journal: Journal) -> None:
            self._leases[token] = journal.lease(LEASED, Terms("lab", can=(token,)))

        self._do(call, take)

    def _do(self, call: Call, do: Callable[[Journal], object]) -> str:
        """Make a call, and say what became of it."""
        try:
            journal = self._open()
        except JournalError:
            return "unknown"
        self._say(call)
        begun, why, seqs = monotonic(), "", ()
        try:
            found = do(journal)
            outcome, seqs = "ok", found if isinstance(found, tuple) else ()
        except (Conflict, CannotWait, NotWritable) as error:
            outcome, why = "refused", str(error)
        except (EngineAway, JournalUnavailable) as error:
            is_sure = not isinstance(error, EngineAway) and call.kind in APPENDS
            outcome, why = "refused" if is_sure else "unknown", str(error)
        self._say(Done(call.client, call.n, outcome, seqs, monotonic() - begun, why))
        return outcome

    def _open(self) -> Journal:
        if self._journal is None:
            try:
                self._journal = self._opened()
            except JournalError:
                self._stop.wait(NAP)
                raise
        return self._journal

    def end(self) -> None:
        """Give the journal back, and with it the leases: another process may end these if the server did not hear."""
        if self._journal is not None:
            call = self._call("close", LEASED, tuple(self._leases))
            self._do(call, lambda journal: journal.close())
            self._journal = None
            self._leases.clear()


def write(settings: Settings, opened: Callable[[], Journal], say: Callable[[Line], None], stop: Event) -> None:
    """Make random calls until `stop` is set."""
    Writer(settings, opened, say, stop).run()


def reap(journal: Journal) -> None:
    """End all leases that lapsed, each with an event that says so."""
    for each in journal.leases():
        if each.session == LEASED and not each.is_held:
            end = TurnEnded(text_of(over(each.terms.can[0])))
            journal.end_lease(each, [Stamped(time_ns() // 1_000_000, "reaper", end)])


def _follow(settings: Settings, opened: Callable[[], Journal], say: Callable[[Line], None], stop: Event) -> None:
    after = settings.after
    while not stop.is_set():
        try:
            with opened() as journal:
                for each in journal.follow(after, stop=stop):
                    recorded = each.recorded
                    token = token_of(recorded.event)
                    say(Heard(settings.name, each.position, recorded.session, recorded.seq, token))
                    after = each.position
        except JournalUnavailable:
            stop.wait(NAP)


def _idle(opened: Callable[[], Journal], stop: Event) -> None:
    while not stop.is_set():
        try:
            with opened() as journal:
                journal.lease("idle", Terms("idler"))
                stop.wait()
        except JournalUnavailable:
            stop.wait(NAP)


def _say(line: Line) -> None:
    os.write(1, msgspec.json.encode(line) + b"\n")


def _heed(stop: Event) -> None:
    sys.stdin.buffer.read()
    stop.set()


def main(role: str, given: str) -> None:
    settings, stop = msgspec.json.decode(given, type=Settings), Event()
    Thread(target=_heed, args=(stop,), daemon=True).start()
    url = os.environ["PLANWIRE_JOURNAL"]

    def opened() -> Journal:
        return open_journal(url, patience=1.0) if settings.is_away else open_engine(url)

    if role == "writer":
        write(settings, opened, _say, stop)
    elif role == "follower":
        _follow(settings, opened, _say, stop)
    else:
        _idle(opened, stop)


if __name__ == "__main__":
    main(*sys.argv[1:])
