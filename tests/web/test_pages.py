"""The pages: what is on them, for people and for programs."""

import re
from pathlib import Path
from time import time

import pytest

from planwire.journal import Stamped, open_journal
from planwire.model.events import (
    APPROVED,
    COMMENT,
    SUGGESTION,
    MessageAdded,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Remarked,
    ReviewAsked,
    SessionOpened,
    TurnEnded,
)
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.step_changes import AddStep, SetStatus
from planwire.readmodel.sessions import Sessions
from planwire.web import app
from tests import deciding
from tests.waiting import until
from tests.web.board import Running, items, markdown, running_board

DAY = 24 * 3_600_000


def test_the_overview_shows_every_session_with_its_progress_and_current_step(board: Running) -> None:
    board.write(
        "s1", SessionOpened("claude 1", "zed", "/work/exporter", "Fix the export"), items("completed", "in_progress")
    )
    page = board.page("/sessions")
    for words in ("Fix the export", "claude 1", "/work/exporter", "step 2", "running", '<progress value="1" max="2"'):
        assert words in page


def test_only_what_is_done_is_all_of_it(board: Running) -> None:
    board.write("s1", items(*199 * ["completed"], "in_progress"))
    page = board.page("/sessions/s1")
    assert '<progress value="199" max="200"' in page
    assert "%" not in page


def test_a_session_needs_a_person_runs_is_idle_stopped_or_done(board: Running) -> None:
    board.write("asks", items("in_progress"), ReviewAsked("main"))
    board.write("runs", items("in_progress"))
    board.write("idle", items("in_progress"), TurnEnded("end_turn"))
    board.write("stopped", items("in_progress"), TurnEnded("cancelled"))
    board.write("done", items("completed"), TurnEnded("end_turn"))
    states = {each["id"]: each["state"] for each in board.json("/sessions.json")["sessions"]}
    assert states == {"asks": "needs_you", "runs": "running", "idle": "idle", "stopped": "stopped", "done": "done"}


def test_an_agent_of_which_nothing_was_heard_for_minutes_is_quiet_and_for_how_long_is_told(board: Running) -> None:
    board.write("old", items("in_progress"), at=int(time() * 1_000) - 20 * 60_000)
    [session] = board.json("/sessions.json")["sessions"]
    assert session["state"] == "idle"
    page = board.page("/sessions/old")
    assert "is-stopped" in page
    assert re.search(r'class="state state-idle">quiet for <time [^>]*data-show="span"[^>]*>20 min</time>', page)


def order(board: Running) -> list[str]:
    return [each["id"] for each in board.json("/sessions.json")["sessions"]]


def test_sessions_stand_in_the_order_of_the_ages_on_the_page_after_those_that_need_a_person(board: Running) -> None:
    now = int(time() * 1_000)
    for name, minutes, event in (
        ("hours", 120, TurnEnded("end_turn")),
        ("review", 600, ReviewAsked("main")),
        ("minutes", 5, TurnEnded("cancelled")),
        ("days", 5_000, TurnEnded("end_turn")),
    ):
        board.write(name, items("in_progress"), event, at=now - minutes * 60_000)
    assert order(board) == ["review", "minutes", "hours", "days"]
    rows = re.findall(r'class="session-row [^"]*row-(\w+)".*?<time [^>]*>([^<]*)</time>', board.page("/sessions"))
    assert rows == [("needs_you", "10 h ago"), ("stopped", "5 min ago"), ("idle", "2 h ago"), ("idle", "3 d ago")]


def test_sessions_that_are_at_work_keep_their_place(board: Running) -> None:
    now = int(time() * 1_000)
    board.write("older", items("in_progress"), at=now - 50_000)
    board.write("newer", items("in_progress"), at=now - 40_000)
    board.write("silent", items("in_progress"), at=now - 90_000)
    assert order(board) == ["newer", "older", "silent"]
    board.write("older", items("in_progress", "pending"), at=now)
    assert order(board) == ["newer", "older", "silent"]
    board.write("silent", items("completed"), at=now)
    assert order(board) == ["newer", "older", "silent"]


