"""The command line: one file a command.

Each file says what its command does and how to use it (`DESCRIPTION`, `EXAMPLES`), declares its options in
`add_arguments`, and does the work in `run`, which returns the exit code.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from io import TextIOWrapper
from keyword import iskeyword
from typing import Final

from planwire import __version__
from planwire.errors import NothingChanges, PlanwireError
from planwire.readmodel.plain_text import printable

__all__ = ["build_parser", "main"]

_DESCRIPTION: Final = "Keep, translate, show and steer the plans of AI agents."

_EXAMPLES: Final = """\
examples:
  planwire demo                                  watch a plan being worked off
  planwire relay -- my-agent                     run an agent with its plans kept, translated and told again
  planwire mcp                                   the plan tools for any MCP host
  planwire sessions                              the sessions in the journal, at a glance
  planwire show                                  the plans of the latest session of this folder
  planwire watch                                 the same, live
  planwire board                                 every plan and its history in the browser, live
  planwire replay session.jsonl                  the plans of a recorded session, as they ended up
  planwire replay session.jsonl --step           every change on the way there
  planwire translate session.jsonl --to v1       what a client of the plainest dialect would be sent
  planwire check -- my-agent                     whether an agent's plans obey the protocol
  planwire tools --format anthropic              the plan tools for a model
  planwire context stream.json                   what a provider is sent of a chat with hidden messages

Each command has its own help: planwire replay --help
"""

#: The commands in the order of `planwire --help`, with their summaries. Each has a module of its name in this package.
_COMMANDS: Final = {
    "demo": "watch an agent work off its plans behind the relay",
    "relay": "run an agent behind planwire: its plans kept, translated and told again",
    "setup": "print an editor's settings that put the relay in front of an agent",
    "mcp": "give the plan tools to an agent, as an MCP server",
    "sessions": "list the sessions in the journal",
    "show": "show the plans of a session",
    "log": "list every change of a session",
    "diff": "show what changed between two moments",
    "watch": "follow plans while they change",
    "board": "show every plan and its history in the browser, live",
    "edit": "change a plan in your editor",
    "approve": "approve a plan, or ask for changes",
    "comment": "say something about a plan or a step",
    "select": "tell the agent which steps to run",
    "export": "print a session as markdown, JSON or ACP messages",
    "import": "take an exported session into the journal",
    "forget": "remove sessions from the journal, for good",
    "replay": "show the plans of a recorded session",
    "translate": "print an agent's lines in another dialect",
    "check": "judge an agent's plans by the rules of the protocol",
    "tools": "print the plan tools that a model is given",
    "context": "print what a provider is sent of a chat",
    "compact": "print a chat after a compaction",
    "completion": "print a shell's completion script",
}


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of examples, and gives long names room."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)


class _ListFormatter(_Formatter):
    """The same for a list of commands: argparse forgets their indentation."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 14


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    return _parser(_COMMANDS, _COMMANDS)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. An error is one line on standard error and exit code 2. Asking for what is so already is none."""
    argv = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character must not cost the rest
    arguments = _parser_for(argv).parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        if sys.stdout is not None:  # it may be closed
            sys.stdout.flush()
    except NothingChanges as answer:
        print(answer)
        return 0
    except PlanwireError as error:
        print(f"planwire: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _parser_for(argv: Sequence[str]) -> argparse.ArgumentParser:
    """The smallest parser that understands a command line: an agent behind the relay waits for what it imports.

    Without a command the parser has only a list to print, an error or its version, and imports no command at all.
    """
    if argv and argv[0] in _COMMANDS:
        return _parser([argv[0]], [argv[0]])
    return _parser(_COMMANDS, [name for name in _COMMANDS if name in argv])


def _parser(listed: Iterable[str], imported: Iterable[str]) -> argparse.ArgumentParser:
    """A parser that lists some commands, and knows the arguments of those among them that it may import."""
    parser = argparse.ArgumentParser(
        prog="planwire",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=_ListFormatter,
    )
    parser.add_argument("--version", action="version", version=f"planwire {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND ...", required=True)
    for name in listed:
        command = commands.add_parser(name, help=_COMMANDS[name], formatter_class=_Formatter)
        if name in imported:
            module = import_module(f"planwire.cli.{name}_" if iskeyword(name) else f"planwire.cli.{name}")
            command.description, command.epilog = module.DESCRIPTION, module.EXAMPLES
            command.set_defaults(run=module.run)
            module.add_arguments(command)
    return parser
