"""`planwire fork`: a session that begins with another one's past."""

import json
from pathlib import Path

import pytest

from planwire.cli import main
from planwire.cli.exit_codes import NOT_DONE, NOT_FOUND
from planwire.journal import open_journal
from planwire.journal.thoughts import kept_why
from planwire.model.events import PlanSet
from planwire.model.plan import Entry, ItemsPlan
from planwire.session.blocking import BlockingPlanSession
from tests.journals import add


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "plans.db"
    with open_journal(path) as opened:
        plans = BlockingPlanSession(opened, "s")
        plans.set(["read", "write"])
        plans.change(steps={"s1": "completed"})
    return path


def test_a_fork_has_the_past_up_to_an_event_and_each_session_names_the_other(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fork", "s", "--as", "other", "--at", "1", "--journal", str(journal)]) == 0
    assert capsys.readouterr().out == "Forked s as other.\n"
    assert main(["show", "other", "--json", "--journal", str(journal)]) == 0
    other = json.loads(capsys.readouterr().out)
    assert other["progress"]["done"] == 0
    assert other["forked_from"] == {"session": "s", "seq": 1}
    assert main(["show", "s", "--json", "--journal", str(journal)]) == 0
    assert json.loads(capsys.readouterr().out)["forks"] == [{"session": "other", "seq": 1}]
    assert main(["log", "other", "--journal", str(journal)]) == 0
    assert "forked from s at event 1\n" in capsys.readouterr().out


def test_a_fork_without_a_name_gets_one_and_says_it_to_a_program(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fork", "s", "--json", "--journal", str(journal)]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["forked_from"] == "s"
    assert made["session"].startswith("s-")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["s", "--as", "s"], NOT_DONE, "there is a session 's' already"),
        (["s", "--at", "9"], NOT_DONE, "has no event 9"),
        (["nobody"], NOT_FOUND, "nobody"),
    ],
)
def test_what_can_not_be_forked_says_why(
    journal: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    assert main(["fork", *arguments, "--journal", str(journal)]) == code
    assert words in capsys.readouterr().err


def test_a_fork_shows_the_thoughts_of_its_past_also_when_the_other_session_is_gone(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_journal(journal) as opened:
        why = kept_why(opened, "s", "The parser comes first.")
    add(journal, "s", "agent", PlanSet(ItemsPlan("main", (Entry("parse", "high", "pending"),)), why=why))
    assert main(["fork", "s", "--as", "other", "--journal", str(journal)]) == 0
    assert main(["forget", "s", "--yes", "--journal", str(journal)]) == 0
    capsys.readouterr()
    assert main(["log", "other", "--journal", str(journal)]) == 0
    assert "The parser comes first." in capsys.readouterr().out
