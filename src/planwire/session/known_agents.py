"""The agents that planwire knows, and whether this process is below one of them.

An agent with a shell can run planwire, and must not pass for the person. There are two signs. Planwire keeps a record
of each agent that it knows from the relay or from hooks: a file named after the agent's process, with the agent's name.
A process is below an agent if one of its ancestors has such a file, or the leader of an ancestor's process group or
session. And an agent that the relay started has a variable in its environment, which also reaches those of its
processes that lost their parents.

Neither is a wall: all of it belongs to the same user. `docs/security.md` says so.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from planwire.journal.processes import is_running, lineage, process_name
from planwire.model.authors import BY_SCRIPT, LONGEST_NAME, authored, below, name_and_way
from planwire.model.records import AGENT
from planwire.session.agent_environment import VARIABLE

#: An agent whose name is not known.
_UNNAMED: Final = "an agent"


@contextmanager
def known_agent(pid: int, name: str) -> Iterator[None]:
    """Keep a record of an agent while it runs. If that is impossible, the agent runs anyway."""
    agent = process_name(pid)
    record = _made_record(agent, name) if agent is not None else None
    try:
        yield
    finally:
        if record is not None:
            with suppress(OSError):
                record.unlink()


def note_agent(process: str, name: str) -> None:
    """Keep a record of an agent that runs in its own terminal, by the name of its process. A later record clears it
    away once the process has ended."""
    _made_record(process, name)


def agent_above() -> str | None:
    """The name of the agent that started this process, directly or not; None if planwire knows of none."""
    known = {path.name: path for folder in _folders() for path in _records(folder)}
    for name in lineage(leaders_too=True) if known else ():
        if name in known:
            return _name_in(known[name])
    return _UNNAMED if os.environ.get(VARIABLE) else None


def own_way(*, at_terminal: bool) -> str:
    """The way of an act that a person may have typed here."""
    return way_below() or ("" if at_terminal else BY_SCRIPT)


def way_below() -> str:
    """The way of an act by this process: "" if it is below no agent."""
    agent = agent_above()
    return "" if agent is None else below(agent)


def with_own_way(by: str) -> str:
    """The author of what this process writes, if a person: what is below an agent came that way, whatever else."""
    name, way = name_and_way(by)
    return by if by == AGENT else authored(name, way_below() or way)


def _made_record(process: str, name: str) -> Path | None:
    """Write the record of an agent, and clear away those of agents that ended. None if no record can be kept."""
    for folder in _folders():
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            folder.chmod(0o700)
            _clear(folder)
            record = folder / process
            handle = os.open(record, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
            try:
                os.write(handle, name.encode(errors="replace"))
            finally:
                os.close(handle)
            return record
    return None


def _name_in(record: Path) -> str:
    try:
        with record.open(encoding="utf-8", errors="replace") as file:
            return file.read(LONGEST_NAME) or _UNNAMED
    except OSError:
        return _UNNAMED


def _records(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _clear(folder: Path) -> None:
    """Remove the records of agents that have ended."""
    for record in _records(folder):
        if not is_running(record.name):
            with suppress(OSError):
                record.unlink()


def _folders() -> Iterator[Path]:
    """The folders for records, none of which the environment chooses: an agent can change that of what it runs. A new
    record goes to the first that can be written; all are searched."""
    if sys.platform == "win32":  # there only the variable tells
        return
    import pwd  # noqa: PLC0415  (Windows has none)

    user = os.getuid()
    places = [Path(f"/run/user/{user}/planwire")]
    with suppress(KeyError):
        places.append(Path(pwd.getpwuid(user).pw_dir) / ".local" / "state" / "planwire")
    places.append(Path(f"/tmp/planwire-{user}"))  # noqa: S108  (it counts only if it is ours)
    for place in places:
        with suppress(OSError):
            nearest = next(each for each in (place, *place.parents) if each.exists())
            if nearest.stat().st_uid == user or nearest == Path("/tmp"):  # noqa: S108
                yield place / "agents"
