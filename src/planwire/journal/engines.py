"""The table of journal engines: which one a URL names, and the user's own journal if there is no URL.

An engine is one row: how the URLs of its scheme look, how to open one, and the URL by which processes in other folders
find the same journal. A row imports its engine only to open a journal: a program that never opens one must not pay for
SQLite (15 ms of a relay's start). Another package adds an engine by an entry point in the group `planwire.journals`:
its name is the scheme, its object an `Engine`. No entry point replaces a row of this table.
"""

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from planwire.errors import JournalUnavailable, NoJournal, PlanwireError, UnknownJournal
from planwire.extras import missing_extra
from planwire.journal.haste import hurried
from planwire.journal.private_urls import FILE, resolved, write_url
from planwire.journal.protocol import Journal
from planwire.journal.shown_urls import has_raw_login, has_secret, shown_url
from planwire.journal.unusable import absent
from planwire.journal.user_files import VARIABLE, away_path, default_path, digest, expanded

if TYPE_CHECKING:
    from planwire.journal.jetstream.journal import JetStreamJournal
    from planwire.journal.postgres.journal import PostgresJournal

#: The scheme of a journal in a file, which a path need not name.
FILE_SCHEME: Final = "sqlite"
#: The group of entry points by which other packages add engines.
ENTRY_POINTS: Final = "planwire.journals"
#: A single letter before a colon is a drive.
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)


class Engine(NamedTuple):
    """A way to keep a journal. `open` and `shared` get the URL without its scheme. `open` returns None if that names
    nothing it could open, and creates a journal only if its second argument says so. A `remote` engine has a server,
    which can be away. `load` imports what the engine needs: if that fails, it is not the server's fault."""

    urls: str
    open: Callable[[str, bool], Journal | None]
    shared: Callable[[str], str | None]
    remote: bool = False
    load: Callable[[], object] = bool


def open_journal(
    url: str | os.PathLike[str] | None = None, *, create: bool = True, patience: float | None = None
) -> Journal:
    """Open the journal that a path or a URL names. If there is none, create it, or raise `NoJournal` with
    `create=False`. Nothing is created in a folder that does not exist, since the name may be a typo; only the user's
    own journal is.

    Without either, open the one that the environment variable PLANWIRE_JOURNAL names, or else a file in the user's
    data folder.

    A server that has not answered after about `patience` seconds counts as away. The journal opens all the same: what
    can wait waits on this machine until the server answers. Without `patience`, its engine decides how long to wait.
    """
    if url is None:
        url = os.environ.get(VARIABLE) or default_path()
    if not isinstance(url, str):
        return _open_file(os.fspath(url), create)
    url = resolved(url)
    engine, rest = _engine(url)
    if engine and engine.remote:
        _refuse_raw_login(url)
        return _open_remote(url, engine, rest, create, patience)
    return open_engine(url, create=create)


def open_engine(url: str, *, create: bool = True) -> Journal:
    """Open the journal of a URL with nothing around it. While its server is away, this raises `EngineAway`, where
    `open_journal` lets what may wait wait on this machine."""
    engine, rest = _engine(url)
    journal = engine.open(rest, create) if engine else None
    if journal is None:
        raise _unknown(url, engine)
    return journal


def _refuse_raw_login(url: str) -> None:
    if has_raw_login(url):
        raise UnknownJournal(
            f"can't tell the login in {shown_url(url)!r} from the rest: in a name or a password, write %, @, :, / and ?"
            " as %25, %40, %3A, %2F and %3F"
        )


def _refuse_stray_bytes(url: str) -> None:
    try:
        url.encode()
    except UnicodeEncodeError:
        raise UnknownJournal(
            f"the journal {shown_url(url)!r} has bytes that are not UTF-8: in a URL, write them as %XX"
        ) from None


def _open_remote(url: str, engine: Engine, rest: str, create: bool, patience: float | None) -> Journal:
    """A journal on a server, with what this machine can do while the server is away."""
    from planwire.journal.away.journal import AwayJournal  # noqa: PLC0415  (no journal in a file needs it)

    def opened() -> Journal:
        journal = open_engine(url, create=create)
        return journal if patience is None else hurried(journal)

    engine.load()
    return AwayJournal(opened, away_path(engine.shared(rest) or url), patience)


def _unknown(url: str, engine: Engine | None) -> UnknownJournal:
    rows = (*_ENGINES.values(), *([engine] if engine else []))
    *others, last = ("a path", *dict.fromkeys(each.urls for each in rows))
    known, shown = f"known are {', '.join(others)} and {last}", shown_url(url)
    if engine is _ENGINES[FILE_SCHEME]:
        return UnknownJournal(f"the journal {shown!r} names no file: {known}")
    return UnknownJournal(f"no journal has the URL {shown!r}: {known}. A file with a colon in its name is ./NAME")


def is_remote(url: str | None = None) -> bool:
    """Whether a server keeps a journal, so that several people may share it."""
    engine, _ = _engine(resolved(url or os.environ.get(VARIABLE) or str(default_path())))
    return engine is not None and engine.remote


def shared_url(url: str | None = None) -> str | None:
    """The URL by which processes in other folders find the same journal; None if none can, as for one in memory."""
    url = resolved(url or os.environ.get(VARIABLE) or str(default_path()))
    engine, rest = _engine(url)
    return engine.shared(rest) if engine else url


def file_of(url: str | None = None) -> Path | None:
    """The file that keeps a journal; None if it is kept elsewhere."""
    scheme, _, path = (shared_url(url) or "").partition(":")
    return Path(path) if scheme == FILE_SCHEME else None


