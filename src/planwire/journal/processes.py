"""Processes by names that are never reused: the number of one, and when it began.

The system gives a number to another process sooner or later. Reading `/proc` is cheap; elsewhere `ps` is asked.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

#: More than any real process has.
_MOST_ANCESTORS: Final = 1_000
#: The states of processes that ended.
_DEAD: Final = frozenset("ZX")


class _Process(NamedTuple):
    """The parent of a process, when it began, and the leaders of its process group and of its session."""

    parent: int
    began: str
    leaders: tuple[int, int] = (0, 0)


def process_name(pid: int) -> str | None:
    """The name of a running process; None if there is none, or the system does not tell."""
    process = _process(pid)
    return f"{pid}-{process.began}" if process else None


def is_running(name: str) -> bool:
    """Whether the process of that name still runs. A dead one that its parent has yet to reap does not."""
    number = name.partition("-")[0]
    return number.isdecimal() and process_name(int(number)) == name


def lineage(*, leaders_too: bool = False) -> Iterator[str]:
    """The names of this process and of its ancestors; if asked, also of the leaders of their process groups and
    sessions, which a process that lost its parents still has."""
    number = _own_number()
    leaders: dict[int, None] = {}
    for _ in range(_MOST_ANCESTORS):
        process = _process(number)
        if process is None:
            break
        yield f"{number}-{process.began}"
        leaders |= dict.fromkeys(process.leaders)
        number = process.parent
    if leaders_too:
        yield from filter(None, map(process_name, leaders))


def _own_number() -> int:
    """Our number among the processes that `/proc` shows: those outside, if we are alone in a namespace without its
    own."""
    try:
        return int(os.readlink("/proc/self"))  # noqa: PTH115
    except (OSError, ValueError):
        return os.getpid()


def _process(pid: int) -> _Process | None:
    return _from_proc(pid) if os.path.exists("/proc/self/stat") else _from_ps(pid)  # noqa: PTH110


def _from_proc(pid: int) -> _Process | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the command's name before it may hold anything
    return None if fields[0] in _DEAD else _Process(int(fields[1]), fields[19], (int(fields[2]), int(fields[3])))


def _from_ps(pid: int) -> _Process | None:
    """What `ps` says, in a fixed language and time zone, whatever an agent has set."""
    import subprocess  # noqa: PLC0415  (where there is /proc, nobody needs it)

    command = ["/bin/ps", "-o", "stat=", "-o", "ppid=", "-o", "lstart=", "-p", str(pid)]
    try:
        said = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=5, check=True, env={"LC_ALL": "C", "TZ": "UTC"}
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    state, parent, *began = said.split()
    return None if state[0] in _DEAD else _Process(int(parent), "-".join(began).replace(":", ""))
