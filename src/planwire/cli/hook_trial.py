"""A trial of a hook's exact command with a payload of our own: whether it still runs, records, and prints nothing.

It runs through the shell, as an agent runs it, but with a temporary folder of hooks, so that the trial gets into no
journal.
"""

import json
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from uuid import uuid4

from planwire.hooks.command_line import QUIETLY

_SECONDS: Final = 30
#: Where the program, its file, the role and the folder are among the words of a hook's command.
_PROGRAM, _FILE, _ROLE, _FOLDER = 0, 3, 4, 5


def command_problems(commands: Sequence[str]) -> Iterator[str]:
    """The files that the commands need and that are gone."""
    found = _words(commands)
    for words in sorted({(each[_PROGRAM], each[_FILE]) for each in found if len(each) > _FOLDER}):
        yield from (f"{each} is gone" for each in words if not Path(each).is_file())
    if any(len(each) <= _FOLDER for each in found):
        yield "it has a command that is none of ours"


def tried(commands: Sequence[str]) -> str | None:
    """What is wrong with the command that records; None if it put a payload into a spool and printed nothing.

    The command runs without its ending that hides errors, since these say what is wrong."""
    words = next((each for each in _words(commands) if len(each) > _FOLDER and each[_ROLE] == "record"), None)
    if words is None:
        return "none of its hooks records anything"
    mark = uuid4().hex
    with tempfile.TemporaryDirectory() as folder:
        hooks = Path(folder) / "journal.db-hooks"
        line = shlex.join([*words[:_FOLDER], str(hooks), *words[_FOLDER + 1 :]])
        payload = json.dumps({"session_id": mark, "hook_event_name": "planwire-trial"}).encode()
        try:
            ran = subprocess.run(  # noqa: S603
                ["sh", "-c", line],  # noqa: S607  (as agents do it)
                check=False,
                input=payload,
                capture_output=True,
                timeout=_SECONDS,
            )
        except (subprocess.TimeoutExpired, OSError) as error:
            return f"a hook did not end: {error}"
        if ran.stdout or ran.returncode != 0:
            said = (ran.stderr or ran.stdout).decode("utf-8", "replace").strip().splitlines()
            return f"a hook failed: {said[-1] if said else f'exit status {ran.returncode}'}"
        kept = b"".join(each.read_bytes() for each in hooks.glob("*") if each.is_file()) if hooks.is_dir() else b""
        return None if mark.encode() in kept else "a hook ran, and recorded nothing"


def _words(commands: Sequence[str]) -> list[list[str]]:
    return [shlex.split(each.removesuffix(QUIETLY)) for each in commands]
