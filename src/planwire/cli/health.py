"""What `planwire doctor` checks: the journal, the spool of hooks, the MCP extra, agents' plugins, and editors' relays.

Nothing is repaired or created: each check only looks, and says what it saw or what to do.
"""

import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from planwire.cli.agent_commands import run_command
from planwire.cli.agent_settings import is_behind_relay
from planwire.cli.conditions import Condition, good, trouble
from planwire.cli.editors import EDITORS, settings_path
from planwire.cli.file_swap import read_bytes
from planwire.cli.jsonc import read_settings
from planwire.cli.plugin_folder import folder_of_hooks, read_receipt, receipts
from planwire.cli.terminal_checks import check_terminal
from planwire.cli.terminals import TERMINALS, Terminal
from planwire.errors import InputError, NoJournal, PlanwireError, reason
from planwire.extras import PACKAGES, need_of
from planwire.journal.away.delivery import waiting_here
from planwire.journal.engines import file_of, is_remote, open_journal, shared_url
from planwire.journal.shown_urls import shown_url
from planwire.journal.spool import ASIDE, SEALED, SEALED_LOSSES
from planwire.journal.spool_append import LATE, OVERFLOW, SPOOL, is_drained
from planwire.journal.waiting import waiting_of, waiting_words
from planwire.readmodel.plain_text import counted

#: Files in the folder of hooks: those that wait, those that count losses, and those that could not be read.
_SPOOL: Final = (SPOOL, f"{SEALED}*", f"{LATE}*")
_LOST: Final = (OVERFLOW, f"{SEALED_LOSSES}*")
_ASIDE: Final = (f"{ASIDE}*",)
_MEGABYTE: Final = 1 << 20
_NUMBERS: Final = re.compile(r"\d+\.\d+\.\d+")


def checked(journal: str | None) -> Iterator[Condition]:
    """The results of all checks, in the order in which a person would look."""
    yield _journal(journal)
    yield _spool(journal)
    need = need_of("mcp")
    title = PACKAGES["mcp"].title
    yield trouble("plan tools", f"the MCP server {need}") if need else good("plan tools", f"{title} is installed")
    with ThreadPoolExecutor() as pool:  # an agent takes seconds to start
        yield from pool.map(_terminal, [each for each in receipts() if each in TERMINALS])
    for name, editor in EDITORS.items():
        if editor.file:
            yield from _relays(name, editor.title, settings_path(editor.file))


def _journal(url: str | None) -> Condition:
    """Whether the journal can be read and written. A missing journal is fine: it is created when needed."""
    shared = shared_url(url) or str(url)
    name = shown_url(shared)
    try:
        with open_journal(url, create=False) as journal:
            count = len(journal.sessions())
            waits = waiting_words(waiting_of(journal))
            facts = journal.facts().facts if waits is None else {}
    except NoJournal:
        waits = waiting_words(waiting_here(shared)) if is_remote(shared) else None
        if waits is not None:
            return trouble("journal", f"{name} is not there yet, and could not be made: {waits}")
        return good("journal", f"{name} is not there yet: the first plan makes it")
    except PlanwireError as error:
        return trouble("journal", str(error) if name in str(error) else f"{name}: {error}")
    if waits is not None:
        return trouble("journal", f"{name}: {waits}")
    path = file_of(shared)
    if path is not None and path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return trouble("journal", f"{path} can be read but not written: change its permissions, or those of its folder")
    if limits := facts.get("limits"):
        return trouble("journal", f"{name}: {limits}")
    risk = f". A risk: {facts['risk']}" if "risk" in facts else ""
    return good("journal", f"{name} has {counted(count, 'session')}{risk}")


