"""The past: every change, any two moments side by side, and the plan as it was."""

import re
from collections.abc import Iterator

import pytest

from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    COMMENT,
    SUGGESTION,
    MessageAdded,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    RemarkClosed,
    Remarked,
    TurnEnded,
    UnknownEvent,
)
from planwire.model.remarks import WITHDRAWN
from planwire.model.step_changes import SetStatus
from planwire.readmodel.timeline import EVENTS_PER_STATE
from planwire.web.progress_chart import Level, progress_chart
from tests.web.board import Running, items, markdown, running_board


def fill(board: Running) -> None:
    board.open()  # 1
    board.write("s1", items("pending", "pending", via="tools", summary="Two are enough."), at=1_000)  # 2
    board.write("s1", PlanChanged("main", "Begun.", (SetStatus("s1", "in_progress"),)), at=2_000)  # 3
    board.write("s1", PlanChanged("main", None, (SetStatus("s1", "completed"),)), by="ana", at=3_000)  # 4
    board.write("s1", items("completed", "in_progress", "pending", via="tools"), at=4_000)  # 5
    board.write("s1", TurnEnded("cancelled"), at=5_000)  # 6


@pytest.fixture(scope="module")
def filled() -> Iterator[Running]:
    """One for all that only look."""
    with running_board() as running:
        fill(running)
        yield running


def test_every_change_is_on_the_time_line_with_who_and_when(board: Running) -> None:
    fill(board)
    page = board.page("/sessions/s1/history")
    rows = re.findall(r'<li class="moment[^"]*" id="e(\d+)">(.*?)</p></li>', page)
    assert [seq for seq, _ in rows] == ["6", "5", "4", "3", "2", "1"]
    by_seq = dict(rows)
    assert "ana" in by_seq["4"]
    assert 'datetime="1970-01-01T00:00:03.000+00:00"' in by_seq["4"]
    assert "did-completed" in by_seq["4"]
    assert "Begun." in by_seq["3"]
    assert "Two are enough." in by_seq["2"]
    assert "step 3" in by_seq["5"]
    assert "cancelled" in by_seq["6"]


@pytest.mark.parametrize(("verdict", "words"), [(APPROVED, "approved"), (CHANGES_REQUESTED, "changes requested")])
def test_a_review_says_its_verdict_once(board: Running, verdict: str, words: str) -> None:
    fill(board)
    seq = board.write("s1", PlanReviewed("main", 2, verdict), by="ana")
    page = board.page("/sessions/s1/history")
    row = page[page.index(f'id="e{seq}"') : page.index(f'id="e{seq - 1}"')]
    assert row.count(f">{words}") == 1


def test_the_plan_is_shown_as_it_was_at_any_moment(board: Running) -> None:
    fill(board)
    then = {seq: board.get(f"/sessions/s1/history?at={seq}&part=then").text for seq in range(1, 7)}
    assert "There was no plan" in then[1]
    assert then[2].count('data-status="pending"') == 2
    assert 'data-status="current"' in then[3]
    assert 'data-status="done"' in then[4]
    assert "step 3" in then[5]
    assert 'data-status="stopped"' in then[6]
    assert board.page("/sessions/s1/history?moment=2").count('id="then"') == 1


def test_a_very_long_past_can_be_looked_at_anywhere(board: Running) -> None:
    count = EVENTS_PER_STATE * 3 + 7
    board.write("s1", *(items(*["completed"] * (number % 5 + 1)) for number in range(count)))
    for seq in (1, EVENTS_PER_STATE, EVENTS_PER_STATE + 1, count):
        [plan] = board.json(f"/sessions/s1/history.json?at={seq}")["then"]["plans"]
        assert plan["version"] == seq
        assert len(plan["steps"]) == (seq - 1) % 5 + 1
    page = board.page("/sessions/s1/history")
    assert page.count('class="moment ') == 199
    assert "earlier events" not in page
    board.write("s1", *(items("pending") for _ in range(10)))
    assert "9 earlier events" in board.page("/sessions/s1/history")
    assert board.page("/sessions/s1/history?before=9").count('class="moment ') == 9


