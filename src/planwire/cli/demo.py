"""`planwire demo`: a recorded conversation, live in the terminal."""

import argparse
from importlib.resources import as_file, files
from typing import Any

from planwire.cli.recording import read_recording

__all__ = ["add_parser", "run"]

_NEXT = """
What to try next:
  planwire replay FILE            the plans of a session that you recorded
  planwire replay FILE --step     every change of it, one after the other
  planwire translate FILE --to v1 what a client of another dialect would be sent
"""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "demo",
        help="watch a plan being worked off",
        description="Play a bundled conversation of a client and an agent, live in the terminal. It takes 20 seconds.",
        epilog="examples:\n  planwire demo\n  planwire demo --speed 4      four times as fast\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--speed", type=float, default=1.0, metavar="X", help="how many times as fast (default: 1)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from planwire import terminal  # noqa: PLC0415

    with as_file(files("planwire.cli") / "demo.jsonl") as path:
        terminal.play(read_recording(str(path)), speed=arguments.speed)
    print(_NEXT)
    return 0
