"""Secrets in the URL of a journal, on command lines: a warning, and the ways around. It loads nothing until one may be
there: an agent behind the relay waits for what comes before it."""

import os
import sys

from planwire.readmodel.plain_text import printable

__all__ = ["shown_journal", "warn_of_secret", "with_journal"]


def warn_of_secret(journal: str | None, name: str = "--journal") -> None:
    """Say that others see a command line. A URL without these two signs has no secret."""
    if not journal or not ("@" in journal or "=" in journal):
        return
    from planwire.journal.engines import has_secret  # noqa: PLC0415

    if has_secret(journal):
        hint = f"use PLANWIRE_JOURNAL, a file ({name} @FILE), ~/.pgpass or a NATS context"
        words = f"planwire: others on this machine see the secret in {name} {shown_journal(journal)}: {hint}"
        print(printable(words), file=sys.stderr)


def shown_journal(journal: str) -> str:
    """The journal as people may see it."""
    from planwire.journal.engines import shown_url  # noqa: PLC0415

    return shown_url(journal)


def with_journal(journal: str | None) -> dict[str, str]:
    """The environment of a planwire that uses a journal. Its command line would show the URL to everybody."""
    if not journal:
        return {**os.environ}
    from planwire.journal.engines import VARIABLE  # noqa: PLC0415

    return {**os.environ, VARIABLE: journal}
