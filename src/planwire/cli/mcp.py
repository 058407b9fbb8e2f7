"""`planwire mcp`: the plan tools for any MCP host."""

import argparse
import sys

from planwire.cli.argument_types import seconds
from planwire.cli.journal_option import add_journal_option
from planwire.errors import InputError

DESCRIPTION = (
    "Run an MCP server with the tools set_plan, update_plan, get_plan and remove_plan, and the plans as resources."
)

EXAMPLES = """\
examples:
  planwire setup claude-code                   plan tools and hooks in Claude Code, and in five others
  claude mcp add planwire -- planwire mcp      the plan tools alone; other hosts take the same command
  planwire mcp --folder ~/work/shop            for hosts that don't start it in the project's folder
  planwire mcp --session release-42            a named session, shared by every host that names it
  planwire mcp --shared                        continue the latest session of the folder, whoever began it
  planwire mcp --journal ./plans.db            keep the plans in another file

The host starts the server and talks to it over standard input and output. Each server has a session of its own. A model
that has no plan yet is offered the unfinished ones of earlier sessions in the folder, and takes one up by one call.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--session", metavar="SESSION", help="the session to use; created if it does not exist")
    which.add_argument("--binding", metavar="FILE", help=argparse.SUPPRESS)  # from planwire relay --tools
    which.add_argument("--hooks", metavar="DIR", help=argparse.SUPPRESS)  # from planwire setup AGENT
    which.add_argument("--shared", action="store_true", help="use the folder's latest session, as all who share it do")
    which.add_argument("--new", action="store_true", help="start a new session with the first plan (the default)")
    words = "the project folder: its unfinished plans are offered, and its plan files may be read (.)"
    parser.add_argument("--folder", metavar="DIR", help=words)
    add_journal_option(parser)
    parser.add_argument(
        "--wait",
        metavar="SECONDS",
        type=seconds,
        default=25.0,
        help="how long one call waits for a review (25)",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.session is not None and not arguments.session.strip():
        raise InputError("--session is empty: pass a session, or leave it out")
    from planwire.mcp import serve

    if sys.stdin.isatty():
        print("planwire mcp: waiting for an MCP client on standard input; see planwire mcp --help", file=sys.stderr)
    serve(
        arguments.journal,
        session=arguments.session,
        folder=arguments.folder,
        shared=arguments.shared,
        binding=arguments.binding,
        hooks=arguments.hooks,
        wait_seconds=arguments.wait,
    )
    return 0