def test_only_a_session_that_waits_for_a_review_has_the_colour_of_what_needs_a_person(board: Running) -> None:
    board.write("asks", items("in_progress"), ReviewAsked("main"))
    board.write("stopped", items("in_progress"), TurnEnded("max_tokens"))
    board.write("waits", items("in_progress"), TurnEnded("end_turn"))
    page = board.page("/sessions")
    assert page.count("row-needs_you") == page.count("state-needs_you") == 1
    assert [each["id"] for each in board.json("/sessions.json?state=needs_you")["sessions"]] == ["asks"]
    assert [each["id"] for each in board.json("/sessions.json?state=idle")["sessions"]] == ["waits"]
    assert "stopped: ran out of tokens" in board.page("/sessions/stopped")


def test_ages_have_the_exact_time_beside_them(board: Running) -> None:
    at = int(time() * 1_000) - 5 * 60_000
    board.write("s1", SessionOpened("agent", "client", "/work"), items("pending"), TurnEnded("end_turn"), at=at)
    for address in ("/sessions", "/sessions/s1", "/sessions/s1/history"):
        times = re.findall(r'<time datetime="([^"]+)" title="([^"]+) UTC">([^<]*)</time>', board.page(address))
        assert times
        for stamp, title, words in times:
            assert stamp[:19].replace("T", " ") == title
            assert words == "5 min ago"


def test_a_board_without_sessions_says_how_to_begin_and_offers_nothing_to_filter(board: Running) -> None:
    page = board.page("/sessions")
    assert 'data-copy-text="planwire demo"' in page
    assert 'data-copy-text="planwire relay -- your-agent"' in page
    assert "<input" not in page
    board.open()
    assert "<input" in board.page("/sessions")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=EXPORT", {"s1"}),
        ("q=zed+fix", {"s1"}),
        ("q=zed+site", set()),
        ("q=step+1", {"s2"}),
        ("state=idle", {"s1"}),
        ("q=agent&state=running", {"s2"}),
        ("state=nonsense", {"s1", "s2"}),
    ],
)
def test_sessions_are_found_by_words_and_by_state(board: Running, query: str, found: set[str]) -> None:
    board.write(
        "s1",
        SessionOpened("agent a", "zed", "/work/exporter", "Fix it"),
        items("completed", "pending"),
        TurnEnded("end_turn"),
    )
    board.write("s2", SessionOpened("agent b", "toad", "/work/site", "Paint it"), items("in_progress"))
    assert {each["id"] for each in board.json(f"/sessions.json?{query}")["sessions"]} == found
    page = board.page(f"/sessions?{query}")
    assert {each for each in ("s1", "s2") if f'href="/sessions/{each}"' in page} == found


