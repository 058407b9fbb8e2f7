"""`planwire export`: a session as a document, as a file to import, or as ACP messages."""

import argparse
import sys
from collections.abc import Iterator
from typing import Any, Final

from planwire.acp import Dialect, Update, write
from planwire.acp.dialects import DIALECTS, dialect
from planwire.acp.lower import Fallback, ListPlace
from planwire.acp.write import write_update
from planwire.cli.argument_types import revision
from planwire.cli.input_output import write_text
from planwire.cli.session_argument import (
    add_journal_option,
    add_session_argument,
    choose_session,
    named_session,
    session_at,
)
from planwire.errors import InputError
from planwire.hooks.drained import open_drained
from planwire.journal.session_file import export_lines
from planwire.readmodel.as_markdown import session_markdown
from planwire.readmodel.plain_text import escaped_json
from planwire.readmodel.shown import ShownSession

DESCRIPTION = "Print a session: its plans as a document or as ACP messages, or all of its events for planwire import."

EXAMPLES = """\
examples:
  planwire export > plan.md                              a document with checkboxes; planwire import reads it back, too
  planwire export 3f2a91bc --format json > session.json  the whole session; planwire import reads it back
  planwire export --format acp --dialect v2              the plans as session/update messages, one per line
  planwire export --at 12                                the plans as they were after event 12

What the agent thought stays on this machine, unless you ask for it with --thoughts.
"""

FORMATS: Final = ("md", "json", "acp")
#: Other names for them.
_ALIASES: Final = {"markdown": "md"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument(
        "--format",
        metavar="FORMAT",
        type=lambda name: _ALIASES.get(name, name),
        choices=FORMATS,
        default="md",
        help=f"{' | '.join(FORMATS)} (default: md)",
    )
    parser.add_argument(
        "--dialect", metavar="DIALECT", choices=list(DIALECTS), help=f"with acp: {' | '.join(DIALECTS)} (default: v1)"
    )
    parser.add_argument("--at", metavar="SEQ", type=revision, help="as it was after this event")
    parser.add_argument("--thoughts", action="store_true", help="with json: what the agent thought, too")
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.dialect and arguments.format != "acp":
        raise InputError(f"--dialect needs --format acp, not {arguments.format}")
    if arguments.thoughts and arguments.format != "json":
        raise InputError(f"--thoughts needs --format json, not {arguments.format}")
    with open_drained(arguments.journal) as journal:
        known = choose_session(journal, named_session(arguments))
        session = session_at(journal, known, arguments.at)
        if arguments.format == "json":
            thoughts = journal.thoughts if arguments.thoughts else None
            for text in export_lines(known.id, journal.read(known.id, upto=session.glance.last_seq), thoughts):
                write_text(escaped_json(text))
    if arguments.format == "md":
        text = session_markdown(session)
        write_text(text if text.endswith("\n") or not sys.stdout.isatty() else f"{text}\n")
    elif arguments.format == "acp":
        for line in acp_lines(session, dialect(arguments.dialect or "v1")):
            write_text(line)
    return 0


def acp_lines(session: ShownSession, peer: Dialect) -> Iterator[str]:
    """The live plans as messages in a client's dialect."""
    if peer.operations:
        plans = [record.state.plan for record in session.journalled.live().values()]
        lines = [write(Update(session.id, "plan_update", plan), peer) for plan in plans]
    else:
        lines = [write_update(session.id, update) for update in _lowered(session)]
    for line in lines:
        yield escaped_json(line.decode()) + "\n"


def _lowered(session: ShownSession) -> Iterator[dict[str, Any]]:
    """The messages of the living plans, and last the one list. Plans that ended keep their names in it."""
    fallback = Fallback(session.file_text)
    last = None
    for plan_id, record in session.journalled.plans.items():
        steps = tuple(step.id for step in record.state.steps)
        updates = fallback.put(record.state.plan, ListPlace(steps, record.parent))
        if not record.is_living:
            updates = fallback.remove(plan_id)
        for update in updates:
            if update["sessionUpdate"] == "plan":
                last = update
            else:
                yield update
    if last is not None:
        yield last
