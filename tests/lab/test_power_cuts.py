"""Power cuts by replay: the files of each writer, rebuilt from what was synced and parts of what was not.

Whatever the disk had taken, nothing that was acknowledged is lost, what was removed does not come back, and no file is
refused that an ordinary cut left.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Final

import pytest

from planwire.journal import open_journal
from planwire.journal.away.last_known import LastKnown
from planwire.journal.backup import back_up
from planwire.journal.private_urls import resolved
from planwire.journal.restoring import restore_file
from planwire.journal.thoughts_file import FileThoughts
from planwire.journal.verifying import verify
from planwire.model.events import Gap
from planwire.session.users_file import UsersFile
from tests.journal.outages import Outage, behind, open_server
from tests.journal.test_contract import said, words
from tests.lab.file_writers import BACKUP, JOURNAL, SETTINGS, USERS, WRITERS, settings_of, text_of, thought_of
from tests.lab.recorded_disk import Cut, cuts, recorded
from tests.waiting import until

CUTS = [12, pytest.param(250, marks=[pytest.mark.lab, pytest.mark.timeout(400)])]


def journal(folder: Path, cut: Cut) -> None:
    acknowledged = list(map(text_of, range(len(cut.said))))
    path = folder / JOURNAL
    goes_on(path, acknowledged, [*acknowledged, text_of(len(acknowledged))])


def goes_on(path: Path, *expected: list[str]) -> None:
    """The journal opens with one of these, verifies, and takes another event; SQLite finds nothing wrong with it."""
    with open_journal(path) as opened:
        found = words(opened.read("s"))
        assert found in expected
        assert verify(opened).troubles == []
        assert words(opened.append("s", said("on"), len(found))) == ["on"]
        assert len(words(opened.read("gone"))) in (0, 20)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def away(folder: Path, cut: Cut) -> None:
    Outage(folder).end()
    with behind(folder) as opened:
        until(opened.tend)
    with open_server(folder) as server:
        found, acknowledged = words(server.read("s")), list(map(text_of, range(len(cut.said))))
        assert found in (acknowledged, [*acknowledged, text_of(len(acknowledged))])
        assert verify(server).troubles == []
        lost = [each.event.count for each in server.read("s") if isinstance(each.event, Gap)]
        assert sum(lost) <= 1  # the one that was under way


def users(folder: Path, cut: Cut) -> None:
    found = [each.name for each in UsersFile(folder / USERS).read().users]
    assert found in (users_after(len(cut.said)), users_after(len(cut.said) + 1))


def users_after(changes: int) -> list[str]:
    """Each third change removes the user that the one before it added."""
    return [f"user{each}" for each in range(changes) if each % 3 == 0 or (each % 3 == 1 and each == changes - 1)]


def last_known(folder: Path, _: Cut) -> None:
    """A cache: what is not as it was written is not there."""
    kept = LastKnown(folder / "last-known")
    for each in kept.sessions():
        state = kept.state(each.id)
        assert state is None or (state.id, state.seq) == (each.id, each.last_seq)


def thoughts(folder: Path, cut: Cut) -> None:
    """A cut may cost thoughts, and nothing brings back one that was forgotten."""
    with closing(FileThoughts(folder / "thoughts.db")) as kept:
        for number in range(12):
            thought = thought_of(number)
            found = kept.find(f"s{number}", [thought.digest])
            assert found in ({}, {thought.digest: thought})
            assert not (str(number) in cut.said and found)
        kept.keep("on", thought_of(0))


def backup(folder: Path, cut: Cut) -> None:
    done = len(cut.said)
    goes_on(folder / JOURNAL, tens(done), tens(done + 1))
    if not done and not (folder / BACKUP).exists():
        return
    with open_journal(folder / BACKUP, create=False) as opened:
        assert words(opened.read("s")) in (tens(done), tens(done + 1))
        assert verify(opened).troubles == []
        back_up(opened, folder / "another.db")


def tens(count: int) -> list[str]:
    return list(map(text_of, range(10 * count)))


def restore(folder: Path, cut: Cut) -> None:
    done = len(cut.said)
    expected = {0: [tens(0), tens(1)], 1: [tens(1), tens(2)], 2: [tens(2), tens(1)], 3: [tens(1)]}[done]
    goes_on(folder / JOURNAL, *expected)
    if done:
        restore_file(folder / BACKUP, folder / JOURNAL, "again")
        goes_on(folder / JOURNAL, tens(1))


def settings(folder: Path, cut: Cut) -> None:
    path, done = folder / SETTINGS, len(cut.said)
    found = path.read_bytes() if path.exists() else None
    states = [None, *map(settings_of, range(6))]
    assert found in states[max(0, done - 1) : done + 2]


def journal_urls(folder: Path, cut: Cut) -> None:
    """Settings name these files, and a part of a URL may be that of another journal."""
    path, done = folder / "journals" / "one.url", len(cut.said)
    if path.exists() or done:
        assert resolved(f"@{path}") in [f"nats://{number}" for number in range(max(0, done - 1), done + 1)]


#: What must hold of the files of each writer after a cut.
CHECKS: Final[dict[str, Callable[[Path, Cut], None]]] = {
    each.__name__: each
    for each in (journal, away, users, last_known, thoughts, backup, restore, settings, journal_urls)
}


def test_each_writer_is_checked() -> None:
    assert CHECKS.keys() == WRITERS.keys()


@pytest.mark.parametrize("count", CUTS)
@pytest.mark.parametrize("writer", WRITERS)
def test_no_power_cut_costs_what_was_acknowledged(
    writer: str, count: int, draw: Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    live = tmp_path / "live"
    live.mkdir()
    arguments = ["tests.lab.file_writers", writer, str(live), str(draw.random())]
    record = recorded(arguments, live, tmp_path / "record")
    for number, cut in enumerate(cuts(record, live, draw, count)):
        folder = tmp_path / f"cut{number}"
        folder.mkdir()
        cut.put(folder)
        try:
            CHECKS[writer](folder, cut)
        except Exception as error:
            error.add_note(f"after cut {number}, when it had said {cut.said}: {sorted(cut.files)} in {folder}")
            raise
        shutil.rmtree(folder)
