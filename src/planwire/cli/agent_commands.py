"""An agent's own commands: run one, and report its output if it failed."""

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from planwire.errors import InputError, NotFound, Refused, reason
from planwire.readmodel.plain_text import printable

#: An agent may look for updates first, and wait for a network that is not there.
_SECONDS: Final = 180
_WORDS: Final = 500


class Ran(NamedTuple):
    """The result of a command: its exit status, and everything it printed on either stream."""

    code: int
    text: str


def program_path(title: str, program: str) -> str:
    """The path of an agent's program. Raises `NotFound` if it is not on the PATH."""
    found = shutil.which(program)
    if found is None:
        raise NotFound(
            f"there is no {program} on your PATH: install {title} first, or start planwire where {program} can be found"
        )
    return found


def run_command(words: Sequence[str], folder: Path, typed: str = "") -> Ran:
    """Run a command in a folder. It can't wait for a person, since its input ends after `typed`."""
    try:
        ended = subprocess.run(  # noqa: S603  (an agent's own command)
            [shutil.which(words[0]) or words[0], *words[1:]],
            check=False,
            cwd=folder,
            input=typed.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Ran(-1, f"it was not done after {_SECONDS} seconds")
    except OSError as error:
        raise InputError(f"{words[0]} can't be started: {reason(error)}") from None
    return Ran(ended.returncode, ended.stdout.decode("utf-8", "replace"))


def must_run(words: Sequence[str], folder: Path, typed: str = "") -> str:
    """Run a command that has to succeed."""
    ran = run_command(words, folder, typed)
    if ran.code != 0:
        said = printable(ran.text.strip()[-_WORDS:]) or f"exit status {ran.code}"
        raise Refused(f"{shown_command(words)} failed: {said}")
    return ran.text


def shown_command(words: Sequence[str]) -> str:
    """A command as a person would type it."""
    return printable(shlex.join(words))
