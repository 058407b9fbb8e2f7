"""A process that appends to a journal, and prints what was acknowledged.

    python -m tests.torture.writer NAME SESSION COUNT FIRST    (the journal's URL is in PLANWIRE_JOURNAL)

Its n-th event says `NAME n`. Each append has a key, and is repeated until it is acknowledged. Then the process prints
its number at once, on a line of its own.
"""

import os
import sys
from time import monotonic, sleep, time_ns

from planwire.errors import EngineAway, JournalUnavailable
from planwire.journal import Journal, Once, Stamped
from planwire.journal.engines import open_engine
from planwire.model.events import TurnEnded

#: Seconds to repeat an append before it counts as refused, and between two tries.
PATIENCE = 60.0
NAP = 0.05


def main(name: str, session: str, count: int, first: int) -> None:
    with opened() as journal:
        for n in range(first, first + count):
            append(journal, name, session, n)
            os.write(1, b"%d\n" % n)


def opened() -> Journal:
    end = monotonic() + PATIENCE
    while True:
        try:
            return open_engine(os.environ["PLANWIRE_JOURNAL"])
        except EngineAway:
            if monotonic() > end:
                raise
            sleep(NAP)


def append(journal: Journal, name: str, session: str, n: int) -> None:
    event = Stamped(time_ns() // 1_000_000, name, TurnEnded(f"{name} {n}"))
    end = monotonic() + PATIENCE
    while True:
        try:
            journal.append(session, [event], once=Once(name, n))
            return
        except JournalUnavailable:
            if monotonic() > end:
                raise
            sleep(NAP)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
