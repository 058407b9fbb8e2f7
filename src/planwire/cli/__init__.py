"""The command line: one file per command, and one for all commands that steer.

The file of a command says what it does and how to use it (`DESCRIPTION`, `EXAMPLES`), declares its options in
`add_arguments`, and does the work in `run`, which returns the exit code. The commands that steer are made from the
table of acts (`acts`).
"""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from io import TextIOWrapper
from keyword import iskeyword
from typing import Final, TextIO

from planwire import __version__
from planwire.cli.command_parser import CommandParser, HelpFormatter, Misuse
from planwire.cli.error_words import error_words
from planwire.cli.exit_codes import DONE, exit_code
from planwire.cli.journal_secrets import hide_at_once, hide_secret, take_hidden, warn_of_secret
from planwire.errors import InputError, NothingChanges, PlanwireError
from planwire.readmodel.plain_text import one_line, printable

__all__ = ["build_parser", "main"]

#: The commands in the groups and the order of `planwire --help`, with their summaries. Each has a module of its name
#: in this package, except those that the table of acts adds to the group "steer".
_GROUPS: Final = {
    "start": {
        "demo": "watch an agent work behind the relay, answer it, and steer it",
        "relay": "run an agent behind planwire, which keeps, translates and re-sends its plans",
        "setup": "install planwire in an agent's terminal, or its relay in an editor's settings",
        "doctor": "check what was set up, and say what to do",
        "mcp": "give the plan tools to an agent, as an MCP server",
    },
    "look": {
        "sessions": "list the sessions in the journal",
        "show": "show the plans of a session",
        "log": "list every change in a session",
        "diff": "show what changed between two moments",
        "watch": "follow plans while they change",
        "board": "show every plan and its history in the browser, live",
        "user": "the users of a team's board, with their roles",
    },
    "steer": {},
    "data": {
        "export": "print a session as markdown, JSON or ACP messages",
        "import": "add an exported session, or an agent's past ones, to the journal",
        "fork": "begin a session with another one's past",
        "forget": "delete sessions from the journal, for good",
        "journal": "check, back up, restore or copy a journal",
    },
    "for developers": {
        "check": "check an agent's plans against the rules of the protocol",
        "replay": "show the plans of a recorded session",
        "translate": "print an agent's lines in another dialect",
        "hook": "take an event of an agent in its own terminal",
        "tools": "print the plan tools as a model sees them",
        "context": "print a chat as a provider receives it",
        "compact": "print a chat after a compaction",
        "completion": "print a shell's completion script",
    },
}
#: Commands that a program waits for, and whose output no person reads.
_HURRIED: Final = {"hook", "mcp", "relay"}
_MODULES: Final = {name for group in _GROUPS.values() for name in group}

_HELP: Final = """\
usage: planwire COMMAND [options]

Keep, translate, show and steer the plans of AI agents.

{groups}

options:
  -h, --help    show this help message and exit
  --version     show program's version number and exit

examples:
  planwire demo                    watch an agent at work, and answer it
  planwire setup claude-code       planwire in an agent's own terminal
  planwire setup zed -- my-agent   settings that start an agent behind planwire
  planwire show                    the plans of this folder's latest session
  planwire comment "use SQLite"    tell its agent what you think
  planwire board --open            every session, live in the browser

planwire COMMAND --help explains a command.
"""


class _TopParser(CommandParser):
    """Lists the commands in their groups, which argparse can't."""

    def format_help(self) -> str:
        groups = (
            "\n".join([f"{title}:", *(f"  {name:<12}  {summary}" for name, summary in group.items())])
            for title, group in _groups().items()
        )
        return _HELP.format(groups="\n\n".join(groups))


def _groups() -> dict[str, dict[str, str]]:
    """All groups. The table of acts is imported only here, since an agent behind the relay would wait for it."""
    from planwire.steering.acts import ACTS  # noqa: PLC0415

    steer = {act.command: f"{act.help[0].lower()}{act.help[1:]}" for act in ACTS.values()}
    return {**_GROUPS, "steer": steer}


