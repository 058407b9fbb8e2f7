"""The MCP server's choice of a session while the journal's server is away."""

from pathlib import Path

import pytest

from planwire import BlockingPlanSession
from planwire.journal import open_journal
from planwire.mcp.bound_session import find_session
from planwire.mcp.unfinished import Unfinished
from planwire.model.events import SessionOpened
from planwire.session.origin import placed
from tests.servers.own import ENGINES_WITH_SERVERS, own_server


@pytest.mark.parametrize("engine", ENGINES_WITH_SERVERS)
def test_the_work_that_a_folder_had_before_the_server_went_away_is_found_and_offered(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with own_server(engine) as server:
        with open_journal(server.url) as journal:
            plans = BlockingPlanSession(journal, "before", about=placed(SessionOpened("a", None, str(tmp_path))))
            plans.call("set_plan", {"entries": ["Read", "Write"]})
        server.network.cut(refuse=True)
        with open_journal(server.url) as journal:
            assert Unfinished(journal, tmp_path / "elsewhere").offer("own") == {}
            offered = Unfinished(journal, tmp_path).offer("own")
            assert [each["session"] for each in offered["unfinished"]] == ["before"]
            assert "is not known now" in offered["hint"]
            assert Unfinished(journal, tmp_path).check("before") == "before"
        with open_journal(server.url) as journal:
            assert find_session(journal, tmp_path) == "before"
            assert find_session(journal, tmp_path / "elsewhere") not in ("before", "")
            plan = BlockingPlanSession(journal, "before").call("get_plan")["plan"]
            assert plan["progress"] == "0 of 2 done"


@pytest.mark.parametrize("engine", ENGINES_WITH_SERVERS)
def test_nothing_is_offered_where_no_session_was_seen_before_the_server_went_away(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with own_server(engine) as server:
        server.network.cut(refuse=True)
        with open_journal(server.url) as journal:
            assert Unfinished(journal, tmp_path).offer("own") == {}
            assert find_session(journal, tmp_path) == find_session(journal, tmp_path)