def test_more_sessions_than_a_page_holds_are_on_further_pages(board: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.web.overview_page.PAGE", 2)
    for number in range(5):
        board.write(f"s{number}", items("completed"), at=1_000 + number)
    rows = [re.findall(r'href="/sessions/(s\d)"', board.page(f"/sessions?page={page}")) for page in (1, 2, 3, 4)]
    assert rows == [["s4", "s3"], ["s2", "s1"], ["s0"], ["s0"]]


def test_a_session_shows_all_its_plans_and_the_why(board: Running) -> None:
    board.open()
    board.write("s1", items("completed", "in_progress", "cancelled", summary="Because it is small.", via="tools"))
    board.write("s1", markdown("# Findings\n\nWhat was found.\n\n- [x] one\n- [ ] two\n", "findings"))
    board.write("s1", PlanChanged("main", "The second one is hard.", (SetStatus("s1", "completed"),)))
    revision = board.journal.last_seq("s1")
    said = Remarked("main", COMMENT, "Go on.", revision), Remarked("main", COMMENT, "Careful.", revision, "s2")
    board.write("s1", PlanReviewed("main", revision, APPROVED), *said, by="ana")
    page = board.page("/sessions/s1")
    for words in (
        "Because it is small.",
        "The second one is hard.",
        "Go on.",
        "Careful.",
        "What was found.",
        "1 cancelled",
        "<b>1</b> / 2",
        "is-cancelled",
        'aria-current="step"',
    ):
        assert words in page, words


def test_what_the_model_thought_when_it_set_a_plan_is_shown_with_it(board: Running) -> None:
    thinking = {"role": "assistant", "content": [{"type": "thinking", "thinking": "Small steps are safer."}]}
    board.write("s1", MessageAdded({"role": "user", "content": "Do it"}), MessageAdded(thinking), items("pending"))
    assert "Small steps are safer." in board.page("/sessions/s1")
    board.write("s1", MessageAdded({"role": "user", "content": "Again"}), items("completed"))
    assert "Small steps are safer." in board.page("/sessions/s1")
    board.write("s1", MessageAdded({"role": "assistant", "content": "One is left."}), items("completed", "pending"))
    page = board.page("/sessions/s1")
    assert "One is left." in page
    assert "Small steps are safer." not in page


def test_suggestions_for_an_agents_own_plan_are_shown_as_suggestions(board: Running) -> None:
    board.write("s1", items("in_progress", "pending"))
    board.write("s1", Remarked("main", SUGGESTION, changes=(AddStep("Write tests"),)), by="ana")
    page = board.page("/sessions/s1")
    assert "Write tests" in page.partition('class="step ghost"')[2].partition("</li>")[0]
    assert "Suggested by ana" in page


def test_stopped_work_looks_stopped_and_not_running(board: Running) -> None:
    board.write("s1", items("completed", "in_progress"), TurnEnded("cancelled"))
    page = board.page("/sessions/s1")
    assert 'data-status="stopped"' in page
    assert 'data-status="current"' not in page
    assert "stopped: cancelled" in page


def test_unknown_words_for_status_and_priority_are_shown_as_they_are(board: Running) -> None:
    board.write("s1", PlanSet(ItemsPlan("main", (Entry("wait", "_urgent", "_blocked"),))))
    page = board.page("/sessions/s1")
    assert "_blocked" in page
    assert "_urgent" in page


def test_a_plan_that_was_dismissed_is_gone_but_can_still_be_read(board: Running) -> None:
    board.write("s1", items("completed"), PlanRemoved("main"))
    page = board.page("/sessions/s1")
    assert "No plans left" in page
    assert "Dismissed plans (1)" in page
    assert "step 1" in board.page("/sessions/s1/plans/main")


def test_a_long_plan_is_shown_around_its_current_step_and_whole_on_its_own_page(board: Running) -> None:
    board.write("s1", items(*["completed"] * 900, "in_progress", *["pending"] * 1_099))
    page = board.page("/sessions/s1")
    assert "step 901" in page
    assert page.count("data-step=") < 60
    assert "892 more above, all done" in page
    assert "more below" in page
    [address] = set(re.findall(r'href="(/sessions/s1/plans/main#p0-s\d+)">892', page))
    assert board.page(address).count("data-step=") == 2_000


def test_a_plan_is_exported_as_markdown_that_says_the_same(board: Running) -> None:
    board.write("s1", items("completed", "in_progress", "cancelled", "pending"))
    answer = board.get("/sessions/s1/plans/main.md")
    assert answer.headers["content-type"].startswith("text/markdown")
    assert answer.text == "# ◈ Plan\n\n- [x] step 1\n- [~] step 2\n- [-] step 3\n- [ ] step 4\n"


def test_a_text_is_exported_as_it_is(board: Running) -> None:
    board.write("s1", markdown("# Title\n\n* [ ] as   it is\n"))
    assert board.get("/sessions/s1/plans/text.md").text == "# Title\n\n* [ ] as   it is\n"


def test_programs_get_json_by_the_ending_or_by_asking_for_it(board: Running) -> None:
    board.write("s1", items("completed", "in_progress"))
    by_ending = board.json("/sessions/s1.json")
    by_header = board.get("/sessions/s1", headers={"Accept": "application/json"}).json()
    assert by_ending == by_header
    [plan] = by_ending["plans"]
    assert plan["progress"] == {"done": 1, "total": 2, "cancelled": 0}
    assert plan["current"] == ["s2"]
    assert [step["content"] for step in plan["steps"]] == ["step 1", "step 2"]
    assert board.json("/sessions/s1/plans/main.json") == plan


def test_a_browser_gets_a_page_although_it_takes_anything(board: Running) -> None:
    board.open()
    answer = board.get("/sessions/s1", headers={"Accept": "text/html,application/json;q=0.9,*/*;q=0.8"})
    assert answer.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    "address", ["/nothing", "/sessions/nobody", "/sessions/s1/plans/none", "/sessions/~%21", "/static/no.css"]
)
def test_what_is_not_there_is_said_so(board: Running, address: str) -> None:
    board.open()
    answer = board.get(address)
    assert answer.status_code == 404
    assert "<h1>Not found</h1>" in answer.text
    assert 'href="/sessions" class="action">All sessions</a>' in answer.text
    assert board.get(address, headers={"Accept": "application/json"}).status_code == 404


