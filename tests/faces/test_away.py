"""What people see while the journal's server is away: what waits, what was not written, and why."""

import re
from pathlib import Path

import pytest

from planwire.cli.exit_codes import DONE, NOT_DONE, NOT_FOUND
from planwire.cli.session_argument import session_at
from planwire.journal import Journal, KnownSession, Stamped, engines, load_state
from planwire.journal.drainer_lock import DrainerLock
from planwire.journal.engines import open_journal
from planwire.journal.user_files import away_path
from planwire.journal.waiting import NOT_YET
from planwire.model.events import Remarked, SessionOpened
from planwire.readmodel.shown import ShownSession
from tests.cli.answers import answer
from tests.journal.outages import ENGINE, Outage, open_server
from tests.journal.test_contract import said
from tests.waiting import until
from tests.web.board import items, running_board
from tests.web.steering import Here
from tests.web.team import team_board


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
        assert "Queued" in here.page()
        outage.end()
        until(lambda: "away" not in board.page("/sessions"))
        assert 'class="trouble"' not in here.page()
        with server(outage) as journal:
            assert journal.last_seq("s1") == 3
        assert here.act("review", verdict="approved", key="b").status_code == 200
        assert "Why?" in here.page()


def test_people_on_a_teams_board_are_told_that_the_server_is_away_and_not_how_to_reach_it(outage: Outage) -> None:
    with server(outage) as journal:
        journal.append("s1", [Stamped(1, "agent", items("pending"))])
    with team_board(outage.folder, url(outage)) as board, board.program("Ann") as ann:
        until(lambda: ann.get("/sessions/s1").status_code == 200)
        outage.begin()
        approval = {"act": "review", "verdict": "approved", "seen": 1}
        refused = ann.post("/sessions/s1/plans/main/acts", json=approval)
        assert refused.status_code == 422
        said = r"The journal's server has been away since \d\d:\d\d: new records are kept on this machine"
        assert re.fullmatch(rf"{said}\. Nothing was written: only comments and suggestions .*", refused.json()["error"])
        unknown = ann.get("/sessions/s2.json")
        assert unknown.status_code == 503
        assert re.fullmatch(said, unknown.json()["error"])


def test_a_board_that_starts_while_the_server_is_away_shows_that_and_then_the_sessions(outage: Outage) -> None:
    with server(outage) as journal:
        journal.append("s1", said("end_turn"))
    outage.begin()
    with running_board(url(outage)) as board:
        until(lambda: "server has been away since" in board.page("/sessions"))
        outage.end()
        until(lambda: "s1" in board.page("/sessions"))


def test_commands_that_need_the_history_say_that_the_server_is_away_and_what_waits(outage: Outage) -> None:
    outage.begin()
    with open_journal(url(outage)) as journal:
        journal.append("s1", said("end_turn"))
    for command in ("log", "export", "diff"):
        answered = answer(command, "s1")
        assert answered.code == NOT_DONE, (command, answered)
        assert "example.org can't be reached" in answered.err
        assert "1 record waits on this machine and will be delivered" in answered.err
    assert "1 record waits on this machine" in answer("doctor").out
    end(outage)
    assert answer("sessions").code == DONE
    with server(outage) as journal:
        assert journal.last_seq("s1") == 1


# What this machine last knew


COMMENT = ("comment", "Why?", "--session", "s1", "--as", "ann", "--yes")


@pytest.fixture
def seen(outage: Outage) -> Outage:
    """A server that is away, with a session whose plan was shown on this machine before."""
    with server(outage) as journal:
        journal.append("s1", [Stamped(1, "agent", SessionOpened("agent 1")), Stamped(2, "agent", items("pending"))])
        journal.append("other", [Stamped(1, "agent", items("pending"))])
    assert answer("show", "s1").code == DONE
    outage.begin()
    return outage


def end(outage: Outage) -> None:
    """The server is back, and nobody knows of the outage any more."""
    outage.end()
    (away_path(url(outage)) / "away").unlink()


def remarks(outage: Outage, session: str = "s1") -> list[tuple[str, str]]:
    with server(outage) as journal:
        events = [each.event for each in journal.read(session)]
    return [(each.kind, each.text) for each in events if isinstance(each, Remarked)]