def unrevealing_url(url: str) -> str:
    """A URL for settings and command lines, which others see. One with a secret is put into a file of the user's own,
    and becomes `@PATH`. Any other becomes the one by which processes in other folders find the same journal."""
    if url.startswith(FILE):
        return f"{FILE}{expanded(url[len(FILE) :]).absolute()}"
    shared = shared_url(url) or url
    if not has_secret(shared):
        return shared
    path = default_path().parent / "journals" / f"{digest(shared)}.url"
    write_url(path, shared)
    return f"{FILE}{path}"


def _engine(url: str) -> tuple[Engine | None, str]:
    """The row for a URL, and the rest of it. A URL without a scheme is a path."""
    found = _URL.fullmatch(url)
    scheme, rest = (found[1].lower(), found[2]) if found else (FILE_SCHEME, url)
    engine = _ENGINES.get(scheme) or _added(scheme)
    if engine is not None and engine.remote:
        _refuse_stray_bytes(url)
    return engine, rest


def _added(scheme: str) -> Engine | None:
    """The engine that another package adds for a scheme."""
    from importlib.metadata import entry_points  # noqa: PLC0415  (only a scheme that is not our own needs it)

    for each in entry_points(group=ENTRY_POINTS, name=scheme):
        try:
            engine = each.load()
        except Exception as error:
            raise UnknownJournal(
                f"the engine for {scheme}: journals, {each.value}, can't be loaded ({type(error).__name__}: {error}): "
                "install its package again"
            ) from error
        if isinstance(engine, Engine):
            ours = partial(_in_our_words, scheme)
            return engine._replace(open=ours(engine.open), shared=ours(engine.shared), load=ours(engine.load))
        raise UnknownJournal(
            f"the entry point {each.value} for {scheme}: does not lead to a planwire.journal.engines.Engine: install "
            "a version of its package for this planwire"
        )
    return None


def _in_our_words(scheme: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a call into another package: nothing here would catch its own errors. Their words may quote the URL, so they
    are left out if it has a secret."""

    def called(*arguments: Any) -> Any:
        try:
            return call(*arguments)
        except PlanwireError:
            raise
        except Exception as error:
            words = "" if arguments and has_secret(f"{scheme}:{arguments[0]}") else f": {error}"
            raise JournalUnavailable(
                f"the engine for {scheme}: journals, of another package, failed ({type(error).__name__}{words}): "
                "tell the makers of that package, or name another journal"
            ) from error

    return called


def _open_memory(rest: str, _create: bool) -> Journal | None:
    from planwire.journal.memory import MemoryJournal  # noqa: PLC0415  (see above)

    return None if rest else MemoryJournal()


def _open_sqlite(rest: str, create: bool) -> Journal | None:
    path = _path(rest)
    return None if not path or path.startswith("//") or "\0" in path else _open_file(path, create)


def _postgres() -> "type[PostgresJournal]":
    try:
        from planwire.journal.postgres.journal import PostgresJournal  # noqa: PLC0415  (see above)
    except ImportError as error:
        raise missing_extra("a journal in PostgreSQL", "psycopg", error) from error
    return PostgresJournal


def _open_postgres(rest: str, create: bool) -> Journal | None:
    return _postgres()(f"postgresql:{rest}", create=create) if rest.startswith("//") else None


def _jetstream() -> "type[JetStreamJournal]":
    from planwire.journal.jetstream.journal import JetStreamJournal  # noqa: PLC0415  (see above)

    return JetStreamJournal


def _open_jetstream(scheme: str, rest: str, create: bool) -> Journal | None:
    return _jetstream()(f"{scheme}:{rest}", create=create) if rest.startswith("//") else None


def _open_file(name: str, create: bool) -> Journal:
    path = expanded(name)
    if not create and not _is_there(path):
        raise absent(shown_url(str(path)))
    require_folder(path)
    from planwire.journal.sqlite.archive import open_sqlite  # noqa: PLC0415  (see above)

    return open_sqlite(path)


def require_folder(path: Path) -> None:
    """Raise `NoJournal` if the folder for a new journal does not exist, unless the journal is the user's own."""
    folder = path.absolute().parent
    if path != default_path() and not _is_there(Path(os.path.realpath(folder))):
        raise NoJournal(
            f"there is no folder {shown_url(str(folder))} to create the journal {path.name} in: make that folder "
            f"first, or look for a typo in the name of the journal (--journal or {VARIABLE})"
        )


def _is_there(path: Path) -> bool:
    """Whether something has a name. If the system doesn't tell, whoever opens it says why."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _path(rest: str) -> str:
    """The path in `sqlite:PATH` or `sqlite:///ABSOLUTE/PATH`."""
    return rest.removeprefix("//") if rest.startswith("///") else rest


_ENGINES: Final = {
    FILE_SCHEME: Engine(
        "sqlite:PATH, sqlite:///ABSOLUTE/PATH",
        _open_sqlite,
        lambda rest: f"{FILE_SCHEME}:{expanded(_path(rest)).absolute()}",
    ),
    "memory": Engine("memory:", _open_memory, lambda _: None),
    **{
        scheme: Engine(
            "postgresql://HOST/DATABASE",
            _open_postgres,
            lambda rest: f"postgresql:{rest}",
            remote=True,
            load=_postgres,
        )
        for scheme in ("postgresql", "postgres")
    },
    **{
        scheme: Engine(
            "nats://HOST (or tls://HOST)",
            partial(_open_jetstream, scheme),
            partial("{}:{}".format, scheme),
            remote=True,
            load=_jetstream,
        )
        for scheme in ("nats", "tls")
    },
}
