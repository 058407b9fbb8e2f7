"""The agents that planwire started, and whether this process is below one of them.

An agent with a shell can run planwire, and must not pass for the person. There are two signs. The relay keeps a record
of each agent while it runs, the name of an empty file: a process is below an agent if one of its ancestors has one. And
the agent has a variable in its environment, which also reaches those of its processes that lost their parents.

Neither is a wall: all of it belongs to the same user. `docs/security.md` says so.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from planwire.session.agent_environment import VARIABLE

__all__ = ["ancestors", "is_below_agent", "known_agent"]

#: More than any real tree of processes has.
_MOST_ANCESTORS: Final = 1_000


class _Process(NamedTuple):
    """The parent of a process, and when it began: its number alone may be another one's by now."""

    parent: int
    began: str


@contextmanager
def known_agent(pid: int) -> Iterator[None]:
    """Keep a record of an agent while it runs. If that is impossible, the agent runs all the same."""
    record: Path | None = None
    with suppress(OSError, StopIteration):
        folder = next(_folders())
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        _clear(folder)
        agent = _process(pid)
        if agent is not None:
            record = folder / _name(pid, agent)
            os.close(os.open(record, os.O_CREAT | os.O_WRONLY, 0o600))
    try:
        yield
    finally:
        if record is not None:
            with suppress(OSError):
                record.unlink()


def is_below_agent() -> bool:
    """Whether this process comes from an agent that planwire started."""
    if os.environ.get(VARIABLE):
        return True
    known = {name for folder in _folders() for name in _names(folder)}
    return bool(known) and any(name in known for name in _lineage())


def ancestors(most: int) -> tuple[str, ...]:
    """The processes above this one, the nearest first. They differ once one of them has ended, because those below it
    have another parent then."""
    return tuple(name for _, name in zip(range(most + 1), _lineage(), strict=False))[1:]


def _lineage() -> Iterator[str]:
    """The names of the records that this process and its ancestors would have."""
    pid = os.getpid()
    for _ in range(_MOST_ANCESTORS):
        process = _process(pid)
        if process is None:
            return
        yield _name(pid, process)
        pid = process.parent


def _name(pid: int, process: _Process) -> str:
    return f"{pid}-{process.began}"


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def _clear(folder: Path) -> None:
    """Remove records of agents that ended while their relay could not say so."""
    for name in _names(folder):
        number = name.partition("-")[0]
        process = _process(int(number)) if number.isdecimal() else None
        if process is None or _name(int(number), process) != name:
            with suppress(OSError):
                (folder / name).unlink()


def _folders() -> Iterator[Path]:
    """The places for the records. A relay takes the first. All are looked through: an agent chooses the environment of
    what it runs, but not the other two."""
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


def _process(pid: int) -> _Process | None:
    """A process that runs; None if there is none, or the system does not tell."""
    return _from_proc(pid) if os.path.exists("/proc/self/stat") else _from_ps(pid)  # noqa: PTH110


def _from_proc(pid: int) -> _Process | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold anything
    return _Process(int(fields[1]), fields[19])


def _from_ps(pid: int) -> _Process | None:
    """What `ps` says, in one language and one time zone, whatever an agent has set."""
    command = ["/bin/ps", "-o", "ppid=", "-o", "lstart=", "-p", str(pid)]
    try:
        said = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=5, check=True, env={"LC_ALL": "C", "TZ": "UTC"}
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    parent, *began = said.split()
    return _Process(int(parent), "-".join(began).replace(":", ""))
