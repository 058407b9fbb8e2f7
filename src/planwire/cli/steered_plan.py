"""The plan that a person steers from the command line: which one, at which revision, and the write itself."""

import argparse
import sys
from collections.abc import Callable
from time import time_ns
from typing import Final, NamedTuple

from planwire.cli.argument_types import revision
from planwire.cli.input_output import agreed
from planwire.cli.session_argument import add_journal_option, add_session_option, choose_plan, choose_session
from planwire.errors import InputError, NotFound, PlanError, Refused
from planwire.journal import Journal, load_state
from planwire.model.events import Event
from planwire.model.fold import PlanRecord, SessionState
from planwire.model.plan import MAIN, PlanId
from planwire.readmodel.history import plan_name
from planwire.readmodel.overview import overview
from planwire.readmodel.plain_text import one_line
from planwire.session.moved_on import MovedOn
from planwire.session.writer import steer

__all__ = ["REVISION_HELP", "SteeredPlan", "add_target", "confirm", "find_target", "write"]

REVISION_HELP: Final = "the revision that you saw: refused if the plan has changed since"
#: Limits the events that such an error lists.
LISTED: Final = 8


class SteeredPlan(NamedTuple):
    """A plan in the state of its session that the command read."""

    plan_id: PlanId
    state: SessionState

    @property
    def record(self) -> PlanRecord:
        return self.state.plans[self.plan_id]


def add_target(parser: argparse.ArgumentParser, *, asks: bool = True) -> None:
    add_session_option(parser)
    parser.add_argument("--plan", metavar="PLAN", help="which plan (default: the only one, or main)")
    if asks:
        parser.add_argument("--revision", metavar="N", type=revision, help=REVISION_HELP)
        parser.add_argument("--yes", action="store_true", help="take the plan as it is now, without asking")
    add_journal_option(parser)


def find_target(journal: Journal, arguments: argparse.Namespace) -> SteeredPlan:
    state = load_state(journal, choose_session(journal, arguments.session).id)
    live = state.live()
    if not live:
        raise NotFound(f"session {state.id!r} has no plan")
    if arguments.plan is not None:
        plan_id = choose_plan(live, arguments.plan)
    elif len(live) == 1 or MAIN in live:
        plan_id = MAIN if MAIN in live else next(iter(live))
    else:
        names = ", ".join(repr(plan_name(each)) for each in live)
        raise InputError(f"which plan? Name it with --plan: there are {names}")
    return SteeredPlan(plan_id, state)


def confirm(target: SteeredPlan, arguments: argparse.Namespace, question: str) -> int:
    """The revision that the person decides about: the one they name, or the one they see and say yes to."""
    if arguments.revision is not None:
        return int(arguments.revision)
    if not arguments.yes:
        if not sys.stdin.isatty():
            raise InputError(
                "which revision? Pass --revision N (planwire show has it), or --yes for the plan as it is now"
            )
        from planwire.terminal.lines import new_console
        from planwire.terminal.records import session_record_view

        now = time_ns() // 1_000_000
        glance = overview(target.state, now, now)
        new_console(wide=False).print(session_record_view(target.state, glance, now, chosen=target.plan_id, only=True))
        if not agreed(question):
            raise Refused("nothing was written")
    return target.record.revision


def write(journal: Journal, target: SteeredPlan, prepare: Callable[[SessionState], Event]) -> SessionState:
    """Append the person's act behind the events of others. If the plan moved on since their revision, the error says
    how, for them to look at before they decide again."""
    try:
        return steer(journal, target.state, target.plan_id, prepare)
    except MovedOn as moved:
        lines = [
            f"  {moment.seq}  {one_line(moment.by)}: {one_line('; '.join(word.text for word in moment.words))}"
            for moment in moved.moments[-LISTED:]
        ]
        since_then = "\n".join(lines or ["  (that revision is not one of this plan)"])
        again = f"Look at it (planwire show), then decide again with --revision {moved.revision}"
        raise PlanError(f"{moved}. Since then:\n{since_then}\n{again}") from None
