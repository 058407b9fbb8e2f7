"""`planwire log`: every change of a session, one line each."""

import argparse
from collections import deque
from collections.abc import Iterable

from planwire.cli.argument_types import count
from planwire.cli.input_output import json_line, write_text
from planwire.cli.pager import add_pager_option, paged
from planwire.cli.session_argument import (
    add_journal_option,
    add_session_argument,
    choose_plan,
    choose_session,
    named_session,
    session_at,
)
from planwire.hooks.drained import open_drained
from planwire.readmodel.as_json import entry_json
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.rationale import Reasons
from planwire.readmodel.timeline import moments_of

DESCRIPTION = (
    "List the changes in a session, one per line, oldest first; below a change to a plan, what its agent thought right "
    "before, as far as that was kept on this machine."
)

EXAMPLES = """\
examples:
  planwire log                     the latest session of this folder: number, when, who, what
  planwire log 3f2a91bc            another session
  planwire log --plan main         the changes to one plan
  planwire log --last 20           the newest changes only
  planwire log --json              one JSON object per line
  planwire show --at 12            the plans as they were after event 12
  planwire diff 12 20              what changed between two events
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("--plan", metavar="PLAN", help="only changes to this plan")
    parser.add_argument("--last", metavar="N", type=count, help="only the newest N changes")
    parser.add_argument("--messages", action="store_true", help="include chat messages")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    add_pager_option(parser)
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    with open_drained(arguments.journal) as journal:
        known = choose_session(journal, named_session(arguments))
        plan = None
        if arguments.plan is not None:
            session = session_at(journal, known)
            plan = choose_plan((*session.cards(), *session.dismissed()), arguments.plan)
        wanted = (
            moment
            for moment in moments_of(journal, known.id, FilePlans().of)
            if (plan is None or moment.is_about(plan.id)) and (arguments.messages or not moment.is_aside)
        )
        chosen = Reasons(journal).with_whys(wanted if arguments.last is None else deque(wanted, arguments.last))
        with paged(off=arguments.no_pager):
            if arguments.json:
                for moment in chosen:
                    write_text(json_line(entry_json(moment)))
            else:
                _print_lines(chosen, len(str(known.last_seq)))
    return 0


def _print_lines(moments: Iterable[HistoryEntry], numbers: int) -> None:
    from planwire.terminal.history_lines import moment_line, why_line
    from planwire.terminal.lines import line_printer, new_console

    console = new_console()
    write, short = line_printer(console), console.is_terminal
    for moment in moments:
        write(moment_line(moment, numbers, short=short))
        if moment.why:
            write(why_line(moment.why, numbers))
