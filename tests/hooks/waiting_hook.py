"""A hook that holds a plan back, as a process: `python waiting_hook.py JOURNAL SECONDS < PAYLOAD`.

SECONDS is how long a person may take; 0 leaves that to the table.
"""

import os
import sys

from msgspec.structs import replace

from planwire.hooks.agents import read_hook
from planwire.hooks.review_terms import terms_of
from planwire.hooks.reviewing import hold_review
from planwire.journal import open_journal


def main() -> None:
    path, seconds = sys.argv[1], float(sys.argv[2])
    payload = read_hook(sys.stdin.buffer.read(), environment=os.environ)
    assert payload is not None
    terms = terms_of(payload.agent.name)

    def say(answer: bytes) -> None:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()

    with open_journal(path) as journal:
        hold_review(journal, payload, say, terms=replace(terms, wait_seconds=seconds) if seconds else terms)


if __name__ == "__main__":
    main()
