"""`planwire board`: every plan in the journal, live in the browser."""

import argparse
import os
import re
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from planwire.cli.acting_person import add_person_options, steering_person
from planwire.cli.argument_types import digits, number
from planwire.cli.session_argument import add_journal_option
from planwire.cli.team_options import add_team_options, team_of, tls_of
from planwire.errors import NoJournal
from planwire.hooks.drained import open_followed
from planwire.journal.user_files import VARIABLE

if TYPE_CHECKING:
    from planwire.journal import Journal
    from planwire.web import BoardServer
    from planwire.web.team import Team

_EDITORS = ("vscode", "vscodium", "cursor", "windsurf", "zed", "idea", "sublime", "none")

DESCRIPTION = "Serve the board: every session in a journal, with its plans and history, live."

#: A Host header without its port: a name, or an IPv6 address in brackets.
_HOST: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\]")

_port = number("a number from 0 to 65535", digits, lambda port: port < 65_536)


def _host(text: str) -> str:
    """A name as requests have it. Anything else, such as the address of a page, would match none of them."""
    if not _HOST.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"expected a host name without https:// and port, such as board.example.org, found {text!r}"
        )
    return text


def _address(text: str) -> str:
    """An address to listen on. Without one, a socket would listen on all, and the system takes ASCII only."""
    if not (text and text.isascii()):
        raise argparse.ArgumentTypeError(f"expected an address of this machine, such as 127.0.0.1, found {text!r}")
    return text


EXAMPLES = """\
examples:
  planwire board                             serve the board and print its address
  planwire board --open                      open it in the browser too
  planwire board --journal ./plans.db        the plans of another journal
  planwire board --editor zed                plan files open in Zed
  planwire board --team --host 0.0.0.0 --tls-cert board.pem --tls-key board.key
                                             for a team: people sign in, each with a name and a role
  planwire board --team --behind-proxy X-Forwarded-User --proxy-from 127.0.0.1
                                             behind nginx or Caddy, which know who it is

Without --team, the board listens on this machine only. Its address contains a token, new at every start unless
PLANWIRE_BOARD_TOKEN holds one. Every page is also available as JSON: append .json to its address, and send the token
as a Bearer token.
"""


_ONLY_SHOWS = "planwire: an agent started this board, so it only shows: with --as NAME --yes it steers, as NAME"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", metavar="PORT", type=_port, default=8414, help="the port to use; 0 is any free one (8414)"
    )
    parser.add_argument("--open", action="store_true", help="open the board in the browser")
    parser.add_argument("--editor", metavar="NAME", choices=_EDITORS, help=" | ".join(_EDITORS))
    parser.add_argument(
        "--folder",
        metavar="DIR",
        action="append",
        default=[],
        help="another folder whose plan files may be shown, besides those of the sessions; repeatable",
    )
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        type=_address,
        default="127.0.0.1",
        help="an address of this machine to listen on (127.0.0.1)",
    )
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        type=_host,
        action="append",
        default=[],
        help="another host name to accept; repeatable",
    )
    parser.add_argument(
        "--thoughts", action="store_true", help="show what agents thought, also with --allow-host or --team"
    )
    add_journal_option(parser)
    parser.add_argument("--create", action="store_true", help="create the journal if it does not exist")
    add_person_options(parser, yes="with --as: let people steer on a board that an agent starts")
    add_team_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from planwire.web import BoardServer
    from planwire.web.listening import is_loopback

    by = steering_person(arguments)
    team, tls = team_of(arguments), tls_of(arguments)
    editor = arguments.editor or ("vscode" if team is None else "none")
    with _opened(arguments) as journal:
        server = BoardServer(
            journal,
            host=arguments.host,
            port=arguments.port,
            allow_hosts=arguments.allow_host,
            editor=None if editor == "none" else editor,
            folders=arguments.folder,
            by=by,
            thoughts=arguments.thoughts or not (arguments.allow_host or team),
            team=team,
            tls=tls,
            uds=arguments.uds,
        )
        print(f"The board is at {arguments.uds or server.address}", flush=True)
        if team is not None:
            _tell_team(server, team, is_reached=not is_loopback(arguments.host) and not arguments.uds, tls=bool(tls))
        if by is None:
            print(_ONLY_SHOWS, file=sys.stderr, flush=True)
        print("Press Ctrl+C to stop it.", file=sys.stderr, flush=True)
        if arguments.open:
            webbrowser.open(server.address)
        server.run()
    return 0


@contextmanager
def _opened(arguments: argparse.Namespace) -> Iterator["Journal"]:
    create = arguments.create or not _is_named(arguments.journal)
    try:
        with open_followed(arguments.journal, create=create) as journal:
            yield journal
    except NoJournal as error:
        raise error if create else NoJournal(f"{error}, or pass --create to begin an empty one") from None


def _tell_team(server: "BoardServer", team: "Team", *, is_reached: bool, tls: bool) -> None:
    """Say who can reach the board, and how to get in."""
    say = partial(print, file=sys.stderr, flush=True)
    for base in server.bases[1:]:
        say(f"planwire: also at {base}/")
    if is_reached and team.proxy is None:
        say("planwire: other machines can reach this board. Without a code or token, people see only the sign-in page")
    if team.insecure and not tls:
        say(
            "planwire: --insecure: nothing is encrypted. Anyone on the network can read what people see and say, and "
            "sign in as them"
        )
    if not team.users.read().users and not (team.proxy and team.proxy.others):
        say(f"planwire: there are no users yet, so nobody can sign in: {team.users.how_to_add}")


def _is_named(journal: str | None) -> bool:
    """Whether a person named the journal. A name may be mistyped: then an empty board would hide the mistake."""
    return bool(journal or os.environ.get(VARIABLE))
