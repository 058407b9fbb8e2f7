"""Journals of every released shape: they open, show the same as ever, and no row of theirs is rewritten."""

import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planwire.cli import main

RELEASED = Path(__file__).parent / "released"
#: What is kept of each session: the ending of its file, and the command that printed it.
SHOWN = {
    "show.json": ("show", "--json"),
    "log.json": ("log", "--json"),
    "log.txt": ("log",),
    "export.md": ("export",),
    "export.json": ("export", "--format", "json"),
}


@pytest.fixture(params=sorted(folder.name for folder in RELEASED.iterdir()))
def release(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    time.tzset()
    yield RELEASED / request.param
    monkeypatch.undo()
    time.tzset()


def rows(journal: Path) -> list[Any]:
    with closing(sqlite3.connect(journal)) as connection:
        return connection.execute("SELECT * FROM events ORDER BY position").fetchall()


def test_an_old_journal_shows_what_it_always_showed(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = Path(shutil.copy(release / "journal.db", tmp_path))
    before = rows(journal)
    expected = sorted(path for path in release.iterdir() if path.name != "journal.db")
    assert len(expected) >= len(SHOWN)
    for path in expected:
        session, _, ending = path.name.partition(".")
        command, *options = SHOWN[ending]
        assert main([command, session, *options, "--journal", str(journal)]) == 0
        assert capsys.readouterr().out == path.read_text(), path.name
    assert rows(journal) == before
