"""`planwire setup`: print, write or undo the settings that put the relay in front of an agent; and install planwire's
plugin in an agent's own terminal."""

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from planwire.cli.agent_settings import Edit
from planwire.cli.command_parser import CommandParser
from planwire.cli.editors import EDITORS, Editor, SettingsFile, settings_path
from planwire.cli.exit_codes import DONE
from planwire.cli.journal_option import add_journal_option
from planwire.cli.settings_write import plan_edit, plan_undo
from planwire.cli.terminals import TERMINALS
from planwire.cli.venv_warning import warn_of_venv
from planwire.errors import InputError, Refused
from planwire.journal.engines import unrevealing_url
from planwire.journal.shown_urls import has_secret
from planwire.journal.user_files import VARIABLE
from planwire.own_process import own_command
from planwire.relay.process import name_of

DESCRIPTION = (
    "Install planwire in an agent that runs in a terminal. Or make an editor start an agent behind planwire: print the "
    "settings for it, or write them."
)

EXAMPLES = """\
examples:
  planwire setup claude-code                         install planwire's hooks and plan tools in Claude Code
  planwire setup claude-code --review                the same, and its plans wait until you approve them, anywhere
  planwire setup claude-code --undo                  take that back
  planwire setup zed -- npx -y @agentclientprotocol/claude-agent-acp    print the settings, and where they go
  planwire setup zed --write -- claude-agent-acp     add the agent to Zed's settings
  planwire setup zed --all                           show how all of Zed's agents would go behind planwire
  planwire setup zed --all --write                   do it
  planwire setup zed --undo                          take back all that planwire wrote there
  planwire setup jetbrains --tools -- codex-acp      with the plan tools (see planwire relay --help)
  planwire setup vscode --write --file ~/.config/VSCodium/User/settings.json -- my-agent --acp
  planwire setup emacs --name "My agent" -- my-agent --acp

Agents in a terminal are changed by their own commands: you see them and are asked first. planwire then verifies that
its hooks work, and says what is left to you; planwire doctor checks it later.

Editors: without --write and --undo no file is changed: the settings go to stdout, and where to paste them to stderr.
With them you see the change and are asked first. Comments and spaces in the file stay as they are, and a copy of it,
without planwire, is kept beside it. --undo restores the file byte for byte; if you changed it in the meantime, only
what planwire wrote goes. Neovim's and Emacs' settings are programs: paste them.
"""

_USAGE = """\
planwire setup [-h] TERMINAL [--review] [--journal URL] [--yes]
       planwire setup [-h] TERMINAL --undo [--yes]
       planwire setup [-h] EDITOR [options] -- AGENT [ARGUMENT ...]
       planwire setup [-h] EDITOR [options] --all [--write]
       planwire setup [-h] EDITOR --undo"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = _USAGE
    names = [*TERMINALS, *EDITORS]
    words = f"{' | '.join(TERMINALS)} (TERMINAL), or {' | '.join(EDITORS)} (EDITOR)"
    parser.add_argument("editor", metavar="WHERE", choices=names, help=words)
    _add_options(parser)
    parser.add_argument("agent", metavar="-- AGENT ...", nargs=argparse.REMAINDER, help="the agent's command")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", metavar="NAME", help="what the editor calls the agent (default: from its command)")
    add_journal_option(parser)
    parser.add_argument("--tools", action="store_true", help="give the agent the plan tools")
    parser.add_argument("--board", action="store_true", help="serve the board while the agent runs")
    parser.add_argument(
        "--review", action="store_true", help="hold an agent's plans until a person decides (terminals)"
    )
    parser.add_argument("--all", action="store_true", help="every agent in the editor's settings, in its place")
    parser.add_argument("--write", action="store_true", help="change the editor's settings file")
    parser.add_argument("--undo", action="store_true", help="take back what was installed or written")
    parser.add_argument("--file", metavar="PATH", type=Path, help="the settings file, if it is not in its usual place")
    parser.add_argument("--yes", action="store_true", help="don't ask first")


def run(arguments: argparse.Namespace) -> int:
    agent = _agent(arguments)
    if arguments.editor in TERMINALS:
        return _run_terminal(arguments, agent)
    _check(arguments, agent)
    editor = EDITORS[arguments.editor]
    if arguments.undo or arguments.all:
        return _change(arguments, editor, agent)
    if arguments.write and editor.file:
        return _change(arguments, editor, agent)
    print(editor.where, file=sys.stderr)
    _tell_of_secret(arguments.journal)
    sys.stderr.flush()
    print(editor.settings(_name(arguments, agent), _behind_relay(arguments, agent)))
    sys.stdout.flush()
    if arguments.write:
        raise Refused(f"{editor.why_not}: paste the text above. Nothing was changed")
    _warn_of_variable(arguments.journal)
    warn_of_venv("The editor", Path(_planwire()[0]))
    return DONE


#: Options that are only for editors.
_FOR_EDITORS: Final = ("name", "tools", "board", "all", "file")


def _run_terminal(arguments: argparse.Namespace, agent: list[str]) -> int:
    """Install planwire in an agent's own terminal, with or without `--write`."""
    start = f"planwire setup {arguments.editor}"
    if agent:
        raise InputError(f"planwire finds the agent by its own name: {start}, without a command")
    for each in _FOR_EDITORS:
        if getattr(arguments, each):
            raise InputError(f"--{each} is for editors: {start}")
    if arguments.undo and (arguments.write or arguments.review or arguments.journal):
        raise InputError(f"--undo takes back all that planwire installed: {start} --undo")
    from planwire.cli.terminal_setup import set_up_terminal  # noqa: PLC0415  (editors need none of it)

    return set_up_terminal(arguments)