def test_a_session_that_is_forgotten_leaves_the_board(board: Running) -> None:
    board.write("s1", items("pending"))
    assert "s1" in board.page("/sessions")
    board.journal.forget("s1")
    assert board.get("/sessions/s1").status_code == 404
    until(lambda: 'href="/sessions/s1"' not in board.page("/sessions"))


def test_a_session_that_began_anew_after_it_was_forgotten_is_the_new_one(board: Running) -> None:
    board.write("s1", items("pending", "pending"))
    board.journal.forget("s1")
    board.write("s1", items("completed"))
    assert board.json("/sessions/s1.json")["progress"]["total"] == 1


def test_sessions_that_were_there_before_the_board_are_read(tmp_path: Path) -> None:
    with running_board(str(tmp_path / "j.db")) as board:
        board.write("before", items("completed", "pending"))
    with running_board(str(tmp_path / "j.db")) as board:
        [session] = board.json("/sessions.json")["sessions"]
        assert (session["id"], session["progress"]) == ("before", {"done": 1, "total": 2, "cancelled": 0})


def test_a_program_that_asks_a_board_as_soon_as_it_is_up_hears_of_all_sessions(tmp_path: Path) -> None:
    with open_journal(tmp_path / "j.db") as journal:
        for number in range(200):
            deciding.write(journal, f"s{number}", Stamped(1, "agent", items("pending")))
    with running_board(str(tmp_path / "j.db")) as board:
        answer = board.json("/sessions.json")
    assert (len(answer["sessions"]), answer["loading"]) == (200, False)


def test_a_program_does_not_wait_for_ever_for_a_board_that_reads_and_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "LOADING", 0.01)
    monkeypatch.setattr(Sessions, "loading", property(lambda _: True, lambda *_: None), raising=False)
    with running_board(str(tmp_path / "j.db")) as board:
        board.write("there", items("pending"))
        answer = board.json("/sessions.json")
    assert ([each["id"] for each in answer["sessions"]], answer["loading"]) == (["there"], True)


def test_what_another_process_writes_is_seen_too(tmp_path: Path) -> None:
    with running_board(str(tmp_path / "j.db")) as board, running_board(str(tmp_path / "j.db")) as other:
        other.write("s1", items("completed"))
        until(lambda: [each["progress"]["done"] for each in board.json("/sessions.json")["sessions"]] == [1])
