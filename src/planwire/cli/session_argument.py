"""The journal, session and plan that arguments name: a session by its id or the beginning of it, or else the latest of
this folder.

Every command about one session takes `--session`. Where no other word comes first, the session may also stand alone.
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from itertools import pairwise
from time import time_ns
from typing import Final

from planwire.errors import InputError, NotFound
from planwire.journal import Journal, KnownSession, load_state, state_at
from planwire.model.events import SessionOpened
from planwire.model.fold import SessionState
from planwire.model.plan import PlanId
from planwire.readmodel.folders import latest_of_folder, newest_first
from planwire.readmodel.history import plan_name
from planwire.readmodel.plain_text import age, one_line

__all__ = [
    "SESSION_HELP",
    "add_journal_option",
    "add_session_argument",
    "add_session_option",
    "choose_plan",
    "choose_session",
    "named_session",
    "named_sessions",
    "short_ids",
    "short_list",
    "state_of",
    "this_folder",
]

SESSION_HELP: Final = "a session's id, or the beginning of it (default: the latest session of this folder)"

#: The least length of a short id.
SHORT: Final = 8
#: Limits the sessions in an error message.
LISTED: Final = 8
#: The most characters of a title in that list.
TITLE_LENGTH: Final = 40


def add_journal_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--journal",
        metavar="URL",
        help="where the plans are kept (default: $PLANWIRE_JOURNAL, or the user's own journal)",
    )


def add_session_argument(parser: ArgumentParser, help: str = SESSION_HELP, *, several: bool = False) -> None:
    """Let a command take a session, or `several`, both as a word and with `--session`."""
    parser.add_argument("session", metavar="SESSION", nargs="*" if several else "?", help=help)
    parser.add_argument("--session", metavar="SESSION", action="append", dest="options", help="the same as SESSION")


def add_session_option(parser: ArgumentParser, help: str = SESSION_HELP) -> None:
    """Let a command take a session with `--session` only, since its words mean something else."""
    parser.add_argument("--session", metavar="SESSION", help=help)


def named_sessions(arguments: Namespace) -> list[str]:
    """The sessions that the arguments of `add_session_argument` name."""
    words = [arguments.session] if isinstance(arguments.session, str) else arguments.session or []
    options = arguments.options or []
    if words and options and {*words} != {*options}:
        raise InputError(f"which session, {words[0]!r} or {options[0]!r}? Name it once, with or without --session")
    return words or options


def named_session(arguments: Namespace) -> str | None:
    """The one session that they name; None if there is none."""
    names = {*named_sessions(arguments)}
    if len(names) > 1:
        raise InputError(f"this command takes one session, not {len(names)}: leave the others out")
    return next(iter(names), None)


def choose_session(journal: Journal, name: str | None) -> KnownSession:
    """The session with that name or beginning. The error lists the latest ones."""
    known = newest_first(journal)
    if not known:
        raise NotFound("the journal has no sessions yet: run an agent behind planwire (planwire relay -- AGENT)")
    if name is not None:
        return _beginning_with(journal, known, name)
    folder = this_folder()
    latest = latest_of_folder(journal, folder)
    if latest is None:
        raise NotFound(
            f"no session was run in {folder}. The latest ones are:\n{short_list(journal, known)}\n"
            "Name one of them, or go to its folder: `planwire sessions` lists them all"
        )
    return latest


def this_folder() -> str:
    """The current folder, or an error if it is gone."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        raise InputError("the folder that this shell is in is gone: go to another one, or name the session") from None


def choose_plan(plans: Iterable[PlanId], name: str) -> PlanId:
    """The plan with that id or beginning. `plan` names the one without an id, as on the screen."""
    names = {plan_name(plan_id): plan_id for plan_id in plans}
    found = [each for each in names if each == name] or [each for each in names if each.startswith(name)]
    listed = f"its plans are: {', '.join(map(repr, names)) or 'none'}"
    if not found:
        raise NotFound(f"no plan of this session begins with {name!r}; {listed}")
    if len(found) > 1:
        raise InputError(f"{len(found)} plans begin with {name!r}; {listed}")
    return names[found[0]]


def state_of(journal: Journal, known: KnownSession, at: int | None = None) -> SessionState:
    """A session now, or right after the event `at`."""
    if at is None:
        return load_state(journal, known.id)
    if at > known.last_seq:
        raise NotFound(f"session {known.id!r} has {known.last_seq} events: there is no revision {at} of it")
    return state_at(journal, known.id, at)


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """The shortest unique beginning of every id; the whole id where another one continues it."""
    ordered = sorted(ids)
    lengths = dict.fromkeys(ordered, SHORT)
    for one, other in pairwise(ordered):
        unlike = len(os.path.commonprefix([one, other])) + 1  # noqa: RUF071  (of characters)
        lengths[one] = max(lengths[one], unlike)
        lengths[other] = max(lengths[other], unlike)
    return {each: each[:length] for each, length in lengths.items()}


def _beginning_with(journal: Journal, known: list[KnownSession], name: str) -> KnownSession:
    found = [session for session in known if session.id == name] or [
        session for session in known if session.id.startswith(name)
    ]
    if not found:
        raise NotFound(f"no session begins with {name!r}. The latest ones are:\n{short_list(journal, known)}")
    if len(found) > 1:
        raise InputError(f"{len(found)} sessions begin with {name!r}: use more of the id\n{short_list(journal, found)}")
    return found[0]


def short_list(journal: Journal, known: list[KnownSession]) -> str:
    """The latest sessions for an error message, a line each, and the number of the others."""
    short = short_ids(session.id for session in journal.sessions())
    now = time_ns() // 1_000_000
    lines = []
    for session in known[:LISTED]:
        opened = load_state(journal, session.id).opened or SessionOpened()
        words = [one_line(opened.title or opened.agent or "", TITLE_LENGTH), one_line(opened.cwd or "")]
        details = ", ".join([*filter(None, words), age(session.last_at, now)])
        lines.append(f"  {one_line(short[session.id])}  {details}")
    if len(known) > LISTED:
        lines.append(f"  and {len(known) - LISTED} more")
    return "\n".join(lines)
