"""The journal that a command works on. Only commands that write create one."""

import argparse
from contextlib import AbstractContextManager

from planwire.journal import Journal, open_journal

__all__ = ["add_journal_option", "journal_to_read", "journal_to_write"]


def add_journal_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--journal",
        metavar="URL",
        help="where the plans are kept (default: $PLANWIRE_JOURNAL, or the user's own journal)",
    )


def journal_to_read(arguments: argparse.Namespace) -> AbstractContextManager[Journal]:
    """The journal, or `NoJournal`: looking at a journal never creates one."""
    return open_journal(arguments.journal, create=False)


def journal_to_write(arguments: argparse.Namespace) -> AbstractContextManager[Journal]:
    return open_journal(arguments.journal)