def _commands() -> dict[str, str]:
    return {name: summary for group in _groups().values() for name, summary in group.items()}


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line. It imports every command."""
    parser = _top_parser()
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=argparse.ArgumentParser
    )
    for name, summary in _commands().items():
        _fill(commands.add_parser(name, help=summary, formatter_class=HelpFormatter), name)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. An error is one line on standard error; `exit_codes` has the codes."""
    gc.set_threshold(50_000, 20, 50)  # few values are in cycles, so look for garbage less often
    is_program = argv is None
    argv = sys.argv[1:] if argv is None else argv
    as_json = "--json" in argv[: argv.index("--") if "--" in argv else None]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a character that the terminal lacks must not stop the output
    try:
        if is_program:
            hide_at_once(argv)
        arguments = _parsed(argv)
        if not take_hidden(arguments) and is_program:
            hide_secret(arguments, argv[0])
        warn_of_secret(vars(arguments).get("journal"))
        reader: AbstractContextManager[None] = nullcontext()
        as_json = vars(arguments).get("json", False)
        if "journal" in arguments and argv[0] not in _HURRIED:
            from planwire.cli.acting_person import for_its_reader  # noqa: PLC0415  (it needs msgspec)
            from planwire.cli.open_modes import warn_of_open_modes  # noqa: PLC0415  (so does it)

            warn_of_open_modes(arguments.journal)
            reader = for_its_reader(arguments)
        with reader:
            code: int = arguments.run(arguments)
        if sys.stdout is not None:  # it may be closed
            sys.stdout.flush()
    except NothingChanges as answer:
        _say(str(answer), {"done": False, "words": str(answer)} if as_json else None)
        return DONE
    except PlanwireError as error:
        if argv[:1] == ["hook"] and not sys.stdin.isatty():  # an agent takes any other exit code for a veto
            return DONE
        words, usage = error_words(error), f"\n{error.usage.rstrip()}" if isinstance(error, Misuse) else ""
        _say(f"planwire: {words}{usage}", {"error": words} if as_json else None, sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    return code


def _say(words: str, as_json: object, stream: TextIO | None = None) -> None:
    """Print words for a person, or a value for the program that asked for JSON on standard output."""
    if as_json is None:
        print(printable(words), file=stream)
        return
    from planwire.cli.input_output import print_json  # noqa: PLC0415  (it needs msgspec)

    print_json(as_json)


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Parse a command line with its command's own parser, so that errors show that command's usage.

    It imports no other command, since an agent behind the relay waits for the imports. Without a command it prints the
    help or the version, which imports none.
    """
    name = argv[0] if argv else "--help"
    if name == "help":
        return _parsed([*argv[1:2], "--help"])
    if name in _MODULES or (not name.startswith("-") and name in _commands()):
        parser = CommandParser(prog=f"planwire {name}", formatter_class=HelpFormatter)
        _fill(parser, name)
        return parser.parse_args(argv[1:])
    if not name.startswith("-"):
        raise InputError(_unknown(name))
    _top_parser().parse_args([name])
    raise InputError(f"a command comes first, not {one_line(name)!r}: planwire --help lists the commands")


def _unknown(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  (only a mistyped command pays for it)

    similar = get_close_matches(name.lower(), _commands(), 1)
    guess = f" Did you mean '{similar[0]}'?" if similar else ""
    return f"there is no command '{one_line(name)}'.{guess}\nplanwire --help lists the commands."


def _top_parser() -> argparse.ArgumentParser:
    parser = _TopParser(prog="planwire", usage="planwire COMMAND [options]")
    parser.add_argument("--version", action="version", version=f"planwire {__version__}")
    return parser


def _fill(parser: argparse.ArgumentParser, name: str) -> None:
    """Import a command, and give its description, options and work to its parser."""
    if name not in _MODULES:
        from planwire.cli.acts import fill_parser  # noqa: PLC0415

        fill_parser(parser, name)
        return
    module = import_module(f"planwire.cli.{name}{'_' if iskeyword(name) else ''}")
    parser.description, parser.epilog = module.DESCRIPTION, module.EXAMPLES
    parser.set_defaults(run=module.run)
    module.add_arguments(parser)
