"""One journal, asked through every face: the same states, counts, names and order."""

import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it comes without types

from planwire.cli import main
from planwire.journal import open_journal
from planwire.mcp.resources import JSON, MARKDOWN, plan_text
from planwire.readmodel.as_json import json_schema
from planwire.readmodel.as_markdown import plan_markdown
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.overview import NEEDS_YOU, RUNNING, STATES
from planwire.readmodel.plain_text import one_line, printable
from planwire.readmodel.sessions import load_session
from planwire.terminal.lines_view import RowList
from planwire.terminal.overview_screen import OverviewScreen, StateBar
from planwire.terminal.watch_app import WatchApp
from planwire.web.addresses import encode_id
from tests.faces.odd_sessions import odd_journal
from tests.waiting import eventually
from tests.web.board import Running, running_board

#: Facts about a session that no face may see otherwise.
FACTS = ("id", "title", "state", "stop_reason", "asked", "progress", "current", "plan_count")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("odd")


@pytest.fixture(scope="module")
def journal(folder: Path) -> Path:
    return odd_journal(folder)


def printed(journal: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--json", "--journal", str(journal)]) == 0
    return json.loads(capsys.readouterr().out)


def facts(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: each[name] for name in FACTS} for each in sessions]


def names(text: str) -> list[str]:
    return re.findall(r'<a href="/sessions/([^"/]+)" class="session-link"', text)


@pytest.fixture
def board(journal: Path) -> Any:
    with running_board(str(journal)) as running:
        yield running