def test_a_comment_from_a_command_line_waits_is_shown_and_is_delivered_once(seen: Outage) -> None:
    commented = answer(*COMMENT)
    assert (commented.code, commented.err) == (DONE, "")
    assert NOT_YET in commented.out
    assert answer("comment", "And how?", "--session", "s1", "--plan", "main", "--as", "ann", "--yes").code == DONE
    shown = answer("show", "s1")
    assert shown.code == DONE
    assert "server has been away since" in shown.err
    assert "2 records wait on this machine" in shown.err
    assert "This is what was last known here" in shown.err
    assert "Why?" in shown.out
    assert "And how?" in shown.out
    assert "Queued" in shown.out
    end(seen)
    assert "away" not in answer("sessions").err
    assert remarks(seen) == [("comment", "Why?"), ("comment", "And how?")]


def test_what_still_waits_once_the_server_answers_is_said_beside_what_the_server_has(
    seen: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.journal.away.journal.PATIENCE", 0.02)
    assert answer(*COMMENT).code == DONE
    end(seen)
    with DrainerLock(away_path(url(seen))):  # another process is about to deliver
        for command in (("show", "s1"), ("sessions",), ("journal", "info")):
            shown = answer(*command)
            assert "Why?" not in shown.out
            assert shown.err == (
                "planwire: 1 record waits on this machine to be delivered to the journal's server. "
                "What is shown here may lack it.\n"
            )
    assert answer("show", "s1").err == ""
    assert remarks(seen) == [("comment", "Why?")]


def test_a_spool_that_can_not_be_read_hides_nothing_that_is_known_and_is_said_with_its_place(seen: Outage) -> None:
    spool = away_path(url(seen)) / "spool"
    spool.mkdir()  # as if it were another user's
    assert "step 1" in answer("show", "s1").out
    assert "s1" in answer("sessions").out
    refused = answer(*COMMENT)
    assert refused.code == NOT_DONE
    assert f"Nothing was written: {spool.parent} is full, or this user can't write to it" in refused.err
    end(seen)
    for words in (answer("doctor").out, answer("show", "s1").err, answer(*COMMENT).err):
        assert str(spool) in words
        assert "its files must be this user's own" in words
    spool.rmdir()
    assert answer(*COMMENT).code == DONE
    assert remarks(seen) == [("comment", "Why?")]


def test_a_suggestion_from_a_command_line_waits_and_a_verdict_is_refused_before_anything_is_asked(
    seen: Outage,
) -> None:
    suggested = answer("reword", "step 1", "step one", "--session", "s1", "--as", "ann", "--yes")
    assert suggested.code == DONE, suggested.err
    assert NOT_YET in suggested.out
    for act in (("approve",), ("dismiss",), ("stop",)):
        refused = answer(*act, "--session", "s1", at_terminal=True)
        assert refused.code == NOT_DONE
        assert "Nothing was written" in refused.err
        assert "[y/N]" not in refused.out
    end(seen)
    assert answer("sessions").code == DONE
    assert [kind for kind, _ in remarks(seen)] == ["suggestion"]


@pytest.mark.parametrize("act", [("tell", "Hurry"), ("tell",), ("comment", "Hurry", "--now")])
def test_a_command_that_is_to_tell_the_agent_now_is_refused_and_nothing_waits(
    seen: Outage, act: tuple[str, ...]
) -> None:
    refused = answer(*act, "--session", "s1", "--as", "ann", "--yes")
    assert (refused.code, refused.out) == (NOT_DONE, "")
    assert refused.err == (
        "planwire: the server example.org can't be reached: connection refused. Nothing was written: only comments and "
        "suggestions can wait on this machine\n"
    )
    assert "waits" not in answer("show", "s1").err


def test_sentences_about_what_waits_end_with_a_full_stop(seen: Outage) -> None:
    seen.end()
    assert answer(*COMMENT).code == DONE
    seen.begin()
    withdrawn = answer("withdraw", "r1", "--session", "s1", "--as", "ann", "--yes")
    assert withdrawn.out.startswith("Withdrawn: “Why?”. Not yet delivered: it waits on this machine"), withdrawn


def test_a_server_that_refuses_the_login_is_not_said_to_be_away(seen: Outage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.readmodel.sessions.LOOK", 0.02)
    seen.end()
    with running_board(url(seen)) as board:
        until(lambda: "s1" in board.page("/sessions"))
        seen.refuse_logins()
        until(lambda: "server has refused the login since" in board.page("/sessions"))
        refused = Here(board, "s1").act("review", verdict="approved", key="b").json()["error"]
    words = [refused, *(answer(each, "--session", "s1", "--as", "ann", "--yes").err for each in ("stop", "tell"))]
    words += [answer("comment", "Why?", "--session", name, "--as", "ann", "--yes").err for name in ("other", "s")]
    words += [answer("comment", "Why?", "--session", "s1", "--as", "ann", "--yes").out, answer("show", "s1").err]
    words += [answer("doctor").out]
    assert "refuses this login" in words[0]
    assert not [each for each in words if "away" in each or "is back" in each]


def test_a_change_for_a_revision_that_only_the_server_has_is_refused_and_says_how_to_do_without(seen: Outage) -> None:
    refused = answer(*COMMENT, "--revision", "1")
    assert refused.code == NOT_DONE
    assert "leave out --revision" in refused.err
    assert "Nothing was written" in refused.err


def test_who_means_a_session_that_this_machine_has_not_seen_is_told_so_and_what_to_do(seen: Outage) -> None:
    refused = answer("comment", "Why?", "--session", "other", "--as", "ann", "--yes")
    assert refused.code == NOT_FOUND
    assert "this machine has not seen a session that begins with 'other'" in refused.err
    assert "try again once it can" in refused.err
    assert "s1" in refused.err
    (kept,) = (away_path(url(seen)) / "known").iterdir()
    kept.unlink()
    refused = answer(*COMMENT)
    assert refused.code == NOT_DONE
    assert "This machine has seen none of its sessions" in refused.err


def test_a_server_that_goes_away_while_a_session_is_shown_that_was_not_seen_before_costs_nothing(
    seen: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen.end()
    with server(seen) as journal:
        journal.append("s2", [Stamped(1, "agent", SessionOpened("agent 1")), Stamped(2, "agent", items("pending"))])

    def read_and_lose(journal: Journal, known: KnownSession, at: int | None) -> ShownSession:
        found = session_at(journal, known, at)
        seen.begin()
        return found

    monkeypatch.setattr("planwire.cli.show.session_at", read_and_lose)
    shown = answer("show", "s2")
    assert shown.code == DONE, shown.err
    assert "step 1" in shown.out


def test_who_writes_names_a_session_by_its_whole_id_for_the_server_may_have_others_that_begin_so(seen: Outage) -> None:
    assert "step 1" in answer("show", "s").out
    refused = answer("comment", "Why?", "--session", "s", "--as", "ann", "--yes")
    assert refused.code == NOT_DONE
    assert "pass the whole id of the one that you mean. Seen here was s1. Nothing was written now" in refused.err
    end(seen)
    assert answer("comment", "Why?", "--session", "s", "--as", "ann", "--yes").code == DONE
    assert remarks(seen) == [("comment", "Why?")]


def test_a_session_that_began_while_the_server_was_away_can_be_shown_and_commented_on(outage: Outage) -> None:
    outage.begin()
    with open_journal(url(outage)) as journal:
        journal.append("new", [Stamped(1, "agent", SessionOpened("agent 1")), Stamped(2, "agent", items("pending"))])
        assert answer("comment", "Why?", "--session", "new", "--as", "ann", "--yes").code == DONE
        shown = answer("show", "new").out
        assert "step 1" in shown
        assert "Why?" in shown
    end(outage)
    assert answer("sessions").code == DONE
    assert remarks(outage, "new") == [("comment", "Why?")]


def test_a_remark_that_another_process_made_and_that_waits_is_withdrawn_by_its_name(seen: Outage) -> None:
    assert answer(*COMMENT).code == DONE
    [name] = re.findall(r"r1-[a-z0-9]+", answer("show", "s1").out)
    assert answer("withdraw", name, "--session", "s1", "--as", "ann", "--yes").code == DONE
    end(seen)
    with open_journal(url(seen)) as journal:
        [remark] = load_state(journal, "s1").plans["main"].remarks
    assert not remark.is_open


def test_what_an_older_planwire_kept_in_another_form_is_not_known(
    seen: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.journal.view.STATE._rules", 0)
    refused = answer(*COMMENT)
    assert refused.code == NOT_DONE
    assert "example.org can't be reached" in refused.err


def test_a_secret_in_the_url_changes_nothing_about_where_records_wait() -> None:
    assert away_path("postgresql://me:one@host/db") == away_path("postgresql://me:two@host/db")
    assert away_path("postgresql://me@host/db") != away_path("postgresql://me@host/other")
