"""A server that a test can take away, for any process: a journal in a file, and switches beside it.

`away` refuses everything. `mute` does what it is asked and never answers: whoever asked can't know.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from planwire.errors import EngineAway
from planwire.journal import Journal, away, follower
from planwire.journal.away import AwayJournal
from planwire.journal.engines import Engine
from planwire.journal.sqlite import SqliteJournal

__all__ = ["ENGINE", "Outage", "behind", "install", "open_server"]

#: Whoever uses this server looks for it often while it is away, in every process: no test waits for a second to pass.
vars(away).update(TRY=0.02)
vars(follower).update(RETRY=0.02)

SAID = "the server example.org can't be reached: connection refused"


class Outage:
    """The switches of the server that keeps its journal in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.away = folder / "server-away"
        self.mute = folder / "server-mute"

    def begin(self) -> None:
        self.away.touch()

    def end(self) -> None:
        self.away.unlink(missing_ok=True)
        self.mute.unlink(missing_ok=True)


class _Served:
    """What a server gives: each call asks it."""

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
        if self._outage.away.exists():
            raise EngineAway(SAID)
        given = method(*args, **kwargs)
        if self._outage.mute.exists():
            self._outage.begin()
            raise EngineAway("the server example.org did not answer in time")
        if isinstance(given, Iterator):
            return self._each(given)
        return _Served(self._outage, given) if hasattr(given, "renew") else given

    def _each(self, given: Iterator[Any]) -> Iterator[Any]:
        for each in given:
            if self._outage.away.exists():
                raise EngineAway(SAID)
            yield each


def open_server(folder: Path) -> Journal:
    """The journal that a server keeps in a folder."""
    outage = Outage(folder)
    if outage.away.exists():
        raise EngineAway(SAID)
    served: Any = _Served(outage, SqliteJournal(folder / "journal.db"))
    return served  # type: ignore[no-any-return]


def behind(folder: Path) -> AwayJournal:
    """The journal of a server in a folder, as `open_journal` opens it."""
    return AwayJournal(partial(open_server, folder), folder / "outbox")


#: What `flaky:FOLDER` names, in processes that find this module by an entry point.
ENGINE = Engine("flaky:FOLDER", lambda rest, _: open_server(Path(rest)), lambda rest: f"flaky:{rest}", remote=True)


def install(folder: Path) -> str:
    """Have other processes find `ENGINE`: the folder to put on their path."""
    found = folder / "installed" / "flaky-1.0.dist-info"
    found.mkdir(parents=True)
    (found / "METADATA").write_text("Metadata-Version: 2.1\nName: flaky\nVersion: 1.0\n")
    (found / "entry_points.txt").write_text("[planwire.journals]\nflaky = tests.journal.outages:ENGINE\n")
    return f"{found.parent}{os.pathsep}{Path(__file__).parents[2]}"
