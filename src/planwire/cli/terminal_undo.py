"""Undoes an installation in an agent's terminal, by the agent's own commands and then byte for byte.

The agent's settings are restored if only the installation has changed them; otherwise only what is ours is removed.
"""

import shutil
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

from planwire.cli.agent_commands import run_command, shown_command
from planwire.cli.exit_codes import DONE
from planwire.cli.file_swap import read_bytes, swap_bytes
from planwire.cli.input_output import agreed
from planwire.cli.jsonc import BadSettings, read_settings
from planwire.cli.plugin_folder import Receipt, SettingsWere, plugin_folder, read_receipt
from planwire.cli.settings_rest import without_members, without_trust
from planwire.cli.terminals import FOLDER, TERMINALS, Terminal
from planwire.errors import InputError, Refused


def undo_terminal(agent: str, *, yes: bool) -> int:
    """Show what will be undone, ask, and do it."""
    terminal, receipt = TERMINALS[agent], read_receipt(agent)
    if receipt is None:
        raise InputError(f"planwire is not installed in {terminal.title}: there is nothing to take back")
    _show(terminal, receipt)
    for each in receipt.settings:
        check_settings(Path(each.path))
    agree(terminal, yes=yes, is_undo=True)
    left = take_out(terminal, receipt)
    receipt.remove()
    for path in left:
        print(f"{path} was changed since, and is left alone: remove it if you don't need it")
    print("Done. The plans that were recorded stay in the journal.")
    return DONE


def agree(terminal: Terminal, *, yes: bool, is_undo: bool = False) -> None:
    """Ask the person, unless they passed `--yes`."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(f"this changes {terminal.title}: pass --yes to confirm. Nothing was changed")
    if not agreed("Take it back?" if is_undo else "Do it?", otherwise=True):
        raise Refused("nothing was changed")


def check_settings(path: Path) -> None:
    """Refuse to touch settings that don't parse, since an agent's command might do anything to them."""
    try:
        text = (read_bytes(path) or b"").decode()
        if path.suffix == ".toml":
            tomllib.loads(text)
        elif path.suffix in (".json", ".jsonc"):
            read_settings(text)
    except (BadSettings, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} does not parse: {error}. Nothing was changed") from None


def take_out(terminal: Terminal, receipt: Receipt, done: int | None = None) -> list[str]:
    """Remove an installation from its agent. `done` is how many of its commands ran, if not all. Returns the files that
    could not be restored."""
    folder = plugin_folder(receipt.agent)
    unchanged = {each.path for each in receipt.settings if read_bytes(Path(each.path)) == each.after}
    if shutil.which(terminal.program) and folder.is_dir():
        commands = terminal.commands(terminal.uninstall, folder)
        for words in commands if done is None else commands[len(commands) - done :]:
            run_command(words, folder, terminal.typed)
    left, own = [], terminal.own_files()
    for each in receipt.settings:
        path = Path(each.path)
        now = read_bytes(path)
        new = each.before if each.path in unchanged else _without_ours(terminal, path, now, each, folder)
        if new != now:
            swap_bytes(path, now, new)
        elif path in own and now is not None and now != each.before:
            left.append(each.path)
        if new is None and path in own:
            with suppress(OSError):
                path.parent.rmdir()  # if it was only ours
    for name in terminal.remains if done != 0 else ():
        shutil.rmtree(terminal.home() / name, ignore_errors=True)
    return left


def _without_ours(terminal: Terminal, path: Path, now: bytes | None, were: SettingsWere, folder: Path) -> bytes | None:
    """Settings that a person or the agent has changed since, without what is ours."""
    if now is None or path in terminal.own_files():
        return now
    text, before = now.decode("utf-8", "surrogateescape"), (were.before or b"").decode("utf-8", "surrogateescape")
    if path.suffix == ".toml":
        text = without_trust(text, before)
    else:
        ours = [[name.replace(FOLDER, str(folder)) for name in names] for names in terminal.ours]
        text = without_members(text, before, ours)
        if were.before is None and _is_empty(text):
            return None
    return text.encode("utf-8", "surrogateescape")


def _is_empty(text: str) -> bool:
    root = read_settings(text)
    return root is None or root.value == {}


def _show(terminal: Terminal, receipt: Receipt) -> None:
    folder = plugin_folder(receipt.agent)
    is_there = shutil.which(terminal.program) is not None
    print(terminal.title)
    for words in terminal.commands(terminal.uninstall, folder) if is_there else ():
        print(f"  run     {shown_command(words)}")
    if terminal.uninstall and not is_there:
        print(f"  there is no {terminal.program} on your PATH to do it: its settings are changed all the same")
    for each in receipt.settings:
        print(f"  restore {each.path}")
    print(f"  remove  {folder}")
    sys.stdout.flush()
