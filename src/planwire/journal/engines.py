"""The table of journal engines: which one a URL names, and the user's own journal if there is no URL.

An engine is one row: how the URLs of its scheme look, how to open one, and the URL by which processes in other folders
find the same journal. A row imports its engine when it opens one: a program that never opens a journal must not
pay for SQLite (15 ms of a relay's start). Another package adds an engine by an entry point in the group
`planwire.journals`: its name is the scheme, and it leads to an `Engine`.
"""

import os
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from planwire.errors import NoJournal, UnknownJournal
from planwire.extras import missing_extra
from planwire.journal.private_urls import FILE, read_url, resolved, write_url
from planwire.journal.protocol import Journal
from planwire.journal.shown_urls import has_secret, shown_url

__all__ = [
    "ENTRY_POINTS",
    "HOOKS",
    "VARIABLE",
    "Engine",
    "away_path",
    "default_path",
    "has_secret",
    "hooks_path",
    "is_remote",
    "journal_of_hooks",
    "make_hooks_path",
    "open_engine",
    "open_journal",
    "shared_url",
    "shown_url",
    "thoughts_path",
    "unrevealing_url",
]

#: The environment variable that names the journal.
VARIABLE: Final = "PLANWIRE_JOURNAL"
#: What follows the name of a journal's file in that of its folder of hooks.
HOOKS: Final = "-hooks"
#: The file in a folder of hooks that holds the URL of a journal on another machine.
_JOURNAL: Final = "journal-url"
#: The group of entry points by which other packages add engines.
ENTRY_POINTS: Final = "planwire.journals"
#: A single letter before a colon is a drive.
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)


class Engine(NamedTuple):
    """A way to keep a journal. `open` and `shared` get the URL without its scheme; `open` returns None if that names
    nothing which it could open, and creates no journal unless its second argument says so. A `remote` one is kept by a
    server, which can be away."""

    urls: str
    open: Callable[[str, bool], Journal | None]
    shared: Callable[[str], str | None]
    remote: bool = False


def open_journal(url: str | os.PathLike[str] | None = None, *, create: bool = True) -> Journal:
    """Open the journal that a path or a URL names, and create it if there is none (or raise `NoJournal`). Nothing is
    created in a folder that does not exist, except for the user's own journal: the name may be a typing error.

    Without either, open the one that the environment variable PLANWIRE_JOURNAL names, or else a file in the user's
    data folder.
    """
    if url is None:
        url = os.environ.get(VARIABLE) or default_path()
    if not isinstance(url, str):
        return _open_file(os.fspath(url), create)
    url = resolved(url)
    engine, rest = _engine(url)
    return _open_remote(url, engine, rest, create) if engine and engine.remote else open_engine(url, create=create)


def open_engine(url: str, *, create: bool = True) -> Journal:
    """Open the journal of a URL with nothing around it: one that a server keeps raises `EngineAway` while that is away,
    where `open_journal` lets what may wait wait on this machine."""
    engine, rest = _engine(url)
    journal = engine.open(rest, create) if engine else None
    if journal is None:
        raise _unknown(url, engine)
    return journal


def _open_remote(url: str, engine: Engine, rest: str, create: bool) -> Journal:
    """The journal of a server, or what this machine can do while that is away."""
    from planwire.journal.away import AwayJournal  # noqa: PLC0415  (no journal in a file needs it)

    return AwayJournal(lambda: open_engine(url, create=create), away_path(engine.shared(rest) or url))


def _unknown(url: str, engine: Engine | None) -> UnknownJournal:
    *others, last = ("a path", *dict.fromkeys(each.urls for each in _ENGINES.values()))
    known, shown = f"known are {', '.join(others)} and {last}", shown_url(url)
    if engine is _ENGINES[_FILE]:
        return UnknownJournal(f"the journal {shown!r} names no file: {known}")
    return UnknownJournal(f"no journal has the URL {shown!r}: {known}. A file with a colon in its name is ./NAME")


def is_remote(url: str | None = None) -> bool:
    """Whether a journal is kept by a server, and so may be that of several people."""
    engine, _ = _engine(resolved(url or os.environ.get(VARIABLE) or str(default_path())))
    return engine is not None and engine.remote


def shared_url(url: str | None = None) -> str | None:
    """The URL by which processes in other folders find the same journal; None if none can, as for one in memory."""
    url = resolved(url or os.environ.get(VARIABLE) or str(default_path()))
    engine, rest = _engine(url)
    return engine.shared(rest) if engine else url


def default_path() -> Path:
    """The journal in the folder where this system keeps the data of a user's programs."""
    home = _expanded("~")
    if sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return folder / "planwire" / "journal.db"


def unrevealing_url(url: str) -> str:
    """A URL for settings and command lines, which others see: one with a secret goes into a file of the user's own, and
    its place takes that file (`@PATH`). Any other is as processes in other folders know it."""
    if url.startswith(FILE):
        return f"{FILE}{Path(url[len(FILE) :]).expanduser().absolute()}"
    shared = shared_url(url) or url
    if not has_secret(shared):
        return shared
    path = default_path().parent / "journals" / f"{_digest(shared)}.url"
    write_url(path, shared)
    return f"{FILE}{path}"


def thoughts_path(url: str) -> Path:
    """The file on this machine for the thoughts of a journal that is on another one."""
    return default_path().parent / "thoughts" / f"{_digest(url)}.db"


