"""`planwire board`: every plan in the journal, live in the browser."""

import argparse
import os
import sys
import webbrowser

from planwire.cli.acting_person import add_person_options, steering_person
from planwire.cli.argument_types import digits, number
from planwire.cli.session_argument import add_journal_option
from planwire.hooks.drained import open_followed
from planwire.journal.engines import VARIABLE

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

_EDITORS = ("vscode", "vscodium", "cursor", "windsurf", "zed", "idea", "sublime", "none")

DESCRIPTION = "Serve the board: every session in a journal, with its plans and history, live."

_port = number("a number from 0 to 65535", digits, lambda port: port < 65_536)

EXAMPLES = """\
examples:
  planwire board                             serve the board and print its address
  planwire board --open                      open it in the browser too
  planwire board --journal ./plans.db        the plans of another journal
  planwire board --editor zed                plan files open in Zed

The board listens on this machine only. Its address contains a token, new at every start unless PLANWIRE_BOARD_TOKEN
holds one. Every page is also available as JSON: append .json to its address, and send the token as a Bearer token.
"""


_ONLY_SHOWS = "planwire: an agent started this board, so it only shows: with --as NAME --yes it steers, as NAME"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", metavar="PORT", type=_port, default=8414, help="the port to use; 0 is any free one (8414)"
    )
    parser.add_argument("--open", action="store_true", help="open the board in the browser")
    parser.add_argument("--editor", metavar="NAME", choices=_EDITORS, default="vscode", help=" | ".join(_EDITORS))
    parser.add_argument(
        "--folder",
        metavar="DIR",
        action="append",
        default=[],
        help="another folder whose plan files may be shown, besides those of the sessions; repeatable",
    )
    parser.add_argument(
        "--host", metavar="ADDRESS", default="127.0.0.1", help="an address of this machine to listen on (127.0.0.1)"
    )
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="another host name to accept; repeatable",
    )
    parser.add_argument(
        "--thoughts", action="store_true", help="show what agents thought, also on a board with --allow-host"
    )
    add_journal_option(parser)
    parser.add_argument("--create", action="store_true", help="create the journal if it does not exist")
    add_person_options(parser, yes="with --as: let people steer on a board that an agent starts")


def run(arguments: argparse.Namespace) -> int:
    from planwire.web import BoardServer

    by = steering_person(arguments)
    with open_followed(arguments.journal, create=arguments.create or not _is_named(arguments.journal)) as journal:
        server = BoardServer(
            journal,
            host=arguments.host,
            port=arguments.port,
            allow_hosts=arguments.allow_host,
            editor=None if arguments.editor == "none" else arguments.editor,
            folders=arguments.folder,
            by=by,
            thoughts=arguments.thoughts or not arguments.allow_host,
        )
        print(f"The board is at {server.address}", flush=True)
        if by is None:
            print(_ONLY_SHOWS, file=sys.stderr, flush=True)
        print("Press Ctrl+C to stop it.", file=sys.stderr, flush=True)
        if arguments.open:
            webbrowser.open(server.address)
        server.run()
    return 0


def _is_named(journal: str | None) -> bool:
    """Whether a person named the journal. A name may be mistyped: then an empty board would hide the mistake."""
    return bool(journal or os.environ.get(VARIABLE))