@pytest.mark.usefixtures("prompt_pilot")
def test_states_counts_and_order_are_the_same_on_every_face(
    journal: Path, board: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = printed(journal, capsys, "sessions")["sessions"]
    assert len(sessions) >= 30
    asked = {each["id"] for each in sessions if each["asked"]}
    assert {"asked-with-options", "answered-here", "disputed"} <= asked
    assert not {"answered-and-told", "overtaken", "approved"} & asked
    in_order = [each["id"] for each in sessions]
    page = board.json("/sessions.json")["sessions"]
    assert facts(page) == facts(sessions)
    on_page = names(board.page("/sessions"))
    first = sum(each["state"] in (NEEDS_YOU, RUNNING) for each in sessions)
    assert on_page[:first] == in_order[:first]
    assert sorted(on_page) == sorted(in_order)
    for folder in {each["cwd"] for each in sessions}:  # the page has the rest of them by day and folder
        here = {each["id"] for each in sessions if each["cwd"] == folder}
        assert [each for each in on_page if each in here] == [each for each in in_order if each in here]

    expected = Counter(each["state"] for each in sessions)
    for state in STATES:
        assert len(board.json(f"/sessions.json?state={state}")["sessions"]) == expected[state]

    async def in_terminal() -> tuple[list[object], dict[str, int]]:
        with open_journal(journal) as opened:
            app = WatchApp(opened)
            async with app.run_test(size=(120, 40)):
                await eventually(lambda: isinstance(app.screen, OverviewScreen) and not app.sessions.loading)
                rows, bar = app.screen.query_one(RowList), app.screen.query_one(StateBar)
                await eventually(lambda: bar.counts.get("") == len(sessions))
                return list(dict.fromkeys(line.row[1] for line in rows.lines if line.row)), dict(bar.counts)

    rows, counts = asyncio.run(in_terminal())
    assert rows == in_order
    assert counts == {"": len(sessions), **{state: expected[state] for state in STATES}}


def test_plans_have_the_same_names_steps_and_order_on_every_face(
    journal: Path, board: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    valid = Draft202012Validator(json_schema()).iter_errors
    plan_schema = {**json_schema(), "$ref": "#/$defs/PlanValue"}
    with open_journal(journal) as opened:
        for known in opened.sessions():
            shown = load_session(opened, known, FilePlans())
            by_command = printed(journal, capsys, "show", known.id)
            on_board = board.json(f"/sessions/{known.id}.json")
            assert by_command == on_board
            assert list(valid(on_board)) == []
            live = [each for each in on_board["plans"] if not each["removed"]]
            assert [card.title for card in shown.cards()] == [each["title"] for each in live]
            for card, plan in zip(shown.cards(), live, strict=True):
                resource = json.loads(plan_text(card, JSON))
                assert resource == plan
                assert list(Draft202012Validator(plan_schema).iter_errors(resource)) == []
                assert plan_text(card, MARKDOWN) == plan_markdown(card, remarks=False), "a model gets the plan alone"
                assert board.page(f"/sessions/{known.id}/plans/{encode_id(card.id)}.md") == plan_markdown(card)
            assert main(["show", known.id, "--journal", str(journal)]) == 0
            text = capsys.readouterr().out
            heads = [line.lstrip("│╭─ ") for line in text.splitlines() if line.lstrip("│ ").startswith("╭")]
            boxed = [one_line(card.title)[:20] for card in shown.cards() if not card.is_folded]
            assert all(head.startswith(title) for head, title in zip(heads, boxed, strict=True))
            assert all(f"{card.title}: {card.progress}" in text for card in shown.cards() if card.is_folded)
            assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}", text)
            html = board.page(f"/sessions/{known.id}")
            titles = re.findall(r'<h2 id="p\d+-name">(.*?)</h2>', html)
            assert [re.sub(r"<[^>]+>", "", each) for each in titles] == [_escaped(each["title"]) for each in live]


def test_the_past_has_the_names_and_the_counts_of_the_present(
    journal: Path, board: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_journal(journal) as opened:
        sessions = opened.sessions()
    for known in sessions:
        now = printed(journal, capsys, "show", known.id)
        then = board.json(f"/sessions/{known.id}/history.json")["then"]
        assert printed(journal, capsys, "show", known.id, f"--at={known.last_seq}")["plans"] == now["plans"]
        assert then["plans"] == now["plans"]
        assert then["progress"] == now["progress"]
        titles = {plan["id"]: plan["title"] for plan in now["plans"]}
        assert main(["log", known.id, "--json", "--journal", str(journal)]) == 0
        moments = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert moments == board.json(f"/sessions/{known.id}/history.json")["moments"]
        assert [each["plan"] for each in moments[-1:] if each["plan"]] == [
            titles[each["plan_id"]] for each in moments[-1:] if each["plan"]
        ]
        assert main(["diff", "--session", known.id, "0", "now", "--journal", str(journal)]) == 0
        text = capsys.readouterr().out
        page = board.page(f"/sessions/{known.id}/compare?from=1")
        for plan in now["plans"]:
            if not plan["removed"]:
                assert f"  {one_line(plan['title'])} new" in text
                assert plan["created_at"] == known.first_at or _escaped(plan["title"]) in page
        pages = [page, text, *(board.page(f"/sessions/{known.id}{end}") for end in ("", "/history"))]
        assert all(printable(each) == each for each in pages)


def test_a_v1_client_gets_the_steps_and_the_names_that_people_see(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_journal(journal) as opened:
        sessions = opened.sessions()
    for known in sessions:
        plans = [each for each in printed(journal, capsys, "show", known.id)["plans"] if each["steps"]]
        live = [plan for plan in plans if not plan["removed"]]
        assert main(["export", known.id, "--format=acp", "--journal", str(journal)]) == 0
        updates = [json.loads(line)["params"]["update"] for line in capsys.readouterr().out.splitlines()]
        entries = [each["content"] for update in updates for each in update.get("entries", ())]
        by_id = {plan["id"]: plan for plan in live}
        names: Counter[str] = Counter()
        for plan in live:
            top = plan
            while top["parent"]:
                top = by_id[top["parent"]["plan_id"]]
            is_over = top is not plan and plan["progress"]["done"] == plan["progress"]["total"]
            names[top["title"]] += 0 if is_over else len(plan["steps"])
            assert is_over or all(
                " › ".join([*_path(plan), each["content"]]) in "\n".join(entries) for each in plan["steps"]
            )
        if len(names) > 1:
            assert Counter(entry.partition(": ")[0] for entry in entries) == names
        elif names:
            assert len(entries) == names.total()


def _path(plan: dict[str, Any]) -> list[str]:
    return plan["parent"]["path"] if plan["parent"] else []


def _escaped(text: str) -> str:
    return printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def test_a_hole_in_the_journal_is_told_on_every_face(
    journal: Path, board: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    """The model hears nothing of it: it knows what it sent."""
    sentence = "288 changes were not recorded: they came faster than they could be recorded"
    for plan in ((), ("--plan", "main")):
        assert main(["log", "flooded", *plan, "--json", "--journal", str(journal)]) == 0
        moments = [json.loads(each) for each in capsys.readouterr().out.splitlines()]
        [gap] = [each for each in moments if each["event"] == "gap"]
        assert gap["words"] == [{"kind": "gap", "text": sentence}]
    assert gap in board.json("/sessions/flooded/history.json")["moments"]
    assert sentence in board.page("/sessions/flooded/history")
    assert main(["log", "flooded", "--journal", str(journal)]) == 0
    assert f"∅ {sentence}" in capsys.readouterr().out
    assert main(["export", "flooded", "--format", "json", "--journal", str(journal)]) == 0
    assert '{"event":"gap","count":288,' in capsys.readouterr().out
