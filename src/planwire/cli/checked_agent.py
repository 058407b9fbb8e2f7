"""One checked run of an agent: its folder, its model if it is scripted, the recording, and the verdict."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from msgspec import Struct

from planwire.check import Checker, Verdict
from planwire.check.observing import TOOLS, Observer
from planwire.check.play import DEFAULT, Play, Script, read_script
from planwire.cli.agent_client import AgentClient, AgentTrouble
from planwire.cli.deciding import Decider
from planwire.cli.driving import Course, Driver
from planwire.cli.input_output import opened
from planwire.cli.learning import keep, server_entry
from planwire.cli.recording import as_recorded
from planwire.cli.scripted_home import furnish
from planwire.cli.scripted_model import ScriptedModel
from planwire.errors import InputError, reason


class AgentRun(Struct, frozen=True, kw_only=True):
    """How to run an agent, from the arguments of the command."""

    capability: str
    prompt: str | None
    skips: frozenset[str]
    seconds: float
    allow: bool
    script: str | None = None
    cwd: str | None = None
    save: str | None = None
    learns: bool = False


class _Scripting(Struct, frozen=True):
    """The agent's environment, and a function to call when a part begins. Without a script both do nothing."""

    environment: dict[str, str | None] = {}
    begin: Callable[[str], None] = lambda part: None


def check_agent(command: list[str], run: AgentRun) -> tuple[Verdict, list[str]]:
    """The verdict on an agent, and what was learned about it, one line each. Learning needs a scripted model."""
    checker, decider, observer = Checker(), Decider(allow=run.allow), Observer()
    number = None
    with (
        _folder(run.cwd) as cwd,
        TemporaryDirectory(prefix="planwire-check-", ignore_cleanup_errors=True) as notes,
        _kept(run.save) as kept,
        _model(run.script or (DEFAULT if run.learns else None), cwd, observer) as scripting,
        closing(AgentClient(command, run.seconds, decider, scripting.environment)) as client,
    ):
        calls = Path(notes) / "calls"
        server = server_entry(str(calls)) if run.learns else None
        course = Course(run.capability, cwd, run.prompt, server, run.skips)
        driver = Driver(client, decider, course, checker.accuse, scripting.begin, lambda: observer.seen.command)
        try:
            for recorded in driver.conversation():
                number = recorded.number
                kept.write(as_recorded(recorded))
                checker.hear(recorded.line, recorded.sender, number)
                observer.hear(recorded.line, recorded.sender)
        except AgentTrouble as trouble:
            checker.accuse(trouble.code, str(trouble), number)
            return checker.close(), ["nothing was learned: the check did not finish"] if run.learns else []
        scripting.begin("")
        called = calls.read_text().split() if calls.exists() else []
        lessons = keep(observer.seen, command[0], called) if run.learns else []
    if not checker.updates:
        checker.accuse("no-plan-sent", "the agent was asked for a plan, and no plan update came", number)
    return checker.close(), lessons


@contextmanager
def _model(name: str | None, project: str, observer: Observer) -> Iterator[_Scripting]:
    """A scripted model, if there is a script. The observer gets the requests of the part that is about tools."""
    if name is None:
        yield _Scripting()
        return
    script = Script()
    if name != DEFAULT:
        with opened(name) as file:
            script = read_script(file.read(), name)
    play, asked = Play(script.parts), dict[str, int]()

    def begin(part: str) -> None:
        if TOOLS in asked:
            observer.hear_model(model.main[asked.pop(TOOLS) :])
        asked[part] = len(model.main)
        play.begin(part)
        observer.begin(part)

    with (
        TemporaryDirectory(prefix="planwire-home-", ignore_cleanup_errors=True) as home,
        ScriptedModel(ending=play) as model,
    ):
        yield _Scripting(furnish(Path(home), project, model.url, script), begin)


def _folder(name: str | None) -> AbstractContextManager[str]:
    """The agent's folder as an absolute path: the named one, or an empty one that is removed afterwards."""
    if name is None:
        return TemporaryDirectory(prefix="planwire-check-", ignore_cleanup_errors=True)
    if not Path(name).is_dir():
        raise InputError(f"{name} is not a folder: pass --cwd an existing one, or leave it out")
    return nullcontext(str(Path(name).resolve()))


@contextmanager
def _kept(name: str | None) -> Iterator[BinaryIO]:
    """The file to record lines in: the named one, or the null device."""
    try:
        with Path(name or os.devnull).open("wb") as file:
            yield file
    except OSError as error:
        raise InputError(f"{name} can't be written: {reason(error)}. Pass --save another file") from None
