"""A plan that a person is asked about: what the board shows of the question, and of the answer."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from planwire.journal import Journal, load_state, state_at
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    COMMENTED,
    DISMISSED,
    Choice,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    ReviewAsked,
    SessionOpened,
    TurnEnded,
)
from planwire.model.plan import FilePlan, MarkdownPlan
from planwire.model.records import SessionState
from planwire.model.step_changes import RewordStep, SetStatus
from planwire.readmodel import rationale
from planwire.readmodel.cards import card_of
from planwire.readmodel.rationale import Earlier
from planwire.web.difference import difference_view
from tests.web.board import Running, items, markdown, running_board

NAMES = ("Yes, manually approve edits", "Yes, and use auto mode", "No, keep planning")
OPTIONS = tuple(Choice("", name) for name in NAMES)
ASKS = "The agent asks for approval"
WAITS = "The agent is waiting for a review"


def proposal(*lines: str, plan_id: str = "plan-mode") -> PlanSet:
    return PlanSet(MarkdownPlan(plan_id, "\n".join(("# Port the parser", "", *lines))), via=ACP)


def section(page: str) -> str:
    """What is said of the question; nothing if there is none."""
    found = re.search(r'<section id="p\d+-asked".*?</section>', page, re.DOTALL)
    return found[0] if found else ""


def rows(page: str) -> list[tuple[str, ...]]:
    """The tables that show a difference: how each row changed, and its cells."""
    found = re.findall(r'<tr class="([a-z-]+)"[^>]*>(.*?)</tr>', section(page), re.DOTALL)
    return [(kind, *(_text(cell) for cell in re.findall(r"<td.*?</td>", cells, re.DOTALL))) for kind, cells in found]


def replies(page: str) -> list[tuple[str, dict[str, str]]]:
    """The answers that people can give on the page, and the act of each."""
    found = re.findall(r'<button type="button" data-send="([^"]*)"[^>]*>(?:<span>)?([^<]*)<', page)
    return [(name, json.loads(unescape(act))) for act, name in found]


def _text(html: str) -> str:
    return re.sub(r"<[^>]*>", "", html)


def test_a_question_is_shown_with_its_answers_and_the_whole_text(board: Running) -> None:
    board.write("s1", SessionOpened("claude 1", "Zed 0.210.1", "/work", "Port it"))
    board.write("s1", proposal("Some *prose*.", "1. Read", "2. Write"), ReviewAsked("plan-mode", OPTIONS))
    page = board.page("/sessions/s1")
    asked = section(page)
    assert f"{ASKS} in Zed" in asked
    assert re.findall(r"<li[^>]*>([^<]*)</li>", asked) == list(NAMES)
    assert "It can only be answered in Zed:" in asked
    assert "This is the first version." in asked
    assert not re.search(r"<(button|input|a) ", asked), "it is answered elsewhere"
    assert page.index(asked) < page.index("<em>prose</em>"), "the question comes before the text"
    assert ">needs you<" in page
    assert ">needs you<" in board.page("/sessions")
    [session] = board.json("/sessions.json")["sessions"]
    assert (session["state"], session["asked"]) == ("needs_you", True)
    assert section(board.page("/sessions/s1/plans/plan-mode")) == asked


def test_an_editor_without_a_name_asks_too(board: Running) -> None:
    board.write("s1", proposal("1. Read"), ReviewAsked("plan-mode", OPTIONS))
    assert f"{ASKS} in the editor" in section(board.page("/sessions/s1"))


def test_an_agent_that_waits_for_a_review_gets_it_here(board: Running) -> None:
    board.write("s1", items("pending", via="tools"), ReviewAsked("main"))
    page = board.page("/sessions/s1")
    assert WAITS in section(page)
    assert replies(page) == [
        ("Approve", {"act": "review", "verdict": APPROVED}),
        ("Request changes", {"act": "review", "verdict": CHANGES_REQUESTED}),
    ]
    board.write("s1", PlanReviewed("main", 1, COMMENTED), by="user")
    assert WAITS in section(board.page("/sessions/s1"))
    board.write("s1", PlanReviewed("main", 1, APPROVED), by="user")
    assert section(board.page("/sessions/s1")) == ""


def test_what_has_changed_since_the_last_version_is_shown_line_by_line(board: Running) -> None:
    same = [f"{number}. Look at file {number}" for number in range(1, 31)]
    board.write("s1", proposal(*same, "31. Write"), ReviewAsked("plan-mode", OPTIONS))
    board.write("s1", PlanReviewed("plan-mode", 1, CHANGES_REQUESTED, answer=NAMES[2]), by="client")
    board.write("s1", proposal(*same, "31. Write small steps", "32. Test"), ReviewAsked("plan-mode", OPTIONS))
    page = board.page("/sessions/s1")
    assert "What changed since version 1" in section(page)
    assert rows(page) == [
        ("left-out", "30 unchanged lines"),
        ("pair-same", "29. Look at file 29", "29. Look at file 29"),
        ("pair-same", "30. Look at file 30", "30. Look at file 30"),
        ("pair-changed", "31. Write", "31. Write small steps"),
        ("pair-changed", "none", "32. Test"),
    ]
    for line in same:
        assert f">{line.partition('. ')[2]}<" in page, "the whole text is there all the same"


def test_what_has_changed_in_a_list_is_shown_step_by_step(board: Running) -> None:
    board.write("s1", items("completed", "pending", "pending"), items("completed", "completed"), ReviewAsked("main"))
    kinds = [row[0] for row in rows(board.page("/sessions/s1"))]
    assert kinds == ["pair-same", "pair-changed", "pair-removed"]


def test_changes_after_a_verdict_are_shown_where_no_version_came_in_between(board: Running) -> None:
    """As an agent does it that was asked for changes, and changes its plan with `update_plan`."""
    board.write("s1", items("pending", "pending", via="tools"), ReviewAsked("main"))
    board.write("s1", PlanReviewed("main", 1, CHANGES_REQUESTED), by="user")
    board.write("s1", PlanChanged("main", None, (RewordStep("s2", "smaller"),)), ReviewAsked("main"))
    page = board.page("/sessions/s1")
    assert "What changed since the last review" in section(page)
    assert rows(page)[-1] == ("pair-changed", "step 2", "smaller")


def test_the_version_before_is_compared_as_it_stood_when_it_was_replaced(board: Running) -> None:
    board.write("s1", items("pending", "pending", via="tools"))
    board.write("s1", PlanChanged("main", None, (SetStatus("s1", "completed"),)))
    board.write("s1", items("completed", "in_progress", via="tools"), ReviewAsked("main"))
    assert [row[0] for row in rows(board.page("/sessions/s1"))] == ["pair-same", "pair-changed"]


def test_a_plan_that_was_dismissed_in_between_is_compared_with_nothing(board: Running) -> None:
    board.write("s1", proposal("1. Read"), PlanRemoved("plan-mode"))
    board.write("s1", proposal("1. Write"), ReviewAsked("plan-mode", OPTIONS))
    assert "The version before was dismissed." in section(board.page("/sessions/s1"))


def test_the_text_of_a_file_is_not_compared_with_its_address(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("# In a file\n\n- [ ] read\n")
    uri = (tmp_path / "plan.md").as_uri()
    with running_board(folders=[str(tmp_path)]) as board:
        board.write("s1", SessionOpened("agent", cwd=str(tmp_path)), PlanSet(FilePlan("f", uri + "?old"), via=ACP))
        board.write("s1", PlanSet(FilePlan("f", uri), via=ACP), ReviewAsked("f", OPTIONS))
        page = board.page("/sessions/s1")
        assert ASKS in section(page)
        assert "In a file" in page
        assert rows(page) == []


@pytest.mark.parametrize(
    ("verdict", "answer", "words"),
    [
        (APPROVED, NAMES[0], f"approved: {NAMES[0]}"),
        (CHANGES_REQUESTED, NAMES[2], f"changes requested: {NAMES[2]}"),
        (DISMISSED, None, "dismissed (revision 1)"),
    ],
)
def test_the_answer_is_shown_with_who_gave_it_and_when(
    board: Running, verdict: str, answer: str | None, words: str
) -> None:
    board.write("s1", proposal("1. Read"), ReviewAsked("plan-mode", OPTIONS))
    assert ASKS in board.page("/sessions/s1")
    board.write("s1", PlanReviewed("plan-mode", 1, verdict, answer=answer), by="client", at=1_700_000_000_000)
    page = board.page("/sessions/s1")
    assert section(page) == ""
    assert words in page
    assert re.search(r'— client <time [^>]*title="2023-11-14 22:13:20 UTC">\d+ d ago<', page)
    assert ">needs you<" not in page


def test_a_question_that_nobody_answered_is_gone_when_the_turn_ends(board: Running) -> None:
    board.write("s1", proposal("1. Read"), ReviewAsked("plan-mode", OPTIONS))
    board.write("s1", TurnEnded("cancelled"))
    page = board.page("/sessions/s1")
    assert section(page) == ""
    assert "stopped: cancelled" in page


def test_a_long_plan_is_whole_while_it_is_asked_about(board: Running) -> None:
    board.write("s1", items(*["pending"] * 200))
    assert "more below" in board.page("/sessions/s1")
    board.write("s1", ReviewAsked("main"))
    page = board.page("/sessions/s1")
    assert "more below" not in page
    assert page.count('data-step="') == 200
    board.write("s1", PlanReviewed("main", 1, APPROVED), by="user")
    assert "more below" in board.page("/sessions/s1")


def test_a_long_text_is_whole_while_it_is_asked_about(board: Running) -> None:
    board.write(
        "s1", markdown("# Tasks\n\nWords before.\n\n" + "\n".join(f"- [ ] task {number}" for number in range(100)))
    )
    assert "Words before." not in board.page("/sessions/s1")
    board.write("s1", ReviewAsked("text", OPTIONS))
    page = board.page("/sessions/s1")
    assert "Words before." in page
    assert "task 99" in page


def test_what_is_asked_about_comes_before_everything_else(board: Running) -> None:
    board.write("s1", items("in_progress"), proposal("1. Read"))
    order = re.compile(r'<article id="(p\d)"')
    assert order.findall(board.page("/sessions/s1")) == ["p0", "p1"]
    board.write("s1", ReviewAsked("plan-mode", OPTIONS))
    assert order.findall(board.page("/sessions/s1")) == ["p1", "p0"]


def test_sessions_that_wait_for_a_review_come_first(board: Running) -> None:
    board.write("asks", items("pending"), ReviewAsked("main"))
    board.write("works", items("in_progress"))
    assert [each["id"] for each in board.json("/sessions.json")["sessions"]] == ["asks", "works"]
    board.write("asks", PlanReviewed("main", 1, APPROVED), by="user")
    assert [each["id"] for each in board.json("/sessions.json")["sessions"]] == ["works", "asks"]


def test_the_past_asks_nobody(board: Running) -> None:
    board.write("s1", proposal("1. Read"), ReviewAsked("plan-mode", OPTIONS))
    page = board.page("/sessions/s1/history")
    assert ASKS not in page
    assert f"asked for a review: {' / '.join(NAMES)}" in page


def test_hostile_words_stay_words(board: Running) -> None:
    evil = "<img src=x onerror=alert(1)>\u202e"
    board.write("s1", SessionOpened("a", f"{evil} 1", "/"), proposal(evil))
    board.write("s1", proposal(evil, evil), ReviewAsked("plan-mode", (Choice("", evil), Choice("", ""))))
    page = board.page("/sessions/s1")
    assert "<img" not in page
    assert "\u202e" not in page
    assert section(page).count("&lt;img src=x") >= 3


def test_the_past_is_looked_up_once_for_a_question(board: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    lookups: list[int] = []

    def look(journal: Journal, session: str, seq: int) -> SessionState:
        lookups.append(seq)
        return state_at(journal, session, seq)

    monkeypatch.setattr(rationale, "state_at", look)
    board.write("s1", proposal("1. Read"), items("pending"))
    board.page("/sessions/s1")
    board.write("s1", proposal("1. Write"))
    board.page("/sessions/s1")
    assert lookups == []
    board.write("s1", ReviewAsked("plan-mode", OPTIONS))
    for status in ("in_progress", "completed"):
        board.write("s1", items(status))
        assert rows(board.page("/sessions/s1"))
        assert rows(board.page("/sessions/s1/plans/plan-mode"))
    assert lookups == [2]


def test_a_session_that_was_forgotten_and_began_anew_is_not_compared_with_its_past(board: Running) -> None:
    known = Earlier(board.journal)
    for content in ("old", "new"):
        board.write("s1", proposal(content), at=1 if content == "old" else 2)
        board.write("s1", proposal(f"{content}er"), ReviewAsked("plan-mode"))
        before = known.of(load_state(board.journal, "s1"))["plan-mode"].state.plan
        assert before == MarkdownPlan("plan-mode", f"# Port the parser\n\n{content}")
        board.journal.forget("s1")


# -- the difference itself


def test_lines_that_repeat_a_thousand_times_are_compared_in_a_moment(board: Running) -> None:
    """Line by line, with nothing else to go by, this would take minutes."""
    board.write("s1", proposal(*["x"] * 1_900), proposal(*["x", "y"] * 950))
    before, after = (card_of(state_at(board.journal, "s1", seq).plans["plan-mode"], "Plan") for seq in (1, 2))
    shown = difference_view(before, after, 1)
    assert shown.count("pair-changed") == 950
    assert difference_view(after, after).count("Nothing changed.") == 1
    assert "not there" in difference_view(None, after)
    assert "not there" in difference_view(None, None)
