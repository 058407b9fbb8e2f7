"""The journal, session and plan that arguments name: a session by its id or the beginning of it, or by default the
latest of this folder; a plan by its id or its title, or the beginning of either.

Every command about one session takes `--session`. If it has no other positional argument, the session may be one, too.
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from time import time_ns
from typing import Final

from planwire.cli.journal_option import add_journal_option
from planwire.errors import EngineAway, InputError, NotFound
from planwire.journal import Journal
from planwire.readmodel.away_words import is_away
from planwire.readmodel.card import PlanCard
from planwire.readmodel.folders import (
    KnownSession,
    asking_in_folder,
    latest_of_folder,
    newest_first,
    sessions_named,
    short_ids,
)
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.plain_text import ago, one_line
from planwire.readmodel.sessions import load_session
from planwire.readmodel.shown import ShownSession
from planwire.session.lapses import end_lapsed

__all__ = [
    "SESSION_HELP",
    "add_journal_option",
    "add_session_argument",
    "add_session_option",
    "choose_plan",
    "choose_session",
    "named_session",
    "named_sessions",
    "refuse_beginning",
    "session_at",
    "short_list",
    "this_folder",
]

SESSION_HELP: Final = "a session's id, or the beginning of it (default: the latest session of this folder)"

#: The most sessions that an error message lists.
LISTED: Final = 8
#: The most characters of a title in that list.
TITLE_LENGTH: Final = 40


def add_session_argument(parser: ArgumentParser, help: str = SESSION_HELP, *, several: bool = False) -> None:
    """Let a command take a session, or `several`, both as an argument and with `--session`."""
    parser.add_argument("session", metavar="SESSION", nargs="*" if several else "?", help=help)
    parser.add_argument("--session", metavar="SESSION", action="append", dest="options", help="the same as SESSION")


def add_session_option(parser: ArgumentParser, help: str = SESSION_HELP) -> None:
    """Let a command take a session with `--session` only, since its arguments mean something else."""
    parser.add_argument("--session", metavar="SESSION", help=help)


def named_sessions(arguments: Namespace) -> list[str]:
    """The sessions that the arguments of `add_session_argument` or `add_session_option` name."""
    words = [arguments.session] if isinstance(arguments.session, str) else arguments.session or []
    options = vars(arguments).get("options") or []
    if words and options and {*words} != {*options}:
        raise InputError(f"two sessions, {words[0]!r} and --session {options[0]!r}: pass only one of them")
    return words or options


def named_session(arguments: Namespace) -> str | None:
    """The one session that they name; None if there is none."""
    names = {*named_sessions(arguments)}
    if len(names) > 1:
        raise InputError(f"{len(names)} sessions: this command takes only one")
    return next(iter(names), None)


def choose_session(
    journal: Journal, name: str | None, *, asking: bool = False, elsewhere: bool = False
) -> KnownSession:
    """The session with this id or beginning. The error lists the latest ones. Turns of processes that died are ended
    first. `asking`: without a name, a session here that needs a person comes before the latest. `elsewhere`: if no
    session was run here, the only one anywhere that needs a person is meant."""
    end_lapsed(journal)
    known = newest_first(journal)
    if not known:
        raise NotFound("the journal has no sessions yet: run an agent behind planwire (planwire relay -- AGENT)")
    if name is None:
        if asking and (found := _asking_here(journal)):
            return found
        return _latest_here(journal, known, elsewhere=elsewhere, looks=not asking)
    named = sessions_named(journal, name)
    if not named:
        listed = short_list(journal, known)
        if is_away(journal):
            raise NotFound(
                f"this machine has not seen a session that begins with {name!r}, and the journal's server can't be "
                "asked now (planwire doctor says why): try again once it can, or do this on the machine where the "
                f"session runs. Seen here were:\n{listed}"
            )
        raise NotFound(f"no session begins with {name!r}. The latest ones are:\n{listed}")
    if len(named) > 1:
        raise InputError(f"{len(named)} sessions begin with {name!r}: use more of the id\n{short_list(journal, named)}")
    return named[0]


def refuse_beginning(journal: Journal, name: str | None, session: str) -> None:
    """Refuse to write to a session named by the beginning of its id while the server is away, which may know another
    session with that id or beginning."""
    if name not in (None, session) and is_away(journal):
        raise EngineAway(
            f"the journal's server can't be asked now, and may have other sessions that begin with {name!r}: pass the "
            f"whole id of the one that you mean. Seen here was {one_line(session)}"
        )


def _asking_here(journal: Journal) -> KnownSession | None:
    """The session of this folder that needs a person, or None. Of several, the one that is the latest session here;
    without it, an error asks which is meant."""
    folder = this_folder()
    found = asking_in_folder(journal, folder)
    if len(found) < 2:
        return found[0] if found else None
    if latest_of_folder(journal, folder) == found[0]:
        return found[0]
    listed = short_list(journal, found)
    raise InputError(f"{len(found)} sessions of this folder need you: pass the one that you mean\n{listed}")


def _latest_here(journal: Journal, known: Sequence[KnownSession], *, elsewhere: bool, looks: bool) -> KnownSession:
    """The latest session of this folder. A command that only `looks` may mean one in a folder of that name on another
    machine."""
    folder = this_folder()
    latest = latest_of_folder(journal, folder, elsewhere=looks)
    if latest is None and elsewhere and len(found := asking_in_folder(journal, None)) == 1:
        return found[0]
    if latest is None:
        raise NotFound(
            f"no session was run in {folder}. The latest ones are:\n{short_list(journal, known)}\n"
            "Pass one of these ids, or change to its folder. planwire sessions lists all sessions."
        )
    return latest


def this_folder() -> str:
    """The current folder, or an error if it is gone."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        raise InputError("the current folder no longer exists: change to another one, or pass --session") from None


