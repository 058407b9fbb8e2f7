"""What people see while the journal's server is away: what waits, what was not written, and why."""

from pathlib import Path

import pytest

from planwire.cli.exit_codes import DONE, NOT_DONE
from planwire.journal import Journal, engines
from planwire.journal.engines import away_path, open_journal
from planwire.journal.waiting import NOT_YET
from tests.cli.answers import answer
from tests.journal.outages import ENGINE, Outage, open_server
from tests.journal.test_contract import said
from tests.waiting import until
from tests.web.board import items, running_board
from tests.web.steering import Here


@pytest.fixture
def outage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outage:
    monkeypatch.setitem(engines._ENGINES, "flaky", ENGINE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PLANWIRE_JOURNAL", f"flaky:{tmp_path}")
    return Outage(tmp_path)


def url(outage: Outage) -> str:
    return f"flaky:{outage.folder}"


def server(outage: Outage) -> Journal:
    return open_server(outage.folder)


def test_the_board_takes_a_comment_refuses_a_verdict_and_says_what_waits(outage: Outage) -> None:
    with running_board(url(outage)) as board:
        here = Here(board, "s1")
        board.open("s1")
        here.write(items("pending", "pending"))
        assert "away" not in board.page("/sessions")
        outage.begin()
        said = here.act("comment", text="Why?", seen=2, key="a")
        assert said.status_code == 200, said.text
        assert said.json()["words"].endswith(NOT_YET)
        refused = here.act("review", verdict="approved", seen=2, key="b")
        assert refused.status_code == 422, refused.text
        assert "Nothing was written" in refused.json()["error"]
        waits = "1 record waits on this machine and will be delivered</p>"
        until(lambda: waits in board.page("/sessions"))
        until(lambda: waits in here.page())
        assert "Why?" in here.page()
        assert "Not yet delivered" in here.page()
        outage.end()
        until(lambda: "away" not in board.page("/sessions"))
        assert 'class="trouble"' not in here.page()
        with server(outage) as journal:
            assert journal.last_seq("s1") == 3
        assert here.act("review", verdict="approved", key="b").status_code == 200
        assert "Why?" in here.page()
        assert "Not yet delivered" not in here.page()


def test_a_board_that_starts_while_the_server_is_away_shows_that_and_then_the_sessions(outage: Outage) -> None:
    with server(outage) as journal:
        journal.append("s1", said("end_turn"))
    outage.begin()
    with running_board(url(outage)) as board:
        until(lambda: "server is away" in board.page("/sessions"))
        outage.end()
        until(lambda: "s1" in board.page("/sessions"))


def test_commands_that_read_say_that_the_server_is_away_and_what_waits(outage: Outage) -> None:
    outage.begin()
    with open_journal(url(outage)) as journal:
        journal.append("s1", said("end_turn"))
    for command in (("sessions",), ("show", "s1"), ("comment", "--session", "s1", "Why?", "--as", "ann", "--yes")):
        answered = answer(*command)
        assert answered.code == NOT_DONE, (command, answered)
        assert "example.org can't be reached" in answered.err
        assert "1 record waits on this machine and will be delivered" in answered.err
        assert ("Nothing was written now" in answered.err) == (command[0] == "comment")
    assert "1 record waits on this machine" in answer("doctor").out
    outage.end()
    (away_path(url(outage)) / "away").unlink()
    assert answer("sessions").code == DONE
    with server(outage) as journal:
        assert journal.last_seq("s1") == 1


def test_a_secret_in_the_url_changes_nothing_about_where_records_wait() -> None:
    assert away_path("postgresql://me:one@host/db") == away_path("postgresql://me:two@host/db")
    assert away_path("postgresql://me@host/db") != away_path("postgresql://me@host/other")