def test_a_very_long_past_can_be_listed_shown_and_compared_to_its_beginning(
    board: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.readmodel.timeline.MOST_MOMENTS", 20)
    monkeypatch.setattr("planwire.web.app.MOMENTS_PER_PAGE", 10)
    board.write("s1", *(items(*["pending"] * number) for number in range(1, 61)))
    assert "<b>60 of 60</b>" in board.page("/sessions/s1/history")
    page = board.page("/sessions/s1/history?at=2&before=12")
    assert "<b>2 of 60</b>" in page
    assert re.findall(r'id="e(\d+)"', page) == [str(seq) for seq in range(12, 2, -1)]
    assert 'href="/sessions/s1/compare?from=2&amp;to=3"' in page
    assert "2 earlier events" in page
    compared = board.page("/sessions/s1/compare?from=1&to=3")
    assert re.findall(r'data-pair="(\w+)"', compared) == ["same", "added", "added"]
    assert 'min="1" max="60"' in compared
    assert len(board.json("/sessions/s1/history.json")["moments"]) == 60


def test_messages_of_a_chat_are_no_changes_of_plans(board: Running) -> None:
    board.write("s1", items("pending"), MessageAdded({"role": "user", "content": "hello"}), items("completed"))
    assert [moment["seq"] for moment in board.json("/sessions/s1/history.json")["moments"]] == [1, 3]


def test_two_moments_stand_side_by_side(board: Running) -> None:
    fill(board)
    page = board.page("/sessions/s1/compare?from=2&to=5")
    assert re.findall(r'data-pair="(\w+)"', page) == ["changed", "changed", "added"]
    back = board.page("/sessions/s1/compare?from=5&to=2")
    assert re.findall(r'data-pair="(\w+)"', back) == ["changed", "changed", "removed"]
    assert "Nothing changed." in board.page("/sessions/s1/compare?from=5&to=6")


def test_programs_get_the_difference_of_two_moments(board: Running) -> None:
    fill(board)
    [plan] = board.json("/sessions/s1/compare.json?from=2&to=5")["plans"]
    assert [change["after"] for change in plan["status"]] == ["completed", "in_progress"]
    assert [change["step"]["content"] for change in plan["added"]] == ["step 3"]


def test_texts_are_compared_line_by_line_unless_only_a_box_was_ticked(board: Running) -> None:
    board.write("s1", markdown("# A\n\nold words\n\n- [ ] x\n"), markdown("# A\n\nnew words\n\n- [ ] x\n"))
    board.write("s1", markdown("# A\n\nnew words\n\n- [x] x\n"))
    page = board.page("/sessions/s1/compare?from=1&to=2")
    assert "<td>old words</td><td>new words</td>" in page
    assert "old words" not in board.page("/sessions/s1/compare?from=2&to=3")
    assert 'class="pairs lines"' not in board.page("/sessions/s1/compare?from=2&to=3")


def test_a_plan_that_was_dismissed_or_is_new_is_on_one_side_only(board: Running) -> None:
    board.write("s1", items("pending"), items("pending", plan_id="other"), PlanRemoved("main"))
    page = board.page("/sessions/s1/compare?from=1&to=3")
    assert ">dismissed<" in page
    assert ">new<" in page


@pytest.mark.parametrize("query", ["at=x", "moment=-1", "at=1e5", "before=%00", "moment=9999999999999999999", "at=١"])
def test_a_moment_that_is_no_number_is_refused(filled: Running, query: str) -> None:
    assert filled.get(f"/sessions/s1/history?{query}").status_code == 400


@pytest.mark.parametrize("query", ["moment=999", "at=999", "at=0", "before=0", "before=999"])
def test_a_moment_that_never_was_is_the_nearest_one(filled: Running, query: str) -> None:
    assert filled.get(f"/sessions/s1/history?{query}").status_code == 200


def test_the_chart_goes_by_event_as_the_slider_does_and_is_read_out() -> None:
    chart = progress_chart([Level(0, 0, 4), Level(5, 2, 4), Level(10, 4, 4)], count=11, index=5)
    assert "4 of 4 steps done" in chart
    [line] = re.findall(r'<polyline points="([^"]*)" class="chart-line"', chart)
    assert line.split() == ["0.0,96.0", "320.0,96.0", "320.0,48.0", "640.0,48.0", "640.0,0.0", "640.0,0.0"]
    assert 'id="chart-at" points="320.0,0 320.0,96"' in chart
    assert "<title>6 of 11: 2 of 4 steps done</title>" in chart


def test_the_chart_of_a_long_past_stays_small() -> None:
    many = progress_chart([Level(number, number, 5_000) for number in range(5_000)], count=5_000, index=0)
    assert len(many) < 40_000


def test_a_session_without_steps_has_no_chart(board: Running) -> None:
    board.open()
    assert "<svg" not in board.page("/sessions/s1/history")


def test_a_comparison_begins_with_the_change_and_leaves_out_what_is_the_same(board: Running) -> None:
    before = ["completed"] * 20 + ["pending"] * 20
    board.write("s1", items(*["pending"] * 4, plan_id="other"), items(*before))
    board.write("s1", items(*["completed"] * 21, *["pending"] * 19))
    page = board.page("/sessions/s1/compare?from=2&to=3")
    assert page.index("<bdi>Plan</bdi></h2>") < page.index("<bdi>other</bdi></h2>")
    assert re.findall(r'data-pair="(\w+)"', page) == ["same"] * 3 + ["changed"] + ["same"] * 3
    [whole] = set(re.findall(r'href="([^"]*)">17 unchanged steps<', page))
    assert board.page(whole.replace("&amp;", "&")).count("data-pair=") == 44


def test_a_suggestion_and_a_review_are_changes_too(board: Running) -> None:
    board.write("s1", items("pending", "pending"))
    board.write("s1", Remarked("main", SUGGESTION, changes=(SetStatus("s2", "completed"),)), by="ana")
    board.write("s1", Remarked("main", COMMENT, "Why so late?", 1, "s2"), by="bo")
    board.write("s1", RemarkClosed("main", "r1", WITHDRAWN), by="ana")
    said = r'data-said="(\w+)">.*?<b>([^<]*)</b> <span dir="auto">([^<]*)</span>'
    suggestion, remark = "“step 2”: done", "step 2: Why so late?"
    for begin, end, expected in (
        (1, 2, [("added", "Suggested by ana", suggestion)]),
        (2, 3, [("added", "Comment by bo", remark)]),
        (3, 4, [("removed", "Suggested by ana", suggestion)]),
    ):
        page = board.page(f"/sessions/s1/compare?from={begin}&to={end}")
        assert re.findall(said, page) == expected
        assert "Nothing changed." not in page


def test_every_moment_of_a_long_past_can_be_compared(board: Running) -> None:
    board.write("s1", *(items(*["completed"] * (number % 3), "pending") for number in range(1_200)))
    page = board.page("/sessions/s1/compare?from=7&to=1100")
    assert re.search(r'<input type="number" name="from" id="from" value="7" min="1" max="1200"', page)
    assert re.search(r'<input type="number" name="to" id="to" value="1100" min="1" max="1200"', page)
    for neighbour in ("from=6&amp;to=1100", "from=8&amp;to=1100", "from=7&amp;to=1099", "from=7&amp;to=1101"):
        assert neighbour in page
    assert len(page) < 20_000


def test_a_comparison_has_one_clock(filled: Running) -> None:
    page = filled.page("/sessions/s1/compare?from=2&to=5")
    times = re.findall(r"<time ([^>]*)>([^<]*)</time>", page)
    assert {"1970-01-01 00:00:01 UTC", "1970-01-01 00:00:04 UTC"} == {words for _, words in times}
    assert all('data-show="clock"' in values for values, _ in times)


def test_an_event_of_a_newer_planwire_is_shown_as_such(board: Running) -> None:
    board.write("s1", items("pending"), UnknownEvent("plan_weighed", '{"event":"plan_weighed","by":2}'))
    assert "an event of a newer planwire (plan_weighed)" in board.page("/sessions/s1/history")
    moments = board.json("/sessions/s1/history.json")["moments"]
    assert [each["event"] for each in moments] == ["plan_set", "plan_weighed"]