def away_path(url: str) -> Path:
    """The folder on this machine in which what is recorded waits for a journal whose server is away."""
    return default_path().parent / "away" / _digest(url)


def _digest(url: str) -> str:
    """A name for a journal on another machine, which stays when its password changes."""
    from hashlib import sha256  # noqa: PLC0415  (no journal in a file needs it)

    return sha256(shown_url(url).encode()).hexdigest()[:32]


def hooks_path(url: str | None = None) -> Path | None:
    """The folder in which what hooks say waits for a journal: beside its file, or, for one on another machine, among
    the user's own data. None for a journal that no hook can reach."""
    found = shared_url(url)
    if found is None:
        return None
    engine = _engine(found)[0]
    if engine is not None and engine.remote:
        return default_path().parent / "hooks" / _digest(found)
    return Path(f"{os.path.realpath(found.partition(':')[2])}{HOOKS}") if engine is _ENGINES[_FILE] else None


def make_hooks_path(url: str | None = None) -> Path | None:
    """The same, for whoever has hooks use it: by the folder alone they find a journal on another machine, too."""
    folder, found = hooks_path(url), shared_url(url)
    if folder is not None and found is not None and _engine(found)[0] is not _ENGINES[_FILE]:
        write_url(folder / _JOURNAL, found)
    return folder


def journal_of_hooks(folder: Path) -> str:
    """The URL of the journal that a folder of hooks belongs to: that in it, or of the file beside it."""
    if str(folder).endswith(HOOKS):
        return f"{_FILE}:{str(folder).removesuffix(HOOKS)}"
    try:
        return read_url(folder / _JOURNAL)
    except (OSError, ValueError):
        raise UnknownJournal(f"nobody knows the journal of {folder}: run planwire setup again") from None


def _engine(url: str) -> tuple[Engine | None, str]:
    """The row for a URL, and the rest of it. A URL without a scheme is a path."""
    found = _URL.fullmatch(url)
    scheme, rest = (found[1].lower(), found[2]) if found else (_FILE, url)
    return _ENGINES.get(scheme) or _added(scheme), rest


def _added(scheme: str) -> Engine | None:
    """The engine that another package adds for a scheme."""
    from importlib.metadata import entry_points  # noqa: PLC0415  (only a scheme that is not our own needs it)

    for each in entry_points(group=ENTRY_POINTS, name=scheme):
        engine = each.load()
        if isinstance(engine, Engine):
            return engine
        raise UnknownJournal(f"the entry point {each.value} for {scheme}: leads to no planwire.journal.engines.Engine")
    return None


def _open_memory(rest: str, _create: bool) -> Journal | None:
    from planwire.journal.memory import MemoryJournal  # noqa: PLC0415  (see above)

    return None if rest else MemoryJournal()


def _open_sqlite(rest: str, create: bool) -> Journal | None:
    path = _path(rest)
    return None if not path or path.startswith("//") or "\0" in path else _open_file(path, create)


def _open_postgres(rest: str, create: bool) -> Journal | None:
    try:
        from planwire.journal.postgres import PostgresJournal  # noqa: PLC0415  (see above)
    except ImportError as error:
        raise missing_extra("a journal in PostgreSQL", "psycopg", error) from error
    return PostgresJournal(f"postgresql:{rest}", create=create) if rest.startswith("//") else None


def _open_jetstream(scheme: str, rest: str, create: bool) -> Journal | None:
    from planwire.journal.jetstream import JetStreamJournal  # noqa: PLC0415  (see above)

    return JetStreamJournal(f"{scheme}:{rest}", create=create) if rest.startswith("//") else None


def _open_file(name: str, create: bool) -> Journal:
    path = _expanded(name)
    if not create and not os.path.lexists(path):
        raise NoJournal(
            f"there is no journal at {path}. Run an agent behind planwire first (planwire relay -- AGENT), or name "
            "another journal with --journal or PLANWIRE_JOURNAL"
        )
    folder = path.absolute().parent
    if path != default_path() and not folder.exists():
        raise NoJournal(
            f"there is no folder {folder} to create the journal {path.name} in: make that folder first, or look for a "
            f"typing error in the name of the journal (--journal or {VARIABLE})"
        )
    from planwire.journal.sqlite_archive import open_sqlite  # noqa: PLC0415  (see above)

    return open_sqlite(path)


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise UnknownJournal(
            f"there is no home folder for {name!r}: name the journal by its full path, with --journal or the variable "
            f"{VARIABLE}"
        ) from None


def _path(rest: str) -> str:
    """The path in `sqlite:PATH` or `sqlite:///ABSOLUTE/PATH`."""
    return rest.removeprefix("//") if rest.startswith("///") else rest


_FILE: Final = "sqlite"
_ENGINES: Final = {
    _FILE: Engine(
        "sqlite:PATH, sqlite:///ABSOLUTE/PATH",
        _open_sqlite,
        lambda rest: f"{_FILE}:{_expanded(_path(rest)).absolute()}",
    ),
    "memory": Engine("memory:", _open_memory, lambda _: None),
    **{
        scheme: Engine("postgresql://HOST/DATABASE", _open_postgres, lambda rest: f"postgresql:{rest}", remote=True)
        for scheme in ("postgresql", "postgres")
    },
    **{
        scheme: Engine(
            "nats://HOST (or tls://HOST)",
            partial(_open_jetstream, scheme),
            partial("{}:{}".format, scheme),
            remote=True,
        )
        for scheme in ("nats", "tls")
    },
}
