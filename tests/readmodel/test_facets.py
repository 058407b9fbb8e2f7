"""What tells the sessions of a team apart, as lists show, filter and group it."""

import json
from pathlib import Path

import pytest

from planwire.cli import main
from planwire.journal import Stamped, open_journal
from planwire.model.events import Event, PlanSet, SessionOpened, TurnEnded
from planwire.readmodel.facets import FACETS, grouped, values_of, varied
from planwire.readmodel.folders import is_session_of_folder, latest_of_folder, unfinished_in_folder
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.inbox import inbox
from planwire.readmodel.overview import Overview, is_found, where_words
from planwire.readmodel.sessions import load_session
from planwire.session.origin import this_host
from tests import deciding
from tests.journals import HOSTILE, items

HOSTS = {"a": "devbox", "b": "laptop", "c": "devbox", "old": None}


def team(path: Path, folder: str = "/work") -> Path:
    """Sessions of two machines and users, and one from before sessions said where they run."""
    with open_journal(path) as journal:
        for at, (name, host) in enumerate(HOSTS.items(), start=1):
            user = {"devbox": "ann", "laptop": "bo"}.get(host or "")
            repository = "github.com/acme/tool" if host else None
            about = SessionOpened("agent", None, folder, f"Session {name}", host=host, user=user, repository=repository)
            events: list[Event] = [about, PlanSet(items("main", "in_progress", "pending")), TurnEnded("end_turn")]
            deciding.write(journal, name, *(Stamped(at, "agent", event) for event in events))
    return path


def glances(path: Path) -> list[Overview]:
    with open_journal(path) as journal:
        return [load_session(journal, each, FilePlans()).glance for each in journal.sessions()]


def printed(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["sessions", *words, "--journal", str(path)]) == 0
    return capsys.readouterr().out


def test_only_what_differs_is_shown_and_what_nobody_knows_is_no_difference(tmp_path: Path) -> None:
    known = glances(team(tmp_path / "j.db"))
    assert varied(known) == ("host", "user")
    assert varied(each for each in known if each.host != "laptop") == ()
    assert values_of(known, "host") == {"devbox": 2, "laptop": 1}


def test_groups_have_those_without_a_value_last(tmp_path: Path) -> None:
    known = glances(team(tmp_path / "j.db"))
    groups = grouped(sorted(known, key=lambda each: each.id == "a"), "host")
    assert {group.name: {each.id for each in group.sessions} for group in groups} == {
        "laptop": {"b"},
        "devbox": {"a", "c"},
        "": {"old"},
    }
    assert groups[-1].name == ""
    assert [each.name for each in inbox(known, 1, "host").groups][-1] == ""
    assert inbox(known, 1, "host").days == ()


def test_sessions_are_found_by_where_they_run(tmp_path: Path) -> None:
    [one] = [each for each in glances(team(tmp_path / "j.db")) if each.id == "b"]
    assert is_found(one, "bo laptop acme/tool")
    assert where_words(one) == ["github.com/acme/tool", "bo@laptop"]


def test_a_list_of_one_machine_looks_as_it_did_and_one_of_a_team_has_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = team(tmp_path / "j.db")
    head = printed(path, capsys).splitlines()[0].split()
    assert head[4:8] == ["AGENT", "HOST", "USER", "FOLDER"]
    head = printed(path, capsys, "--host", "devbox").splitlines()[0].split()
    assert head[4:7] == ["AGENT", "USER", "FOLDER"]
    with open_journal(path) as journal:
        journal.forget("b")
    assert printed(path, capsys).splitlines()[0].split()[4:6] == ["AGENT", "FOLDER"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--host", "devbox"), {"a", "c"}),
        (("--user", "bo"), {"b"}),
        (("--repository", "github.com/acme/tool"), {"a", "b", "c"}),
        (("--host", "devbox", "--user", "bo"), set()),
        ((), {"a", "b", "c", "old"}),
    ],
)
def test_the_list_is_filtered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], found: set[str]
) -> None:
    sessions = json.loads(printed(team(tmp_path / "j.db"), capsys, *words, "--json"))["sessions"]
    assert {each["id"] for each in sessions} == found
    assert all({*FACETS} <= each.keys() and each["host"] == HOSTS[each["id"]] for each in sessions)


def test_ids_are_filtered_and_a_filter_that_nothing_passes_is_said_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = team(tmp_path / "journal.db")
    host = next(each.host for each in glances(path) if each.host)
    wanted = {each.id for each in glances(path) if each.host == host}
    assert set(printed(path, capsys, "--ids", "--host", host).split()) == wanted < {each.id for each in glances(path)}
    assert printed(path, capsys, "--host", "nowhere").startswith("No sessions match: ")


def test_the_list_is_grouped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = team(tmp_path / "j.db")
    lines = printed(path, capsys, "--group-by", "host").splitlines()
    assert [each for each in lines if each in ("devbox", "laptop", "No host")] == ["devbox", "laptop", "No host"]
    assert "HOST" not in lines[1]
    ids = [each["id"] for each in json.loads(printed(path, capsys, "--group-by", "host", "--json"))["sessions"]]
    assert ids == ["c", "a", "b", "old"]


def test_names_of_others_are_printable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = team(tmp_path / "j.db")
    with open_journal(path) as journal:
        about = SessionOpened("agent", None, "/work", host=HOSTILE, user=HOSTILE, repository=HOSTILE)
        journal.append("h", [Stamped(9, "agent", about)])
    for words in ((), ("--group-by", "host"), ("--group-by", "repository"), ("--json",)):
        assert not {"\x1b", "\x9b", "\u202e"} & {*printed(path, capsys, *words)}
    assert main(["show", "h", "--journal", str(path)]) == 0
    assert not {"\x1b", "\x9b", "\u202e"} & {*capsys.readouterr().out}


def test_a_folder_is_one_of_this_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = team(tmp_path / "j.db", str(tmp_path))
    with open_journal(path) as journal:
        found = latest_of_folder(journal, str(tmp_path))
        assert found is not None
        assert found.id == "old"
        assert [each.id for each in unfinished_in_folder(journal, str(tmp_path), 9)] == ["old"]
        assert not is_session_of_folder(journal, "a", str(tmp_path))
        journal.append("here", [Stamped(0, "a", SessionOpened(cwd=str(tmp_path), host=this_host()))])
        journal.forget("old")
        found = latest_of_folder(journal, str(tmp_path))
        assert found is not None
        assert found.id == "here"
        journal.forget("here")
        assert latest_of_folder(journal, str(tmp_path)) is None
    assert main(["show", "--journal", str(path)]) == 0  # a look may be at another machine's, if there is none here
    assert "Session c" in capsys.readouterr().out
    assert main(["approve", "--as", "ann", "--yes", "--journal", str(path)]) != 0
    assert "no session was run in" in capsys.readouterr().err
    assert json.loads(printed(path, capsys, "--here", "--json"))["sessions"] == []
