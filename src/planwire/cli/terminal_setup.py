"""`planwire setup` for an agent in its own terminal: show, ask, install and verify; or undo.

The agent's own commands do the work. planwire keeps the agent's earlier settings, so that undoing restores them byte
for byte; if they were changed since, only what is ours is removed.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from planwire.cli.agent_commands import must_run, program_path, run_command, shown_command
from planwire.cli.conditions import trouble
from planwire.cli.exit_codes import DONE, NOT_DONE
from planwire.cli.file_swap import read_bytes, swap_bytes
from planwire.cli.opencode_settings import edited_files
from planwire.cli.plugin_folder import (
    Receipt,
    SettingsWere,
    folder_of_hooks,
    is_beside_journal,
    new_receipt,
    plugin_folder,
    read_receipt,
)
from planwire.cli.terminal_checks import check_terminal, fired
from planwire.cli.terminal_undo import agree, check_settings, take_out, undo_terminal
from planwire.cli.terminals import TERMINALS, Terminal
from planwire.cli.venv_warning import warn_of_venv
from planwire.errors import InputError
from planwire.extras import need_of
from planwire.hooks.hook_table import OPENCODE
from planwire.hooks.plugin import NAME
from planwire.own_process import PYTHON


def set_up_terminal(arguments: argparse.Namespace) -> int:
    """Install planwire in an agent, or undo that."""
    agent: str = arguments.editor
    if arguments.undo:
        return undo_terminal(agent, yes=arguments.yes)
    terminal = TERMINALS[agent]
    program = program_path(terminal.title, terminal.program)
    wanted = new_receipt(agent, folder_of_hooks(arguments.journal), review=arguments.review)
    present = read_receipt(agent)
    if present and (present.hooks, present.review) == (wanted.hooks, wanted.review):
        found = check_terminal(present, program)
        if found.ok or found.is_choice:
            folder_of_hooks(arguments.journal, make=True)  # the journal may have another password now
            print(f"{terminal.title} has planwire already. Nothing to change.")
            print(found.line())
            return DONE
    for path in terminal.settings_paths():
        check_settings(path)
    if present is None:
        _edits(terminal, wanted)  # fails before asking if it can't be done
    _show(terminal, program, wanted, present)
    agree(terminal, yes=arguments.yes)
    folder_of_hooks(arguments.journal, make=True)
    if present:
        take_out(terminal, present)
    receipt = _install(terminal, wanted)
    return _report(terminal, receipt, program)


def _refuse_another(terminal: Terminal, folder: Path) -> None:
    """Refuse to replace a planwire that was installed in another way, since that could not be undone."""
    if terminal.listing and terminal.is_listed(run_command([terminal.program, *terminal.listing], folder).text):
        how = "; ".join(map(shown_command, terminal.commands(terminal.uninstall, folder)))
        raise InputError(f"{terminal.title} has a planwire that this command did not install. Remove it first: {how}")


def _show(terminal: Terminal, program: str, wanted: Receipt, present: Receipt | None) -> None:
    folder = plugin_folder(wanted.agent)
    print(f"{terminal.title} ({program})")
    if present:
        print("  planwire is installed there already, and will be replaced:")
        for words in terminal.commands(terminal.uninstall, folder):
            print(f"  run    {shown_command(words)}")
    print(f"  write  {folder}")
    for words in terminal.commands(terminal.install, folder):
        print(f"  run    {shown_command(words)}")
    for path in terminal.settings_paths():
        print(f"  change {path}{'' if path.exists() else ' (new)'}")
    if not is_beside_journal(wanted.hooks):
        print(f"  write  {wanted.hooks} (the journal's URL, for your eyes only)")
    if terminal.notes:
        print(f"  {terminal.notes}")
    what = "its plans are recorded, people's words are told to it, and it gets the plan tools"
    print(f"With that {what}{_review_words(wanted, present)}.")
    sys.stdout.flush()


def _review_words(wanted: Receipt, present: Receipt | None) -> str:
    if wanted.review:
        return "; its plans wait for your review"
    return "; its plans no longer wait for your review (--review)" if present and present.review else ""


def _edits(terminal: Terminal, wanted: Receipt) -> dict[Path, bytes]:
    """The files that planwire itself edits, where an agent has no commands for that."""
    if wanted.agent != OPENCODE:
        return {terminal.home() / name: text.encode() for name, text in terminal.writes.items()}
    settings, program = terminal.settings_paths()
    return edited_files(settings, program, wanted.files()[f"{NAME}.js"], wanted.server())


def _install(terminal: Terminal, wanted: Receipt) -> Receipt:
    """Write the folder, run the commands, and keep the receipt. If one fails, everything is restored.

    The settings are read before any command, since an agent may reformat them whenever it starts."""
    folder = plugin_folder(wanted.agent)
    paths = terminal.settings_paths()
    before = [read_bytes(path) for path in paths]
    wanted.write_files()
    done = 0
    try:
        _refuse_another(terminal, folder)
        for words in terminal.commands(terminal.install, folder):
            must_run(words, folder, terminal.typed)
            done += 1
        for path, content in _edits(terminal, wanted).items():
            swap_bytes(path, read_bytes(path), content)
    except BaseException:
        take_out(terminal, _with_settings(wanted, paths, before), done)
        wanted.remove()
        raise
    receipt = _with_settings(wanted, paths, before)
    receipt.write()
    return receipt


def _with_settings(wanted: Receipt, paths: Sequence[Path], before: Sequence[bytes | None]) -> Receipt:
    settings = (SettingsWere(str(path), was, read_bytes(path)) for path, was in zip(paths, before, strict=True))
    return structs.replace(wanted, settings=tuple(settings))


def _report(terminal: Terminal, receipt: Receipt, program: str) -> int:
    """Print whether it works, and what is left for the person to do."""
    found = [check_terminal(receipt, program)]
    if fired(receipt, program) is False:
        found.append(trouble(terminal.title, f"no hook ran in a session of its own: {terminal.program} plugin list"))
    if need := need_of("mcp"):
        found.append(trouble("plan tools", f"the MCP server {need}"))
    for each in found:
        print(each.line())
    if receipt.review and terminal.left_of_review:
        print(f"{terminal.left_of_review}.")
    print(f"A {terminal.title} that runs already has it once it is started anew. See its plans: planwire board --open")
    print(f"To take it back: planwire setup {receipt.agent} --undo")
    sys.stdout.flush()
    warn_of_venv(terminal.title, Path(PYTHON))
    return DONE if all(each.ok or each.is_choice for each in found) else NOT_DONE
