"""`--journal`, for all commands. It imports nothing, because hosts wait for `planwire mcp` to start."""

from argparse import ArgumentParser


def add_journal_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--journal",
        metavar="URL",
        help="where the plans are kept: a path, the URL of a server (postgresql:// or nats://), or @FILE with one "
        "(default: $PLANWIRE_JOURNAL, or the user's own journal)",
    )
