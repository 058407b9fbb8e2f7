"""`planwire completion`: a script that lets a shell complete commands, options and the ids of sessions."""

import argparse

from planwire.cli.command import describe

__all__ = ["add_arguments", "run"]

_EXAMPLES = """\
examples:
  source <(planwire completion bash)                                       now; in ~/.bashrc, always
  planwire completion zsh > "${fpath[1]}/_planwire"                        then start a new shell
  planwire completion fish > ~/.config/fish/completions/planwire.fish
"""

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Print a script with which a shell completes commands, options and the ids of sessions.",
        _EXAMPLES,
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=" | ".join(SHELLS))


def run(arguments: argparse.Namespace) -> int:
    from planwire.cli import build_parser  # noqa: PLC0415
    from planwire.cli.completion_scripts import SCRIPTS, known_commands  # noqa: PLC0415

    print(SCRIPTS[arguments.shell](known_commands(build_parser())), end="")
    return 0