def choose_plan(cards: Sequence[PlanCard], name: str) -> PlanCard:
    """The plan with this id or title, or else the one whose id or title begins with it; of several, the one that was
    not dismissed. Titles match in any case. An exact id comes first, even of a dismissed plan: the ids of its children
    begin with it."""
    words = one_line(name).casefold()
    names = [(card, card.id or "", one_line(card.title).casefold()) for card in cards]
    found = (
        [card for card, plan_id, _ in names if plan_id == name]
        or [card for card, _, title in names if title == words]
        or [card for card, plan_id, title in names if plan_id.startswith(name) or title.startswith(words)]
    )
    found = [card for card in found if not card.removed] or found
    if len(found) == 1:
        return found[0]
    listed = f"its plans are: {', '.join(map(_named, cards)) or 'none'}"
    if not found:
        raise NotFound(f"no plan of this session begins with {name!r}; {listed}")
    raise InputError(f"{len(found)} plans begin with {name!r}; {listed}")


def _named(card: PlanCard) -> str:
    """A plan's title, and its id if that differs."""
    title = repr(one_line(card.title))
    return title if card.id in (None, card.title) else f"{title} ({one_line(card.id)})"


def session_at(
    journal: Journal, known: KnownSession, at: int | None = None, files: FilePlans | None = None
) -> ShownSession:
    """A session now, or right after the event `at`."""
    return load_session(journal, known, files or FilePlans(), at)


def short_list(journal: Journal, known: Sequence[KnownSession]) -> str:
    """The latest sessions for an error message, one line each, and the number of the rest."""
    short = short_ids({session.id for session in (*journal.sessions(), *known)})
    now = time_ns() // 1_000_000
    lines = []
    for session in known[:LISTED]:
        glance = session_at(journal, session).glance
        words = [one_line(glance.title or glance.agent or "", TITLE_LENGTH), one_line(glance.cwd or "")]
        details = ", ".join([*filter(None, words), ago(session.last_at, now)])
        lines.append(f"  {one_line(short[session.id])}  {details}")
    if len(known) > LISTED:
        lines.append(f"  and {len(known) - LISTED} more")
    return "\n".join(lines)