def _spool(url: str | None) -> Condition:
    """Whether events from hooks get into the journal."""
    try:
        folder = Path(folder_of_hooks(url))
        is_there = folder.is_dir()
    except InputError as error:
        return good("hooks", f"none: {error}")
    except OSError as error:
        return trouble("hooks", f"{folder} can't be read: {reason(error)}")
    if not is_there:
        return good("hooks", "none has said anything yet")
    if not os.access(folder, os.W_OK | os.X_OK):
        return trouble("hooks", f"{folder} can't be written: change its permissions")
    waiting, lost = (_size(folder, names) for names in (_SPOOL, _LOST))
    drainer = "a running planwire records it" if is_drained(str(folder)) else "the next planwire command records it"
    if lost:
        return trouble("hooks", f"some of what they said was lost, since {folder} was full: run planwire sessions")
    if _size(folder, _ASIDE):
        kept = f"{folder}/{ASIDE}*"
        return trouble(
            "hooks", f"some of what they said can't be understood, and is kept in {kept}: remove those files"
        )
    if waiting > _MEGABYTE:
        return trouble("hooks", f"{waiting // _MEGABYTE} MB wait to be recorded: run planwire sessions")
    return good("hooks", f"{waiting} bytes wait, and {drainer}" if waiting else "all that they said is recorded")


def _size(folder: Path, names: tuple[str, ...]) -> int:
    return sum(each.stat().st_size for name in names for each in folder.glob(name) if each.is_file())


def _terminal(agent: str) -> Condition:
    terminal, program = TERMINALS[agent], shutil.which(TERMINALS[agent].program)
    try:
        receipt = read_receipt(agent)
        if receipt is None:
            return trouble(terminal.title, f"its receipt is gone: planwire setup {agent}")
        found = check_terminal(receipt, program)
        return found._replace(words=f"{found.words}{_version(terminal, program)}") if found.ok and program else found
    except (PlanwireError, OSError) as error:
        return trouble(terminal.title, reason(error))


def _version(terminal: Terminal, program: str) -> str:
    """The agent's version, and the version that planwire was tested with if that is newer."""
    said = _NUMBERS.search(run_command([program, "--version"], Path.home()).text)
    tested = _NUMBERS.search(terminal.tested)
    if said is None or tested is None:
        return ""
    is_older = [int(each) for each in said[0].split(".")] < [int(each) for each in tested[0].split(".")]
    return f" ({terminal.program} {said[0]}{f', tested with {tested[0]}' if is_older else ''})"


def _relays(name: str, title: str, path: Path) -> Iterator[Condition]:
    """The agents behind the relay in an editor's settings. An editor without any has nothing to check."""
    try:
        content = read_bytes(path)
        root = read_settings(content.decode()) if content else None
    except (PlanwireError, UnicodeDecodeError) as error:
        if _is_about_us(path):
            yield trouble(title, f"{path} does not parse: {error}")
        return
    for agent, words in _commands(root.value if root else None):
        if is_behind_relay(words):
            problem = _relay_problem(words)
            what = f"{title}, {agent}"
            again = f"planwire setup {name} --undo, then --write again"
            yield trouble(what, f"{problem}: {again}") if problem else good(what, "it runs behind the relay")


def _is_about_us(path: Path) -> bool:
    """Whether settings that can't be parsed may be about planwire."""
    try:
        return b"planwire" in path.read_bytes()
    except OSError:
        return False


def _commands(value: Any) -> Iterator[tuple[str, list[str]]]:
    """Every command in settings, wherever editors have it: an object with a command and arguments, under a name."""
    if not isinstance(value, dict):
        return
    for name, each in value.items():
        if isinstance(each, dict) and isinstance(each.get("command"), str):
            words = [each["command"], *(each.get("args") or [])]
            if all(isinstance(word, str) for word in words):
                yield str(name), words
        else:
            yield from _commands(each)


def _relay_problem(words: list[str]) -> str | None:
    """What is missing for a relay's command to work; None if nothing is."""
    if shutil.which(words[0]) is None:
        return f"{words[0]} is gone"
    agent = words[words.index("--") + 1 :] if "--" in words else []
    if not agent:
        return "its command names no agent"
    return f"there is no {agent[0]} on your PATH" if shutil.which(agent[0]) is None else None
