"""A server that a test can take away from all processes: a journal in a file, and files beside it as switches.

`away` refuses everything; if the file has words in it, the login. `mute` does what the next call asks for and never
answers, so that its caller can't know. `deaf` does the same to the next append.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from planwire.errors import EngineAway, LoginRefused
from planwire.journal import Journal, Stamped, follower
from planwire.journal.away import journal as away
from planwire.journal.away.journal import AwayJournal
from planwire.journal.engines import Engine
from planwire.journal.sqlite.journal import SqliteJournal

__all__ = ["ENGINE", "Outage", "behind", "install", "open_server", "written_there"]

#: Every process that uses this server looks for it often while it is away, so that no test waits for a second.
vars(away).update(TRY=0.02)
vars(follower).update(RETRY=0.02)

SAID = "the server example.org can't be reached: connection refused"
REFUSED = "the server example.org refuses this login: correct the password"


class Outage:
    """The switches of the server that keeps its journal in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.away = folder / "server-away"
        self.mute = folder / "server-mute"
        self.deaf = folder / "server-deaf"

    def begin(self) -> None:
        self.away.touch()

    def refuse_logins(self) -> None:
        self.away.write_text(REFUSED)

    def check(self) -> None:
        """Raise the error of a server that can't be used."""
        try:
            said = self.away.read_text()
        except FileNotFoundError:
            return
        raise LoginRefused(said) if said else EngineAway(SAID)

    def falls_silent(self, *, written: bool) -> bool:
        """Whether this is the call that a mute server does not answer. It is away from then on."""
        for switch in (self.mute, self.deaf) if written else (self.mute,):
            with suppress(FileNotFoundError):
                switch.rename(self.away)  # in one step: no thread may begin an outage that has just ended
                return True
        return False

    def end(self) -> None:
        self.mute.unlink(missing_ok=True)
        self.deaf.unlink(missing_ok=True)
        self.away.unlink(missing_ok=True)


class _Served:
    """A journal, or a lease, on the server: each call may find it away."""

    def __init__(self, outage: Outage, target: Any) -> None:
        self._outage = outage
        self._target = target

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self._target.close()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        return partial(self._call, found) if callable(found) and name not in ("close", "thoughts") else found

    def _call(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self._outage.check()
        given = method(*args, **kwargs)
        if self._outage.falls_silent(written=method.__name__ == "append" and bool(given)):
            raise EngineAway("the server example.org did not answer in time")
        if isinstance(given, Iterator):
            return self._each(given)
        return _Served(self._outage, given) if hasattr(given, "renew") else given

    def _each(self, given: Iterator[Any]) -> Iterator[Any]:
        for each in given:
            self._outage.check()
            yield each


def open_server(folder: Path) -> Journal:
    """The journal that a server keeps in a folder."""
    outage = Outage(folder)
    outage.check()
    served: Any = _Served(outage, SqliteJournal(folder / "journal.db"))
    return served  # type: ignore[no-any-return]


def written_there(folder: Path, session: str, events: Sequence[Stamped]) -> None:
    """Write to the journal from a machine for which the server is not away."""
    with SqliteJournal(folder / "journal.db") as journal:
        journal.append(session, events)


def behind(folder: Path) -> AwayJournal:
    """The journal of a server in a folder, as `open_journal` opens it."""
    return AwayJournal(partial(open_server, folder), folder / "outbox")


#: The engine of `flaky:FOLDER`, for processes that find this module by an entry point.
ENGINE = Engine("flaky:FOLDER", lambda rest, _: open_server(Path(rest)), lambda rest: f"flaky:{rest}", remote=True)


def install(folder: Path) -> str:
    """Install `ENGINE` for other processes. Returns the PYTHONPATH that they need."""
    found = folder / "installed" / "flaky-1.0.dist-info"
    found.mkdir(parents=True)
    (found / "METADATA").write_text("Metadata-Version: 2.1\nName: flaky\nVersion: 1.0\n")
    (found / "entry_points.txt").write_text("[planwire.journals]\nflaky = tests.journal.outages:ENGINE\n")
    others = filter(None, [os.environ.get("PYTHONPATH")])
    return os.pathsep.join([str(found.parent), str(Path(__file__).parents[2]), *others])
