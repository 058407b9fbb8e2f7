"""Writers of files, as processes whose system calls are recorded: each says a number once that is acknowledged.

python -m tests.lab.file_writers WRITER FOLDER SEED
"""

import os
import sys
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Final

from planwire.cli.file_swap import read_bytes, swap_bytes
from planwire.journal import Once, Thought, open_journal
from planwire.journal.away.last_known import LastKnown
from planwire.journal.backup import back_up
from planwire.journal.private_urls import write_url
from planwire.journal.restoring import restore_file
from planwire.journal.thoughts_file import FileThoughts
from planwire.model.records import SessionState
from planwire.session.users_file import UsersFile
from tests.journal.outages import Outage, behind
from tests.journal.test_contract import said

__all__ = ["BACKUP", "JOURNAL", "SETTINGS", "USERS", "WRITERS", "settings_of", "text_of", "thought_of"]

JOURNAL: Final = "journal.db"
USERS: Final = "users.json"
BACKUP: Final = "backup.db"
SETTINGS: Final = "settings.json"


def text_of(number: int) -> str:
    return f"{number} {'x' * Random(number).choice([0, 30, 600, 9_000])}"


def thought_of(number: int) -> Thought:
    text = text_of(number)
    return Thought(sha256(f"salt {text}".encode()).hexdigest(), "salt", text)


def settings_of(number: int) -> bytes:
    return f'{{"number": "{text_of(number)}"}}\n'.encode()


def acknowledge(number: int) -> None:
    os.write(1, b"%d\n" % number)


def journal(folder: Path, draw: Random) -> None:
    """Appends, some of them by a process that opens the journal anew, with checkpoints and sessions that go."""
    number = 0
    for _ in range(4):
        with open_journal(folder / JOURNAL) as opened:
            for _ in range(draw.randint(3, 12)):
                opened.append("s", said(text_of(number)), number, Once("k", number) if draw.random() < 0.5 else None)
                acknowledge(number)
                number += 1
            if draw.random() < 0.5:
                opened.append("gone", said(*map(text_of, range(20))))
                opened.forget("gone")


def away(folder: Path, draw: Random) -> None:
    """Appends that wait for a server, which was away before they began."""
    outage = Outage(folder)
    outage.begin()
    with behind(folder) as opened:
        for number in range(draw.randint(5, 20)):
            opened.append("s", said(text_of(number)))
            acknowledge(number)


def users(folder: Path, _: Random) -> None:
    """Users are added and removed by turns: the number is how often."""
    file = UsersFile(folder / USERS)
    for number in range(12):
        if number % 3 < 2:
            file.add(f"user{number}", "steer", "Ann")
        else:
            file.change(lambda known, name=f"user{number - 1}": known.removed(name))  # type: ignore[misc]
        acknowledge(number)


def last_known(folder: Path, _: Random) -> None:
    kept = LastKnown(folder / "last-known")
    for number in range(1, 10):
        kept.note(SessionState("s", seq=number))
        kept.note(SessionState(f"s{number}", seq=1))
        kept.write()
        acknowledge(number)


def thoughts(folder: Path, _: Random) -> None:
    """Thoughts are kept; those of every third session are forgotten, which is what is acknowledged."""
    with closing(FileThoughts(folder / "thoughts.db")) as kept:
        for number in range(12):
            kept.keep(f"s{number}", thought_of(number))
            if number % 3 == 0:
                kept.forget(f"s{number}")
                acknowledge(number)


def backup(folder: Path, _: Random) -> None:
    with open_journal(folder / JOURNAL) as opened:
        for number in range(4):
            opened.append("s", said(*(text_of(number * 10 + each) for each in range(10))))
            back_up(opened, folder / BACKUP, replace=number > 0)
            acknowledge(number)


def restore(folder: Path, _: Random) -> None:
    """A journal of two states: 10 events in the backup, 20 when the backup takes its place."""
    for number in range(2):
        with open_journal(folder / JOURNAL) as opened:
            opened.append("s", said(*(text_of(number * 10 + each) for each in range(10))))
            if not number:
                back_up(opened, folder / BACKUP)
        acknowledge(number)
    restore_file(folder / BACKUP, folder / JOURNAL, "aside")
    acknowledge(2)


def settings(folder: Path, _: Random) -> None:
    path = folder / SETTINGS
    for number in range(6):
        swap_bytes(path, read_bytes(path), settings_of(number))
        acknowledge(number)


def journal_urls(folder: Path, _: Random) -> None:
    for number in range(4):
        write_url(folder / "journals" / "one.url", f"nats://{number}")
        acknowledge(number)


WRITERS: Final[dict[str, Callable[[Path, Random], None]]] = {
    each.__name__: each
    for each in (journal, away, users, last_known, thoughts, backup, restore, settings, journal_urls)
}

if __name__ == "__main__":
    WRITERS[sys.argv[1]](Path(sys.argv[2]), Random(sys.argv[3]))
