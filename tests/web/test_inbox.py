"""The overview as an inbox: what needs a person, with the answers; what runs; the rest by day and folder."""

import re
from time import time

from planwire.journal import Terms
from planwire.model.events import PlanReviewed, ReviewAsked, SessionOpened, TurnEnded
from planwire.web import session_rows
from tests.web.board import Running, items
from tests.web.test_answers import ASKED, NO, OPENED
from tests.web.test_asked import proposal, replies
from tests.web.test_live import watching

HOUR = 3_600_000


def opened(folder: str) -> SessionOpened:
    return SessionOpened("agent", "client", folder, "A title")


def test_a_question_stands_first_with_what_changed_and_its_answers(board: Running) -> None:
    board.write("works", items("completed", "in_progress"))
    board.write("asks", OPENED, proposal("1. Read", "2. Write"), ReviewAsked("plan-mode", (NO,), "q0"))
    board.write("asks", PlanReviewed("plan-mode", 2, "changes_requested", answer=NO.name), by="client")
    lease = board.journal.lease("asks", Terms("relay", True, ("answer",)))
    board.write("asks", proposal("1. Read", "2. Write slowly"), ASKED)
    page = board.page("/sessions")
    assert re.findall(r'<h2 id="(\w+)-name">([^<]*) <small>(\d)<', page) == [
        ("needs", "Needs you", "1"),
        ("runs", "Running", "1"),
    ]
    needs = page[page.index('id="needs"') : page.index('id="runs"')]
    assert "What changed since version 1" in needs
    assert re.findall(r'<tr class="pair-(\w+)"[^>]*><td>([^<]*)</td><td>([^<]*)<', needs) == [
        ("changed", "2. Write", "2. Write slowly")
    ]
    assert [name for name, _ in replies(needs)] == ["Yes to all", "Yes, and ask", "No, keep planning"]
    assert 'data-answer="/sessions/asks/plans/plan-mode"' in needs
    assert re.search(r'<time [^>]*data-show="life"[^>]*>\d s ago<', page[page.index('id="runs"') :])
    lease.release()


def test_a_plan_that_nobody_knows_yet_shows_its_beginning(board: Running) -> None:
    board.write("text", OPENED, proposal("Some words."), ReviewAsked("plan-mode", (NO,)))
    board.write("list", items(*["pending"] * 10), ReviewAsked("main"))
    page = board.page("/sessions")
    assert re.search(r'class="beginning"><div class="prose" dir="auto"><p data-lines="\S+">Some words.</p>', page)
    assert re.search(r'class="left-out" data-lines="\S+ \S+"><a [^>]*>2 more lines</a>', page)
    assert 'Approve<span class="count-unseen">, 2 lines unseen</span>' in page


def test_the_rest_is_folded_by_day_and_folder_with_counts(board: Running) -> None:
    now = int(time() * 1_000)
    for name, folder, hours in (("one", "/a", 0), ("two", "/b", 0), ("three", "/a", 0), ("old", "/a", 24 * 400)):
        board.write(name, opened(folder), items("completed"), TurnEnded("end_turn"), at=now - hours * HOUR)
    page = board.page("/sessions")
    assert "Nothing needs you." in page
    days = re.findall(r'<details id="day-[\d-]+" class="part day"( open)?><summary[^>]*><bdi>([^<]*)</bdi> ', page)
    assert [is_open for is_open, _ in days] == [" open", ""]
    assert days[0][1] == "Today"
    assert re.fullmatch(r"\w+day, \d+ \w+ \d{4}", days[1][1])
    folders = re.findall(r'class="folder" open><summary[^>]*><bdi>([^<]*)</bdi> <small>(\d)<', page)
    assert folders == [("/a", "2"), ("/b", "1"), ("/a", "1")]
    assert "<details" in board.page("/sessions?q=title")
    assert 'class="part day">' not in board.page("/sessions?q=title"), "what was looked for is in sight"


def test_a_change_of_one_session_costs_its_own_row(board: Running) -> None:
    session_rows.session_row.cache_clear()
    for number in range(40):
        board.write(f"s{number}", opened("/a"), items("in_progress"))
    with watching(board, "/sessions") as events:
        events.next()
        drawn = session_rows.session_row.cache_info().misses
        board.write("s7", items("completed", "in_progress"))
        [[what, row, _]] = events.next()
        assert (what, row) == ("set", "o-s7")
        assert session_rows.session_row.cache_info().misses == drawn + 1
