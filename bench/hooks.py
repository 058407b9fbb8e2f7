"""What an agent's hooks cost it, compared with a Python that does nothing; and whether any of many at once is lost.

A hook is timed as an agent runs it: the exact command from a hook file, through a shell, with a payload on its standard
input. So is the Python that it is compared with. Ratios are medians over medians: an agent waits for all of it.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final, NamedTuple

from bench.figure import Cell, Figure, Target, at_most
from bench.progress import say
from bench.proof import prove
from planwire.hooks.command_line import Role, hook_command
from planwire.journal import open_journal
from planwire.journal.spool import Spool, Spooled
from planwire.model.events import TOLD, Told

__all__ = ["measure"]

ROUNDS = 50
AT_ONCE = 1_000
SESSION: Final = "5f0c3a52-0c5b-4d3e-9d55-3b1f2f0f9e10"


def _payload(event: str, **fields: object) -> bytes:
    """What Claude Code says at an event."""
    common = {
        "session_id": SESSION,
        "transcript_path": f"/home/user/.claude/projects/-home-user-project/{SESSION}.jsonl",
        "cwd": "/home/user/project",
        "hook_event_name": event,
    }
    return json.dumps({**common, **fields}).encode()


def _tool(name: str, **arguments: object) -> bytes:
    return _payload("PostToolUse", tool_name=name, tool_input=arguments, tool_response={})


#: Payloads: a file was written; a list of steps was set; the context was compacted.
WRITTEN: Final = _tool("Write", file_path="/home/user/project/notes.md", content="A line of notes.\n" * 100)
PLANNED: Final = _tool("TodoWrite", todos=[{"content": f"Step {n}", "status": "pending"} for n in range(20)])
COMPACTED: Final = _payload("SessionStart", source="compact")
PYTHON: Final = "python -S -I"


class Hook(NamedTuple):
    """A kind of hook that is timed: its row in the table, the name of its figures, and what it may cost. `proof` checks
    in the folder of hooks what all of them did, after what a hook said `before`."""

    row: str
    role: Role
    payload: bytes
    figure: str
    target: Target
    proof: Callable[[Path], None]
    before: bytes = b""


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        places = {hook: Path(folder) / hook.role / "journal.db-hooks" for hook in HOOKS}
        for hook in HOOKS:
            places[hook].parent.mkdir()
            if hook.before:
                _run(folder, hook_command("record", places[hook]), hook.before)
        commands = {hook.row: (hook_command(hook.role, places[hook]), hook.payload) for hook in HOOKS}
        typical = _time(folder, {PYTHON: (f"{shlex.quote(sys.executable)} -S -I -c pass", b""), **commands})
        for hook in HOOKS:
            hook.proof(places[hook])
    yield Figure("hook_python_ms", typical[PYTHON] * 1_000, "ms", cell=Cell(PYTHON, "start to end"))
    for hook in HOOKS:
        yield Figure(f"{hook.figure}_ms", typical[hook.row] * 1_000, "ms", cell=Cell(hook.row, "start to end"))
        yield Figure(f"{hook.figure}_vs_python", typical[hook.row] / typical[PYTHON], "x", hook.target)
    yield Figure(f"hook_{AT_ONCE}_events_lost", _lost_at_once(), "events", at_most(0))


def _time(folder: str, commands: dict[str, tuple[str, bytes]]) -> dict[str, float]:
    """The seconds that each command typically takes. They take turns. A first round, which does not count, writes the
    byte code."""
    say(f"{ROUNDS} rounds of {len(commands)} hooks")
    rounds = [{name: _run(folder, *command) for name, command in commands.items()} for _ in range(ROUNDS + 1)][1:]
    return {name: median(taken[name] for taken in rounds) for name in commands}


def _run(folder: str, command: str, payload: bytes) -> float:
    """The seconds that a command takes. The process that runs a hook is noted as an agent: here only in this folder."""
    environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
    start = perf_counter()
    subprocess.run(["sh", "-c", command], input=payload, stdout=subprocess.DEVNULL, check=True, env=environment)
    return perf_counter() - start


def _lost_at_once() -> int:
    """How many of many hooks that run at the same time are not in the spool."""
    say(f"{AT_ONCE} hooks at once")
    with tempfile.TemporaryDirectory() as folder:
        hooks = Path(folder) / "journal.db-hooks"
        command = hook_command("record", hooks)
        shell = f"for number in $(seq {AT_ONCE}); do (echo $number | {command}) & done; wait"
        with subprocess.Popen(["sh", "-c", shell]) as running:
            found: list[Spooled] = []
            while running.poll() is None:
                found += _drained(hooks)
        found += _drained(hooks)
        prove(len(found), len({each.body for each in found}), "hooks at once")
        return AT_ONCE - len(found)


def _prove_recorded(folder: Path) -> None:
    prove([each.body for each in _drained(folder)], [WRITTEN] * (ROUNDS + 1), "the hook that records")


def _prove_told(folder: Path) -> None:
    """Every hook told the plan itself, with no other process to do it."""
    with open_journal(folder.parent / "journal.db") as journal:
        told = [each.event for each in journal.read(SESSION) if isinstance(each.event, Told)]
    prove([each.stage for each in told].count(TOLD), ROUNDS + 1, "the hook that tells")


def _drained(folder: Path) -> list[Spooled]:
    spool = Spool(folder)
    found: list[Spooled] = []
    with (lock := spool.drainer_lock()):
        for segment in spool.drain(lock):
            found += [each for each in segment if isinstance(each, Spooled)]
            segment.done()
    return found


HOOKS: Final = (
    Hook("a hook that records", "record", WRITTEN, "hook_passive", at_most(2.5), _prove_recorded),
    Hook("a hook that tells", "tell", COMPACTED, "hook_telling", at_most(12), _prove_told, PLANNED),
)
