"""The agent as a process: start it, forward our signals, end it if it does not end by itself."""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from time import monotonic, sleep
from typing import IO, Final, Protocol

from planwire.errors import InputError, reason
from planwire.session.agent_environment import agent_environment

#: Seconds that an agent may be silent after the end of its input before the relay ends it.
GRACE: Final = 5.0
#: Seconds between asking an agent to end and killing it.
_KILL_AFTER: Final = 2.0
_GLANCE: Final = 0.05
#: Programs and words that only start the agent.
_LAUNCHER: Final = re.compile(r"python[\d.]*|node|npx|pnpx|npm|bun|bunx|deno|uv|uvx|x|run|exec|dlx|env|sh|bash")
_VARIABLE: Final = re.compile(r"\w+=(?!=)")
_FORWARDED: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")


class AgentProcess(Protocol):
    """An agent: as much of a process's interface as the relay needs."""

    returncode: int | None

    @property
    def stdin(self) -> IO[bytes] | None: ...

    @property
    def stdout(self) -> IO[bytes] | None: ...

    def wait(self) -> int: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


def name_of(command: Sequence[str]) -> str:
    """A name for an agent without one of its own: its program, or what a launcher starts, without path and version."""
    words = [word for word in command[1:] if not word.startswith("-") and len(word.split()) == 1]  # `sh -c` has code
    names = [_bare_name(word) for word in (command[0], *words) if not _VARIABLE.match(word)]
    return next((name for name in names if name and not _LAUNCHER.fullmatch(name)), _bare_name(command[0]))


def _bare_name(word: str) -> str:
    name = word.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return re.split("@|==", name, maxsplit=1)[0] or name


def start_agent(command: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start the agent with pipes for its input and output. It shares our standard error and gets our signals."""
    _open_standard_streams()
    try:
        agent = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=agent_environment()
        )
    except (OSError, ValueError) as error:
        raise not_started(command, error) from None

    _forward_signals(agent)
    return agent


def _forward_signals(agent: "subprocess.Popen[bytes]") -> None:
    """Forward our signals, from a thread. The main thread runs a handler only once the system call that it waits in
    ends, and a signal that comes right before that call does not end it."""

    def forward(number: int) -> None:
        if not (number == signal.SIGINT and _is_in_foreground()):  # a terminal has sent it to the agent too
            with suppress(OSError):
                agent.send_signal(number)

    def forward_all(arrived: int) -> None:
        while numbers := os.read(arrived, 64):
            for number in numbers:
                forward(number)

    has_thread = hasattr(os, "set_blocking")  # Windows has few signals, and no such pipes
    if has_thread:
        arrived, wake_up = os.pipe()
        os.set_blocking(wake_up, False)
        signal.set_wakeup_fd(wake_up, warn_on_full_buffer=False)
        Thread(target=forward_all, args=(arrived,), name="planwire signals", daemon=True).start()
    for name in _FORWARDED:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _frame: None if has_thread else forward(number))


def not_started(command: Sequence[str], error: Exception, role: str = "agent") -> InputError:
    """The error for an agent, or another program, that could not be started."""
    return InputError(f"the {role} {command[0]!r} could not be started: {reason(error)}. Check the command after --")


def end_when_silent(agent: AgentProcess, silence: Callable[[], float], grace: float) -> None:
    """End an agent whose input is at its end, once it has been silent for `grace` seconds since. One that talks may go
    on, and silence before the end of its input does not count."""
    ended = monotonic()

    def watch() -> None:
        while agent.returncode is None and min(silence(), monotonic() - ended) < grace:
            sleep(_GLANCE)
        if agent.returncode is None:
            agent.terminate()
            sleep(_KILL_AFTER)
        if agent.returncode is None:
            agent.kill()

    Thread(target=watch, name="planwire end", daemon=True).start()


@contextmanager
def ended_after_us(agent: "subprocess.Popen[bytes]", grace: float) -> Iterator[None]:
    """Guard against an agent that outlives us. If a SIGKILL ends this process, it can't end an agent that ignores the
    end of its input. So meanwhile a shell waits for a word from us, and ends the agent if we end without one."""
    glances = f"for each in 1 2 3 4 5; do sleep {grace / 5:g}; kill -0 {agent.pid} || exit; done"
    script = f"read -r word && exit; {glances}; kill {agent.pid}; sleep {_KILL_AFTER:g}; kill -9 {agent.pid}"
    guard: subprocess.Popen[bytes] | None = None
    with suppress(OSError):  # where there is no such shell, an agent has to end by itself
        guard = subprocess.Popen(  # noqa: S603
            ["sh", "-c", script],  # noqa: S607
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        yield
    finally:
        if guard is not None:
            guard.communicate(b"\n")


def end_like(code: int) -> int:
    """End as the agent did: the exit code, or, if a signal ended it, the same signal."""
    if code >= 0:
        return code
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415  (a module of POSIX systems only)

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the agent has left its own
    with suppress(OSError, ValueError):
        signal.signal(-code, signal.SIG_DFL)
    with suppress(OSError):
        os.kill(os.getpid(), -code)
    return 128 - code


def _open_standard_streams() -> None:
    """Open closed standard streams on the null device, so that no pipe of the agent's takes their numbers."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def _is_in_foreground() -> bool:
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
