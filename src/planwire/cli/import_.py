"""`planwire import`: add an exported session to a journal."""

import argparse

from planwire.cli.input_output import opened, print_json
from planwire.cli.session_argument import add_journal_option
from planwire.errors import Conflict, InputError, Refused
from planwire.journal import Stamped, open_journal
from planwire.journal.session_file import read_export
from planwire.readmodel.plain_text import one_line
from planwire.session.writer import append_new

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

DESCRIPTION = "Add a session that was exported as JSON to the journal, with its whole history."

EXAMPLES = """\
examples:
  planwire import session.json                       what planwire export --format json wrote, under its own id
  planwire import session.json --as review-copy      under another id
  ssh host planwire export --format json | planwire import -

A session that is already in the journal is never overwritten: import it --as another one, or forget that one first.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="an exported session; - for standard input")
    parser.add_argument("--as", metavar="ID", dest="new_id", help="the id that it gets here (default: its own)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    name = "standard input" if arguments.file == "-" else arguments.file
    with opened(arguments.file) as file:
        exported = read_export(file.read(), name)
    session = exported.session if arguments.new_id is None else arguments.new_id
    if not session:
        raise InputError("a session needs an id: give it one with --as ID")
    events = [Stamped(each.at, each.by, each.event) for each in exported.events]
    with open_journal(arguments.journal) as journal:
        try:
            append_new(journal, session, events)
        except Conflict:
            raise Refused(
                f"the journal has a session {session!r} already, and it was left as it is: "
                f"import this one under another id with --as ID, or look at it with planwire show {one_line(session)}"
            ) from None
    if arguments.json:
        print_json({"session": session, "events": len(events)})
    else:
        print(f"imported {len(events):,} events as {one_line(session)}")
    return 0
