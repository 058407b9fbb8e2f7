"""`planwire completion`: a script that lets a shell complete commands, options and the ids of sessions."""

import argparse
from typing import Any

from planwire.cli.command import new_command

__all__ = ["add_parser", "run"]

_EXAMPLES = """\
examples:
  source <(planwire completion bash)                                       now; in ~/.bashrc, always
  planwire completion zsh > "${fpath[1]}/_planwire"                        then start a new shell
  planwire completion fish > ~/.config/fish/completions/planwire.fish
"""

SHELLS = ("bash", "zsh", "fish")


def add_parser(commands: Any) -> None:
    parser = new_command(
        commands,
        "completion",
        run,
        summary="print a shell's completion script",
        description="Print a script with which a shell completes commands, options and the ids of sessions.",
        examples=_EXAMPLES,
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=" | ".join(SHELLS))


def run(arguments: argparse.Namespace) -> int:
    from planwire.cli import build_parser  # noqa: PLC0415
    from planwire.cli.completion_scripts import SCRIPTS, known_commands  # noqa: PLC0415

    print(SCRIPTS[arguments.shell](known_commands(build_parser())), end="")
    return 0
