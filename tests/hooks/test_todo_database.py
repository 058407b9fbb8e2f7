"""The steps in the database of a Copilot session: read as they are, never written, and nothing where there are none."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from planwire.hooks.todo_database import todos_in
from planwire.model.plan import Entry

TABLE = "CREATE TABLE todos (id TEXT PRIMARY KEY, title TEXT NOT NULL, description TEXT, status TEXT DEFAULT 'pending')"


def database(path: Path, *statements: str) -> str:
    with closing(sqlite3.connect(path)) as opened, opened:
        for each in statements:
            opened.execute(each)
    return str(path)


def test_steps_come_in_the_order_in_which_they_were_made(tmp_path: Path) -> None:
    rows = "INSERT INTO todos VALUES ('z', 'Read the config', '', 'done'), ('a', 'Write the parser', '', 'blocked')"
    path = database(tmp_path / "session.db", TABLE, rows)
    assert todos_in(path) == (Entry("Read the config", None, "done"), Entry("Write the parser", None, "blocked"))


def test_a_step_without_a_status_is_to_be_done(tmp_path: Path) -> None:
    path = database(tmp_path / "session.db", TABLE, "INSERT INTO todos VALUES ('a', 'Read', '', NULL)")
    assert todos_in(path) == (Entry("Read", None, "pending"),)


def test_what_is_no_step_is_left_out(tmp_path: Path) -> None:
    rows = "INSERT INTO todos VALUES ('a', '', '', 'done'), ('b', x'ff00', '', 'done'), ('c', 'Read', '', 'done')"
    path = database(tmp_path / "session.db", TABLE, rows)
    assert todos_in(path) == (Entry("Read", None, "done"),)


def test_an_empty_table_is_a_list_that_was_cleared(tmp_path: Path) -> None:
    assert todos_in(database(tmp_path / "session.db", TABLE)) == ()


def test_a_home_may_be_written_as_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    database(tmp_path / "session.db", TABLE)
    assert todos_in("~/session.db") == ()


def test_what_is_no_such_database_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database" * 100)
    other = database(tmp_path / "other.db", "CREATE TABLE notes (text TEXT)")
    nowhere = (str(tmp_path), str(tmp_path / "missing.db"), str(tmp_path / "text"), other, "a\0b", "", "~nobody-here/x")
    assert [todos_in(each) for each in nowhere] == [None] * len(nowhere)
    assert not (tmp_path / "missing.db").exists()


def test_a_database_that_is_being_written_can_be_read_later(tmp_path: Path) -> None:
    path = database(tmp_path / "session.db", TABLE)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert todos_in(path) is None
        writer.execute("ROLLBACK")
    assert todos_in(path) == ()
