"""What a command answers, in the test's own process: a process of its own takes as long as a hundred of these."""

from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from typing import NamedTuple
from unittest.mock import patch

from planwire.cli import main

__all__ = ["Answer", "answer"]


class Answer(NamedTuple):
    """The exit code of a command, and what it wrote to its two streams."""

    code: int
    out: str
    err: str


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def answer(*arguments: str, at_terminal: bool = False, typed: str = "") -> Answer:
    """Run a command whose output is no terminal and whose lines have 120 characters. `at_terminal`: its input and its
    errors are on one, where a person has `typed` something, or nothing."""
    stream = _Terminal if at_terminal else StringIO
    out, err = BytesIO(), stream()
    stdout = TextIOWrapper(out, "utf-8", write_through=True)
    with (
        patch.dict("os.environ", COLUMNS="120"),
        patch("sys.stdin", stream(typed)),
        redirect_stdout(stdout),
        redirect_stderr(err),
    ):
        try:
            code = main(arguments)
        except SystemExit as ended:  # argparse, after a help text
            code = int(ended.code or 0)
    return Answer(code, out.getvalue().decode(), err.getvalue())
