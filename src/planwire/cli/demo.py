"""`planwire demo`: a recorded conversation, live in the terminal."""

import argparse
from importlib.resources import as_file, files
from typing import Any

from planwire.cli.command import new_command
from planwire.cli.recording import read_recording

__all__ = ["add_parser", "run"]

_NEXT = """
What to try next:
  planwire replay FILE            the plans of a session that you recorded
  planwire replay FILE --step     every change of it, one after the other
  planwire translate FILE --to v1 what a client of another dialect would be sent
"""


def add_parser(commands: Any) -> None:
    parser = new_command(
        commands,
        "demo",
        run,
        summary="watch a plan being worked off",
        description="Play a bundled conversation of a client and an agent, live in the terminal. It takes 20 seconds.",
        examples="examples:\n  planwire demo\n  planwire demo --speed 4      four times as fast\n",
    )
    parser.add_argument("--speed", type=_speed, default=1.0, metavar="X", help="how many times as fast (default: 1)")


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number above 0, found {text!r}")
    return speed


def run(arguments: argparse.Namespace) -> int:
    from planwire import terminal  # noqa: PLC0415

    with as_file(files("planwire.cli") / "demo.jsonl") as path:
        terminal.play(read_recording(str(path)), speed=arguments.speed)
    print(_NEXT)
    return 0
