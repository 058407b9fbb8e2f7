"""`planwire setup`: the settings that put the relay in front of an agent."""

import argparse
import shutil
import sys
from pathlib import Path

from planwire.cli.command_parser import CommandParser
from planwire.cli.editors import EDITORS
from planwire.errors import InputError
from planwire.journal.engines import shared_url
from planwire.relay.process import name_of

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

DESCRIPTION = "Print the settings that make an editor start an agent behind planwire."

EXAMPLES = """\
examples:
  planwire setup zed -- npx -y @agentclientprotocol/claude-agent-acp
  planwire setup jetbrains -- codex-acp
  planwire setup neovim -- gemini --experimental-acp
  planwire setup emacs --name "My agent" -- my-agent --acp
  planwire setup vscode --journal ./plans.db -- my-agent --acp

Settings go to stdout, and where to paste them to stderr. No file is changed.
"""

_USAGE = "planwire setup [-h] EDITOR [--name NAME] [--journal URL] -- AGENT [ARGUMENT ...]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = _USAGE
    parser.add_argument("editor", metavar="EDITOR", choices=list(EDITORS), help=" | ".join(EDITORS))
    _add_options(parser)
    parser.add_argument("agent", metavar="-- AGENT ...", nargs=argparse.REMAINDER, help="the agent's command")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", metavar="NAME", help="what the editor calls the agent (default: from its command)")
    parser.add_argument("--journal", metavar="URL", help="where its plans are kept (default: the user's own journal)")


def run(arguments: argparse.Namespace) -> int:
    agent = _agent(arguments)
    if not agent:
        raise InputError(f"the agent's command is missing: planwire setup {arguments.editor} -- AGENT ARGUMENTS")
    editor = EDITORS[arguments.editor]
    journal = (shared_url(arguments.journal) or arguments.journal) if arguments.journal else None
    relay = ["relay", *(["--journal", journal] if journal else []), "--", *agent]
    print(editor.where, file=sys.stderr)
    sys.stderr.flush()
    print(editor.settings(arguments.name or f"{name_of(agent)} (planwire)", [*_planwire(), *relay]))
    return 0


def _planwire() -> list[str]:
    """The command that starts planwire from an editor, whose folder and often PATH differ from ours."""
    program = Path(sys.argv[0])
    if found := shutil.which("planwire"):
        return [str(Path(found).absolute())]
    if program.stem == "planwire" and shutil.which(program.absolute()):
        return [str(program.absolute())]
    return [sys.executable, "-m", "planwire"]


def _agent(arguments: argparse.Namespace) -> list[str]:
    """The agent's command. argparse counts options between the editor and `--` as part of it: parse them here."""
    words: list[str] = arguments.agent
    if not words or not words[0].startswith("-"):
        return words
    end = words.index("--") if "--" in words else len(words)
    options = CommandParser("planwire setup", add_help=False, usage=_USAGE)
    _add_options(options)
    options.parse_args(words[:end], arguments)
    return words[end + 1 :]
