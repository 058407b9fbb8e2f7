"""Runs of a client with the trial agent, and the verdict on it for people."""

import os
import shlex
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Final

from planwire.acp.dialects import V1
from planwire.check.client_judge import ClientVerdict, TrialRun, TrialVerdict, greeting_in, judge
from planwire.check.trials import BARE, Trial, trials_for
from planwire.cli.recording import read_recording
from planwire.cli.verdict_text import block, count_of, painted, unpainted_unless_seen
from planwire.errors import InputError
from planwire.own_process import own_command
from planwire.readmodel.authors import program_name
from planwire.readmodel.plain_text import one_line
from planwire.relay.process import not_started

#: Stands for the agent's command in the client's.
PLACE: Final = "{agent}"
#: Seconds for a client to end by itself after the turn, and seconds between two looks.
_PATIENCE: Final = 3.0
_MOMENT: Final = 0.02


def try_client(command: Sequence[str], prompt: str, seconds: float) -> ClientVerdict:
    """Run a client through all its trials. Raises `InputError` if it starts no agent."""
    deadline = monotonic() + seconds
    first = _run(command, Trial(BARE, V1, has_plans=False), prompt, deadline)
    greeting = greeting_in(first)
    if greeting is None:
        said = f": {one_line(first.stderr.strip().splitlines()[-1]).rstrip('.')}" if first.stderr.strip() else ""
        raise InputError(
            f"{command[0]} sent no `initialize` to the agent{said}. Say where the client's command names the agent: "
            f"planwire check --client -- {command[0]} --agent {PLACE}"
        )
    return judge((first, *(_run(command, trial, prompt, deadline) for trial in trials_for(greeting))))


def _run(command: Sequence[str], trial: Trial, prompt: str, deadline: float) -> TrialRun:
    with TemporaryDirectory(prefix="planwire-trial-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        log, asked, project = folder / "lines.jsonl", folder / "stdin", folder / "project"
        log.touch()
        asked.write_text(f"{prompt}\n", encoding="utf-8")
        project.mkdir()
        agent = own_command(trial.name, trial.dialect.name, str(log), module="planwire.cli.trial_agent")
        with (
            asked.open("rb") as stdin,
            (folder / "stdout").open("wb") as stdout,
            (folder / "stderr").open("wb") as stderr,
        ):
            whole = _with_agent(command, agent)
            try:
                client = subprocess.Popen(  # noqa: S603
                    whole, stdin=stdin, stdout=stdout, stderr=stderr, cwd=project, start_new_session=True
                )
            except (OSError, ValueError) as error:
                raise not_started(command, error, "client") from None
            code = _end_of(client, log, deadline)
        lines = tuple((line.sender or "", line.line) for line in read_recording(str(log)))
        return TrialRun(trial, lines, _text(folder / "stdout"), _text(folder / "stderr"), code)


def _with_agent(command: Sequence[str], agent: Sequence[str]) -> list[str]:
    """The client's command with the agent's: in place of `{agent}`, or at the end."""
    if any(PLACE in word for word in command):
        return [word.replace(PLACE, shlex.join(agent)) for word in command]
    return [*command, *agent]


def _end_of(client: "subprocess.Popen[bytes]", log: Path, deadline: float) -> int | None:
    """The client's exit code; None if it was killed, because it stayed after the turn or beyond the time limit."""
    over = None
    try:
        while client.poll() is None and monotonic() < deadline and (over is None or monotonic() - over < _PATIENCE):
            if over is None and b"stopReason" in log.read_bytes():
                over = monotonic()
            sleep(_MOMENT)
        return client.poll()
    finally:
        with suppress(OSError):
            os.killpg(client.pid, getattr(signal, "SIGKILL", signal.SIGTERM)) if hasattr(
                os, "killpg"
            ) else client.kill()
        client.wait()


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def client_text(verdict: ClientVerdict) -> str:
    """The findings, then a line for each trial, then a line that sums up."""
    rows = "\n".join(f"{painted(f'{trial.trial:<14}', '1')} {_row(trial)}" for trial in verdict.trials)
    return unpainted_unless_seen("\n\n".join([*map(block, verdict.findings), rows, _summary(verdict)]))


def _row(trial: TrialVerdict) -> str:
    words = ["went to the end of the turn" if trial.over else "stopped before the end of the turn"]
    words.append(f"answered {trial.answer!r}" if trial.answer else "did not answer the question")
    if trial.updates and trial.prints:
        shown = (f"{each.what} {each.shown} of {each.texts}" for each in trial.updates)
        words.append(f"printed {', '.join(shown)}")
    elif trial.updates:
        words.append("prints nothing that could be compared")
    return " · ".join(words)


def _summary(verdict: ClientVerdict) -> str:
    who = [*filter(None, [program_name(verdict.client or "")])]
    return " · ".join([count_of(verdict.findings), f"reads {', '.join(verdict.announces) or 'no dialect'}", *who])