def _check(arguments: argparse.Namespace, agent: list[str]) -> None:
    start = f"planwire setup {arguments.editor}"
    if arguments.review:
        raise InputError("--review is for agents in a terminal: behind the relay, plans wait for review anyway")
    if (arguments.all or arguments.undo) and agent:
        which = "--undo takes back all that planwire wrote" if arguments.undo else "--all is for the agents in the file"
        raise InputError(f"{which}: leave the agent's command out")
    if arguments.undo and (arguments.all or arguments.write):
        raise InputError(f"--undo takes back all that planwire wrote: {start} --undo")
    if not (agent or arguments.all or arguments.undo):
        raise InputError(f"the agent's command is missing: {start} -- AGENT ARGUMENTS")
    if arguments.file and not (arguments.write or arguments.all or arguments.undo):
        raise InputError("--file is for --write, --all and --undo; without them no file is changed")


def _change(arguments: argparse.Namespace, editor: Editor, agent: list[str]) -> int:
    """Edit the editor's file, or only show the change."""
    if editor.file is None:
        raise InputError(f"{editor.why_not}, and planwire writes nothing into it")
    path = Path.expanduser(arguments.file) if arguments.file else settings_path(editor.file)
    path = path.absolute()
    file = editor.file
    change = plan_undo(path, file) if arguments.undo else plan_edit(path, file, _edit_of(arguments, file, agent))
    change.show()
    if not change.done and not arguments.undo:
        print("Nothing to change." if change.left else f"There are no agents in {path}. Nothing to change.")
        return DONE
    if not (arguments.write or arguments.undo):
        print("No file was changed: --write does it.")
        return DONE
    _tell_of_secret(arguments.journal)
    change.agree(yes=arguments.yes)
    change.write()
    if arguments.undo:
        print("Done. planwire keeps nothing of it.")
    else:
        where = f" --file {shlex.quote(str(arguments.file))}" if arguments.file else ""
        print(f"Done. To take it back: planwire setup {arguments.editor} --undo{where}")
        _warn_of_variable(arguments.journal)
        warn_of_venv("The editor", Path(_planwire()[0]))
    return DONE


def _edit_of(arguments: argparse.Namespace, file: SettingsFile, agent: list[str]) -> Callable[[str], Edit]:
    if arguments.all:
        return lambda text: file.wrap(text, lambda words: _behind_relay(arguments, words))
    return lambda text: file.add(text, _name(arguments, agent), _behind_relay(arguments, agent))


def _name(arguments: argparse.Namespace, agent: list[str]) -> str:
    return arguments.name or f"{name_of(agent)} (planwire)"


def _behind_relay(arguments: argparse.Namespace, agent: list[str]) -> list[str]:
    """The command that starts the agent behind the relay, with the relay's options."""
    journal = unrevealing_url(arguments.journal) if arguments.journal else None
    options = [f"--{name}" for name in ("tools", "board") if getattr(arguments, name)]
    return [*_planwire(), "relay", *(["--journal", journal] if journal else []), *options, "--", *agent]


def _tell_of_secret(journal: str | None) -> None:
    if journal and has_secret(journal):
        words = f"the settings name {unrevealing_url(journal)}, a file that only you can read"
        print(f"The journal's URL holds a secret: {words}.", file=sys.stderr)


def _warn_of_variable(journal: str | None) -> None:
    """Warn if only the environment of this shell names the journal: an editor on a desktop has another one."""
    if not journal and os.environ.get(VARIABLE):
        print(
            f"The settings name no journal. An editor that is not started from a shell does not know {VARIABLE}: "
            "--journal URL, or --journal @FILE, puts the journal into the settings.",
            file=sys.stderr,
        )


def _planwire() -> list[str]:
    """The command that starts planwire from an editor, whose folder and often PATH differ from ours."""
    program = Path(sys.argv[0])
    if found := shutil.which("planwire"):
        return [str(Path(found).absolute())]
    if program.stem == "planwire" and shutil.which(program.absolute()):
        return [str(program.absolute())]
    return own_command()


def _agent(arguments: argparse.Namespace) -> list[str]:
    """The agent's command. argparse counts options between the editor and `--` as part of it, so they are parsed
    here."""
    words: list[str] = arguments.agent
    if not words or not words[0].startswith("-"):
        return words
    end = words.index("--") if "--" in words else len(words)
    options = CommandParser("planwire setup", add_help=False, usage=_USAGE)
    _add_options(options)
    options.parse_args(words[:end], arguments)
    return words[end + 1 :]
