"""The ids of sessions, plans, steps, remarks or options that a shell offers for an argument, from the journal that the
command line names.

Agents make ids up, and a shell may evaluate what it completes. So only ids that every shell reads as a plain word are
offered.
"""

import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

from planwire.cli.remark_argument import closed_remarks, open_remarks
from planwire.cli.session_argument import choose_session, session_at
from planwire.cli.steered_plan import find_plan
from planwire.journal import Journal, open_journal
from planwire.readmodel.folders import newest_first
from planwire.readmodel.shown import ShownSession
from planwire.steering.acts import ACTS

_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~%+,-]*")
#: Commands with a session as their first word that also have options with ids.
_SESSION_FIRST: Final = ("approve", "dismiss", "edit", "log", "show", "stop")

_REOPEN: Final = ACTS["reopen"].command


def plain_ids(ids: Iterable[str]) -> Iterator[str]:
    """The ids that every shell reads as a plain word."""
    return (each for each in ids if _PLAIN.fullmatch(each))


def offered_ids(kind: str, words: Sequence[str]) -> list[str]:
    """The ids of one of the `KINDS` for a command line whose `words` before the cursor are given, the program first.

    Raises a `PlanwireError` if the line names no such journal, session or plan.
    """
    named = {option.removeprefix("--"): word for option, word in pairwise(words) if option.startswith("--")}
    if len(words) > 2 and words[1] in _SESSION_FIRST and not words[2].startswith("-"):
        named.setdefault("session", words[2])
    command = words[1] if len(words) > 1 else ""
    target = Namespace(command=command, session=named.get("session"), plan=named.get("plan"), revision=None, yes=False)
    with open_journal(named.get("journal"), create=False) as journal:
        return list(plain_ids(KINDS[kind](journal, target)))


def _sessions(journal: Journal, _target: Namespace) -> Iterable[str]:
    return [session.id for session in newest_first(journal)]


def _plans(journal: Journal, target: Namespace) -> Iterable[str]:
    session = session_at(journal, choose_session(journal, target.session))
    return [card.id or card.title for card in session.cards()]


def _steps(journal: Journal, target: Namespace) -> Iterable[str]:
    return [row.id for row in find_plan(journal, target).card.rows]


def _remarks(journal: Journal, target: Namespace) -> Iterable[str]:
    """The open remarks of a session; for the command that reopens one, the closed ones."""
    session = session_at(journal, choose_session(journal, target.session))
    for card in (*session.cards(), *session.dismissed()):
        if target.command == _REOPEN:
            yield from closed_remarks(card)
        else:
            yield from (remark for remark, _ in open_remarks(card))


def _options(journal: Journal, target: Namespace) -> Iterable[str]:
    """The answers that the agent offers to its question."""
    question = find_plan(journal, target, partial(ShownSession.meant_card, act="review"), asking=True).card.question
    return [option.id for option in question.options] if question else []


KINDS: Final[dict[str, Callable[[Journal, Namespace], Iterable[str]]]] = {
    "sessions": _sessions,
    "plans": _plans,
    "steps": _steps,
    "remarks": _remarks,
    "options": _options,
}
