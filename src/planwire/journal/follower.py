"""Keeping up with a journal: one thread per journal, for any number of subscribers.

    unsubscribe = follower_of(journal).subscribe(hear, session="session-1")
    …                                                       # now catch up: `hear` gets all that comes after
    unsubscribe()

Any number of sessions, boards and waiting calls share the thread of one `Follower`. The thread starts with the first
subscriber and ends with the last one, or with the journal. A subscriber must expect events that it already knows: it
subscribes first and then catches up, so that no event falls between the two, and an event may come again after trouble.
Nor may it hold up the others: it leaves long work to a thread of its own.

Trouble has three degrees. A journal that is unavailable is tried again, from the event where that began; if that event
is lost, because a backup was restored or a server lost what it had confirmed, from the journal's end. An event that
can't be read is skipped, since one damaged row would otherwise deafen every session of the journal: every subscriber
hears of the trouble and may look for itself, and following continues from the journal's end. A subscriber that raises
any other error gets no more events: a `JournalError` goes to its `trouble`, any other error to the log.
"""

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary, ref

from planwire.errors import EngineAway, JournalError, JournalUnavailable
from planwire.journal.protocol import Followed, Journal

#: Seconds until the follower retries a journal that was unavailable.
RETRY: Final = 1.0


class _Subscriber(NamedTuple):
    """A subscriber to one session, or to all. `trouble` gets an error, and None once it is over or the journal
    closes."""

    hear: Callable[[Followed], None]
    session: str | None
    trouble: Callable[[JournalError | None], None]


class Follower:
    """The subscribers of one journal, and the thread that wakes them. `follower_of` makes it."""

    def __init__(self, journal: Journal) -> None:
        self._journal = ref(journal)
        self._lock = Lock()
        #: By session, with subscribers to all sessions under None: subscribers to other sessions add nothing to the
        #: cost of an event. The tuples are replaced as a whole, since the thread reads them without the lock.
        self._subscribers: dict[str | None, tuple[_Subscriber, ...]] = {}
        self._stop = Event()

    def subscribe(
        self,
        hear: Callable[[Followed], None],
        session: str | None = None,
        trouble: Callable[[JournalError | None], None] = lambda _: None,
    ) -> Callable[[], None]:
        """Call `hear` with every event that anyone writes from now on, to one session or to all. Returns a function
        that ends this; a call that is under way may still finish."""
        subscriber = _Subscriber(hear, session, trouble)
        with self._lock:
            if not self._subscribers:
                journal = self._journal()
                assert journal is not None, "the caller has it"
                self._stop = Event()
                task = (journal, _end_of(journal), self._stop)
                Thread(target=self._run, args=task, name="planwire-follower", daemon=True).start()
            self._subscribers[session] = (*self._subscribers.get(session, ()), subscriber)
        return lambda: self._drop(subscriber)

    def _drop(self, subscriber: _Subscriber) -> None:
        with self._lock:
            session = subscriber.session
            others = tuple(each for each in self._subscribers.get(session, ()) if each is not subscriber)
            if others:
                self._subscribers[session] = others
            else:
                self._subscribers.pop(session, None)
            if not self._subscribers:
                self._stop.set()

    # -- the thread

    def _run(self, journal: Journal, position: int | None, stop: Event) -> None:
        is_troubled = False
        while not stop.is_set():
            try:
                if is_troubled or position is None:
                    end = journal.last_position()
                    position = end if position is None else min(position, end)  # it may have lost events
                    self._tell(None)
                    is_troubled = False
                for followed in journal.follow(position, stop=stop):
                    if stop.is_set():  # newer subscribers have a thread of their own
                        return
                    self._hand_out(followed)
                    position = followed.position
                if not stop.is_set():  # the journal closed, which is no trouble: waiters may stop
                    self._tell(None)
                    with self._lock:
                        if stop is self._stop:
                            self._subscribers = {}
                    return
            except JournalError as error:
                if not is_troubled:
                    self._tell(error)
                    if not isinstance(error, JournalUnavailable):
                        with suppress(JournalError):  # skip what can't be read, unless nothing can be
                            position = journal.last_position()
                            self._tell(None)
                            continue
                is_troubled = True
                stop.wait(RETRY)
            except Exception as error:  # of an engine: without this, no subscriber would hear again
                if not is_troubled:
                    _log("the journal can't be followed; trying again", error)
                    self._tell(JournalUnavailable(f"the journal can't be followed: {error!r}"))
                is_troubled = True
                stop.wait(RETRY)

    def _hand_out(self, followed: Followed) -> None:
        for session in (None, followed.recorded.session):
            for subscriber in self._subscribers.get(session, ()):
                try:
                    subscriber.hear(followed)
                except JournalUnavailable:
                    raise
                except Exception as error:
                    self._drop(subscriber)
                    self._let_go(subscriber, error)

    def _tell(self, trouble: JournalError | None) -> None:
        with self._lock:
            everyone = [each for of_session in self._subscribers.values() for each in of_session]
        for subscriber in everyone:
            try:
                subscriber.trouble(trouble)
            except Exception as error:
                self._drop(subscriber)
                self._let_go(subscriber, error)

    def _let_go(self, subscriber: _Subscriber, error: Exception) -> None:
        """Report why a subscriber was dropped: to itself, or to the log."""
        try:
            if isinstance(error, JournalError):
                subscriber.trouble(error)
                return
        except Exception as another:
            error = another
        _log("a subscriber of the journal failed, and gets no more events", error)


def _log(words: str, error: Exception) -> None:
    import logging  # noqa: PLC0415  (it would cost every command that opens a journal four milliseconds)

    logging.getLogger("planwire").error(words, exc_info=error)


def _end_of(journal: Journal) -> int | None:
    """Where to begin; None while the server is away. Once it answers, subscribers are told that trouble is over, and
    look."""
    try:
        return journal.last_position()
    except EngineAway:
        return None


_followers: "WeakKeyDictionary[Journal, Follower]" = WeakKeyDictionary()
_making: Final = Lock()


def follower_of(journal: Journal) -> Follower:
    """The one follower of a journal. It lives as long as the journal does."""
    with _making:
        found = _followers.get(journal)
        if found is None:
            found = _followers[journal] = Follower(journal)
        return found
