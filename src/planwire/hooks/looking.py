"""What a hook only points to: a plan in a file or a database of the agent's, looked up while it is recorded.

The file is the agent's own, and may be gone, huge, or no file at all: then the hook says nothing of a plan.
"""

import os
import stat
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from planwire.hooks.codex_plan import TAIL_BYTES, newest_plan
from planwire.hooks.happenings import Happening, HookCall, ListHeard, PlanInTranscript, Proposed, TodosInDatabase
from planwire.hooks.recording import LARGEST_PLAN
from planwire.hooks.todo_database import todos_in

#: Bytes to read of a plan's file: a longer file is too large a plan in any script, and recorded as such, not cut.
_MOST_BYTES: Final = 4 * LARGEST_PLAN + 4


def looked_up(heard: HookCall) -> HookCall:
    """What a hook says, with the texts that it points to filled in."""
    found = (_looked_up(each) for each in heard.what)
    return replace(heard, what=tuple(each for each in found if each is not None))


def _looked_up(happening: Happening) -> Happening | None:
    match happening:
        case Proposed(text="", path=str(path)):
            text = _end_of_file(path, _MOST_BYTES).decode("utf-8", "replace")
            return replace(happening, text=text) if text.strip() else None
        case PlanInTranscript(plan_id=plan_id, path=path, turn=turn):
            found = newest_plan(_end_of_file(path, TAIL_BYTES), turn)
            return Proposed(plan_id, found) if found else None
        case TodosInDatabase(plan_id=plan_id, path=path):
            entries = todos_in(path)
            return ListHeard(plan_id, entries) if entries is not None else None
    return happening


def _end_of_file(path: str, most: int) -> bytes:
    """The last bytes of a regular file, empty for anything else. A `~` stands for the user's home."""
    try:
        handle = os.open(Path(path).expanduser(), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError, RuntimeError):
        return b""
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return b""
        os.lseek(handle, max(found.st_size - most, 0), os.SEEK_SET)
        return os.read(handle, most)
    except OSError:
        return b""
    finally:
        os.close(handle)
