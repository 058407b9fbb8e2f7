"""`planwire import`: add a session to a journal from a file, or the past sessions of an agent."""

import argparse
from time import time_ns

from planwire.chat import read_trajectory
from planwire.cli import import_transcripts
from planwire.cli.input_output import opened, print_json
from planwire.cli.session_argument import add_journal_option
from planwire.cli.streams import format_of
from planwire.errors import Conflict, InputError, NoStream, PlanwireError, Refused
from planwire.journal import open_journal
from planwire.journal.session_file import Exported
from planwire.journal.thoughts import is_genuine, keep_all
from planwire.readmodel.plain_text import one_line
from planwire.session.chat_import import chat_events
from planwire.session.import_file import read_import
from planwire.session.known_agents import way_below
from planwire.session.writer import append_new

DESCRIPTION = """\
Add a session to the journal: one that was exported as JSON, with its whole history; the plans of a document by
planwire export; or a stored chat, such as Refact's trajectories, with its plans.
With --from, add the past sessions of an agent in a terminal, from the transcripts that it keeps."""

EXAMPLES = """\
examples:
  planwire import session.json                       a file written by planwire export --format json
  planwire import plan.md                            the plans of a document by planwire export
  planwire import session.json --as review-copy      under another id
  planwire import trajectory.json                    a chat of Refact's, with its plan and notes
  ssh host planwire export --format json | planwire import -
  planwire import --from claude-code --dry-run       which past sessions have plans
  planwire import --from codex --since 30d           those of the last 30 days
  planwire import --from claude-code --folder .      those of this folder

An existing session is never overwritten: import under another id with --as, or forget the existing one first.
Transcripts are only read. Of what you asked and what the agent thought, nothing is kept unless you say so.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="an exported session; - for standard input; with --from: transcripts"
    )
    parser.add_argument("--as", metavar="ID", dest="new_id", help="import it under this id (default: its own)")
    import_transcripts.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    import_transcripts.check(arguments)
    if arguments.agent is not None:
        return import_transcripts.run(arguments)
    if arguments.file is None:
        raise InputError("pass a file that planwire export has written, or --from AGENT")
    name = "standard input" if arguments.file == "-" else arguments.file
    with opened(arguments.file) as file:
        data = file.read()
    exported = _of_chat(data) or read_import(data, name, time_ns() // 1_000_000, way_below())
    session = exported.session if arguments.new_id is None else arguments.new_id
    if not session:
        raise InputError("the session has no id: pass --as ID")
    with open_journal(arguments.journal) as journal:
        try:
            if not journal.last_seq(session):
                keep_all(journal, session, filter(is_genuine, exported.thoughts))
            append_new(journal, session, exported.events)
        except Conflict:
            raise Refused(
                f"the journal already has a session {session!r}. Nothing was imported: pass --as ID to import it under "
                f"another id (planwire show {one_line(session)} shows the existing one)"
            ) from None
    if arguments.json:
        print_json({"session": session, "events": len(exported.events)})
    else:
        print(f"Imported {len(exported.events):,} events as {one_line(session)}.")
    return 0


def _of_chat(data: bytes) -> Exported | None:
    """The session that a stored chat makes; None for any other file."""
    try:
        messages, around = read_trajectory(data)
        about = around or {}
        session, title = (value if isinstance(value := about.get(key), str) else None for key in ("id", "title"))
        return Exported(session or "", chat_events(messages, session or "chat", title, format_of(messages, None).name))
    except NoStream:
        return None
    except PlanwireError as error:
        raise InputError(f"the chat can't be imported: {error}") from None
