"""`planwire journal info`: what keeps a journal, what that promises, and how much is in it."""

import argparse
from datetime import UTC, datetime

from planwire.cli.exit_codes import DONE
from planwire.cli.input_output import note, print_json, write_text
from planwire.journal import open_journal
from planwire.readmodel.away_words import last_known_words
from planwire.readmodel.plain_text import one_line


def run(arguments: argparse.Namespace) -> int:
    with open_journal(arguments.journal, create=False) as journal:
        facts, sessions = journal.facts(), journal.sessions()
        note(last_known_words(journal))
    events = sum(each.last_seq for each in sessions)
    oldest = min((each.first_at for each in sessions), default=None)
    newest = max((each.last_at for each in sessions), default=None)
    if arguments.json:
        print_json(
            {
                "engine": facts.engine,
                "where": facts.where,
                "promise": facts.promise,
                "facts": facts.facts,
                "sessions": len(sessions),
                "events": events,
                "oldest": oldest,
                "newest": newest,
            }
        )
        return DONE
    rows = {
        "engine": facts.engine,
        "where": facts.where,
        "promise": facts.promise,
        "sessions": f"{len(sessions):,}",
        "events": f"{events:,}",
        "oldest": _time(oldest),
        "newest": _time(newest),
        **facts.facts,
    }
    width = max(map(len, rows))
    write_text("".join(f"{name:<{width}}  {one_line(value)}\n" for name, value in rows.items()))
    return DONE


def _time(at: int | None) -> str:
    if at is None:
        return "none"
    try:
        return datetime.fromtimestamp(at / 1_000, UTC).astimezone().isoformat(" ", "seconds")
    except (ValueError, OverflowError, OSError):  # any number is a time to a journal
        return f"{at} ms"
