"""The agents that planwire knows, and whether this process is below one of them.

An agent with a shell can run planwire, and must not pass for the person. There are two signs. Planwire keeps a record
of each agent that it knows from the relay or from hooks: an empty file named after the agent's process. A process is
below an agent if one of its ancestors has such a file. And an agent that the relay started has a variable in its
environment, which also reaches those of its processes that lost their parents.

Neither is a wall: all of it belongs to the same user. `docs/security.md` says so.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from planwire.journal.processes import is_running, lineage, process_name
from planwire.session.agent_environment import VARIABLE

__all__ = ["is_below_agent", "known_agent", "note_agent"]


@contextmanager
def known_agent(pid: int) -> Iterator[None]:
    """Keep a record of an agent while it runs. If that is impossible, the agent runs anyway."""
    agent = process_name(pid)
    record = _made_record(agent) if agent is not None else None
    try:
        yield
    finally:
        if record is not None:
            with suppress(OSError):
                record.unlink()


def note_agent(process: str) -> None:
    """Keep a record of an agent that runs in its own terminal, by the name of its process. A later record clears it
    away once the process has ended."""
    _made_record(process)


def is_below_agent() -> bool:
    """Whether an agent that planwire knows started this process, directly or not."""
    if os.environ.get(VARIABLE):
        return True
    known = {name for folder in _folders() for name in _names(folder)}
    return bool(known) and any(name in known for name in lineage())


def _made_record(process: str) -> Path | None:
    """Write the record of an agent, and clear away those of agents that ended. None if no record can be kept."""
    with suppress(OSError, StopIteration):
        folder = next(_folders())
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        _clear(folder)
        record = folder / process
        os.close(os.open(record, os.O_CREAT | os.O_WRONLY, 0o600))
        return record
    return None


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def _clear(folder: Path) -> None:
    """Remove the records of agents that have ended."""
    for name in _names(folder):
        if not is_running(name):
            with suppress(OSError):
                (folder / name).unlink()


def _folders() -> Iterator[Path]:
    """The folders for records. A new record goes to the first. All are searched: an agent can change the environment of
    what it runs, and so the first folder, but not the other two."""
    if sys.platform == "win32":  # there only the variable tells
        return
    import pwd  # noqa: PLC0415  (Windows has none)

    user = os.getuid()
    given = os.environ.get("XDG_RUNTIME_DIR")
    for folder in (*([Path(given)] if given else []), Path(f"/run/user/{user}")):
        with suppress(OSError):
            if folder.stat().st_uid == user:
                yield folder / "planwire" / "agents"
    with suppress(KeyError):
        yield Path(pwd.getpwuid(user).pw_dir) / ".local" / "state" / "planwire" / "agents"
