"""The plan that a person steers from the command line: finding it, confirming it, and writing the act."""

import argparse
from collections.abc import Callable
from time import time_ns
from typing import Final, NamedTuple

from planwire.cli.acting_person import has_terminal
from planwire.cli.input_output import agreed
from planwire.cli.session_argument import choose_plan, choose_session, named_session, session_at
from planwire.errors import EngineAway, InputError, NotFound, Refused
from planwire.journal import Journal
from planwire.readmodel.card import PlanCard
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.plain_text import in_quotes, one_line
from planwire.readmodel.shown import ShownSession
from planwire.readmodel.unseen import unseen_words
from planwire.session.moved_on import MovedOn
from planwire.session.steering import Steered, steer
from planwire.steering.wanted import Wanted

#: The most events that a conflict error lists.
LISTED: Final = 8


class SteeredPlan(NamedTuple):
    """A plan as it is now, and as the person saw it: step names refer to the plan that they saw."""

    session: ShownSession
    card: PlanCard
    seen: PlanCard
    revision: int


def find_plan(
    journal: Journal,
    arguments: argparse.Namespace,
    meant: Callable[[ShownSession], PlanCard | None] = ShownSession.main_card,
    *,
    asking: bool = False,
) -> SteeredPlan:
    """The plan that the arguments name, or else the one that is `meant`, at the revision that they name. `asking`: the
    act is an answer, so a session that needs a person comes before the latest one; a session of another folder only if
    the person is shown the plan before they say yes."""
    files = FilePlans()
    elsewhere = asking and not _has_seen(arguments)
    known = choose_session(journal, named_session(arguments), asking=asking, elsewhere=elsewhere)
    session = session_at(journal, known, files=files)
    cards = session.cards()
    card = meant(session) if arguments.plan is None else _named_card(session, arguments.plan)
    if card is None and not cards:
        raise NotFound(f"session {session.id!r} has no plans{' left' if session.dismissed() else ''}")
    if card is None:
        names = ", ".join(repr(one_line(each.title)) for each in cards)
        raise InputError(f"the session has {len(cards)} plans: pass --plan with one of {names}")
    if arguments.revision is None:
        return SteeredPlan(session, card, card, card.revision)
    try:
        seen = session_at(journal, known, arguments.revision, files).card(card.id)
    except EngineAway as error:
        without = "leave out --revision to say it about the plan as it was last known here"
        raise EngineAway(f"{error}. Only the server has the plan as you saw it: {without}") from None
    return SteeredPlan(session, card, seen or card, arguments.revision)


def _named_card(session: ShownSession, name: str) -> PlanCard:
    """The plan with this name. Dismissed plans are found as well, so that the refusal can say so."""
    return choose_plan((*session.cards(), *session.dismissed()), name)


def _has_seen(arguments: argparse.Namespace) -> bool:
    """Whether the plan need not be shown before the act: the person named the revision they saw, or passed `--yes`."""
    return arguments.revision is not None or arguments.yes


def confirm(target: SteeredPlan, arguments: argparse.Namespace, question: str, *, decides: bool) -> None:
    """Show the plan and ask, unless `--revision` says what the person saw or `--yes` says not to ask. Without a
    question, only show it: the person is asked for their answer next. An act that `decides` on the plan shows it even
    then, if nobody is at a terminal: what was decided stands beside the decision."""
    has_seen = _has_seen(arguments)
    if has_seen and (not decides or has_terminal()):
        return
    if arguments.json and not has_seen:
        raise InputError(
            "pass --revision N for the plan you saw (planwire show prints N), or --yes for the plan as it is now"
        )
    card, record = target.card, target.card.record
    is_over = record is not None and not (card.needs_you or record.has_work_left)
    if decides and is_over and not (has_seen or arguments.changes):
        title = in_quotes(one_line(card.title))
        raise Refused(f"no question is open, and nothing of {title} is left to do: pass --yes to say so all the same")
    from planwire.terminal.lines import new_console
    from planwire.terminal.records import session_record_view

    view = session_record_view(target.session, time_ns() // 1_000_000, chosen=target.card.id, only=True)
    new_console(stderr=arguments.json).print(view)
    if question and not has_seen and not agreed(f"{question.removesuffix('?')}{unseen_words(card)}?"):
        raise Refused("nothing was changed")


def write(journal: Journal, target: SteeredPlan, wanted: Wanted, by: str) -> Steered:
    """Write a person's act."""
    file = target.session.files.get(target.card.id)
    steps = file.readable if file else None
    return steer(journal, target.session.journalled, target.card.id, wanted, by, steps)


def conflict_error(moved: MovedOn) -> Refused:
    """The error that tells what happened to a plan since the person saw it, and how to decide again."""
    earlier = len(moved.moments) - LISTED
    lines = [f"  {earlier} earlier (planwire log)"] if earlier > 0 else []
    lines += [
        f"  {moment.seq}  {one_line(moment.by)}: {one_line('; '.join(word.sentence for word in moment.words))}"
        for moment in moved.moments[-LISTED:]
    ]
    since_then = "\n".join(lines or [f"  (this plan has no revision {moved.seen})"])
    again = f"Look at it again (planwire show), then pass --revision {moved.revision}."
    return Refused(f"{one_line(str(moved))} Since then:\n{since_then}\n{again}")
