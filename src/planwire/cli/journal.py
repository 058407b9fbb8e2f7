"""`planwire journal`: look after a journal as a whole. Each of its commands has a row here, and a file for its work."""

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import Final, NamedTuple

from planwire.cli.command_parser import HelpFormatter
from planwire.cli.journal_option import add_journal_option

DESCRIPTION = "Check, back up, restore or copy a journal, and say what keeps it."

EXAMPLES = """\
examples:
  planwire journal info                              the engine, what it promises, sessions and size
  planwire journal verify                            that no event was changed, left out or swapped
  planwire journal backup ~/backups/plans.db         while agents work
  planwire journal restore ~/backups/plans.db        the old journal is kept aside
  planwire journal copy ~/plans.db postgresql://team@db.example/plans

planwire journal COMMAND --help explains a command.
"""


class _Command(NamedTuple):
    """A command of `planwire journal`: what it does, its examples, its own arguments, and the file that does the
    work."""

    summary: str
    examples: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    module: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True, parser_class=type(parser)
    )
    for name, row in _COMMANDS.items():
        command = commands.add_parser(
            name, help=row.summary, description=f"{row.summary[0].upper()}{row.summary[1:]}.", epilog=row.examples,
            formatter_class=HelpFormatter,
        )  # fmt: skip
        row.add_arguments(command)
        command.add_argument("--json", action="store_true", help="print JSON")
        if name != "copy":  # it names both of its journals
            add_journal_option(command)
        command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    row = _COMMANDS[arguments.command]
    code: int = import_module(f"planwire.cli.{row.module}").run(arguments)  # what each needs is loaded only for it
    return code


def _verify_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION", nargs="*", help="sessions to check (default: all, and the file)")
    parser.add_argument("--note", metavar="FILE", help="write where each session ends to a file, to keep elsewhere")
    parser.add_argument("--against", metavar="FILE", help="check that nothing of such a note is missing")


def _backup_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="FILE", help="the backup: a journal in a SQLite file")
    parser.add_argument("--thoughts", action="store_true", help="what agents thought, too, in FILE.thoughts")
    parser.add_argument("--force", action="store_true", help="replace FILE, if it is an earlier backup")


def _restore_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("backup", metavar="FILE", help="a backup that planwire journal backup made")
    parser.add_argument("--force", action="store_true", help="also if the journal has sessions, or is damaged")


def _copy_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="FROM", help="the path or URL of a journal")
    parser.add_argument("to", metavar="TO", help="the path or URL of another one, which may be new")


_COMMANDS: Final = {
    "info": _Command(
        "say what keeps a journal, what that promises, and how much is in it",
        """\
examples:
  planwire journal info
  planwire journal info --json --journal plans.db
""",
        lambda _: None,
        "journal_info",
    ),
    "verify": _Command(
        "check that nothing in a journal was changed, left out or swapped since it was written",
        """\
examples:
  planwire journal verify                            all sessions, and the file itself
  planwire journal verify 3f2a91bc                   one session
  planwire journal verify --note ends.json           and write down where each session ends
  planwire journal verify --against ends.json        later: that no end was cut off since

Exit code 4 if something is wrong. Sessions that were forgotten and thoughts are no finding.
""",
        _verify_arguments,
        "journal_verify",
    ),
    "backup": _Command(
        "copy a journal to a file, while others write, and check the copy",
        """\
examples:
  planwire journal backup plans-monday.db
  planwire journal backup plans.db --force           replace the last one, once the new one is whole
  planwire journal backup plans.db --journal postgresql://team@db.example/plans

What agents thought stays out of it, unless you ask for it with --thoughts.
""",
        _backup_arguments,
        "journal_copies",
    ),
    "restore": _Command(
        "put a backup in the place of a journal, after checking it",
        """\
examples:
  planwire journal restore plans-monday.db
  planwire journal restore plans-monday.db --force   even if the journal has sessions
  planwire journal restore plans.db --journal postgresql://team@db.example/plans

A journal in a file is kept aside as FILE.before-TIME, with its log. It must not be in use. Into a journal on a server
the backup is copied session by session.
""",
        _restore_arguments,
        "journal_copies",
    ),
    "copy": _Command(
        "copy all sessions of a journal into another one, of any engine",
        """\
examples:
  planwire journal copy ~/plans.db postgresql://team@db.example/plans
  planwire journal copy nats://plans.example archive.db

It can be interrupted: the same command goes on where it stopped. A session that is there already with other events is
refused, and the rest is copied. Events keep their numbers, links and keys; snapshots and leases are not copied.
""",
        _copy_arguments,
        "journal_copies",
    ),
}
