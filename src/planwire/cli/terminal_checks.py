"""Whether planwire works in an agent's terminal: what `planwire setup` verifies and `planwire doctor` checks.

Nothing here asks a model anything. Whether hooks really run is tested where the agent allows it: Claude Code can start
a session without a prompt, and Codex says which hooks it trusts. For the others, the agent's own list of plugins has to
do, and the exact command of a hook is run once.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from planwire.cli.agent_commands import run_command
from planwire.cli.codex_trust import untrusted_hooks
from planwire.cli.conditions import Condition, good, trouble
from planwire.cli.file_swap import read_bytes
from planwire.cli.hook_trial import command_problems, tried
from planwire.cli.plugin_folder import Receipt, plugin_folder
from planwire.cli.terminals import TERMINALS, Terminal
from planwire.errors import JournalError
from planwire.hooks.drained import open_drained
from planwire.hooks.plugin import hook_commands
from planwire.journal.drainer_lock import DrainerLock
from planwire.journal.hook_folders import journal_of_hooks

_HOOKS: Final = "hooks/hooks.json"


def check_terminal(receipt: Receipt, program: str | None) -> Condition:
    """The condition of an installation: its first problem, or that it works."""
    terminal = TERMINALS[receipt.agent]
    problem = next(_problems(receipt, terminal, program), None)
    if problem:
        return trouble(terminal.title, f"{problem}: planwire setup {receipt.agent}{_options(receipt, program)}")
    if program and (choice := _CHOICES.get(receipt.agent, _no_choice)(program, plugin_folder(receipt.agent))):
        return trouble(terminal.title, choice, is_choice=True)
    reviewed = ", and its plans wait for review" if receipt.review else ""
    return good(terminal.title, f"planwire {receipt.version} is installed, and its hooks can run{reviewed}")


def _options(receipt: Receipt, program: str | None) -> str:
    if program is None:
        return " --undo"
    return " --review" if receipt.review else ""


def _problems(receipt: Receipt, terminal: Terminal, program: str | None) -> Iterator[str]:
    if program is None:
        yield f"there is no {terminal.program} on your PATH. If it is gone for good"
        return
    folder = plugin_folder(receipt.agent)
    commands = _commands(folder)
    yield from command_problems(commands)
    if not receipt.is_current():
        yield "its plugin is not the one of this planwire"
    if terminal.copy and not _is_copied(terminal, folder):
        yield "its copy of the plugin is not the one of this planwire"
    if terminal.listing and not terminal.is_listed(run_command([program, *terminal.listing], folder).text):
        yield "it does not list planwire as installed and enabled"
    if terminal.install == () and any(read_bytes(Path(each.path)) is None for each in receipt.settings):
        yield "its files are gone"
    if problem := tried(commands):
        yield problem


def _commands(folder: Path) -> list[str]:
    """The command lines of the hooks in the plugin folder."""
    for path in folder.rglob(_HOOKS):
        return hook_commands(path.read_text())
    for path in folder.glob("*.js"):
        return _commands_in_program(path.read_text())
    return []


def _commands_in_program(text: str) -> list[str]:
    """The command lines in opencode's file: its first JSON object has them, by role."""
    start = text.find('{\n  "')
    try:
        found, _ = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return []
    return [each for each in found.values() if isinstance(each, str)] if isinstance(found, dict) else []


def _is_copied(terminal: Terminal, folder: Path) -> bool:
    """Whether the agent's own copy of the plugin has our hooks."""
    ours = next((each.read_bytes() for each in folder.rglob(_HOOKS)), b"")
    copies = [each / _HOOKS for each in terminal.home().glob(terminal.copy)]
    return any(each.is_file() and _same_json(each.read_bytes(), ours) for each in copies)


def _same_json(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one)["hooks"] == json.loads(other)["hooks"])
    except (ValueError, KeyError, TypeError):
        return False


def _codex_trust(program: str, folder: Path) -> str | None:
    counted = untrusted_hooks(program, folder)
    if counted is None:
        return "it does not say whether it trusts the hooks: start codex once, and see /hooks"
    untrusted, count = counted
    if not untrusted:
        return None
    return f'it does not trust {untrusted} of {count} hooks, and runs none of those: start codex and choose "Trust all"'


def _no_choice(_program: str, _folder: Path) -> None:
    return None


#: The options that start an agent's session without a prompt; the session's id follows.
_WITHOUT_PROMPT: Final = {"claude-code": ("--init-only", "--session-id")}

#: Checks for decisions that an agent leaves to the person.
_CHOICES: Final[Mapping[str, Callable[[str, Path], str | None]]] = {"codex": _codex_trust}


def fired(receipt: Receipt, program: str) -> bool | None:
    """Whether a hook of ours runs when the agent starts a session without a prompt. None if that can't be told, because
    the agent can't do it, or another process takes the hooks' events away at once.

    The session is forgotten afterwards."""
    if receipt.agent not in _WITHOUT_PROMPT:
        return None
    session, hooks = str(uuid4()), Path(receipt.hooks)
    lock = DrainerLock(hooks)
    if not lock.acquire():
        return None
    try:
        run_command([program, *_WITHOUT_PROMPT[receipt.agent], session], plugin_folder(receipt.agent))
        is_heard = any(session.encode() in (read_bytes(each) or b"") for each in hooks.glob("*") if each.is_file())
    finally:
        lock.release()
    with suppress(JournalError), open_drained(journal_of_hooks(hooks)) as journal:
        if any(each.id == session for each in journal.sessions()):
            journal.forget(session)
    return is_heard
