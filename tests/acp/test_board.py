"""The client's side: lines in, plans and changes out."""

import json

import pytest

from planwire import V1_DRAFT, Board, Change, MarkdownPlan
from planwire.acp.heard_plans import MAX_PLANS
from tests.wire import answer, entry, items, line, plan, refusal, removed, request, streamed, text

LOAD = request("session/load", 5, sessionId="s1", cwd="/", mcpServers=[])


def contents(board: Board, plan_id: str | None = None, session: str = "s1") -> list[str]:
    return [step.content for step in board.sessions[session].plans[plan_id].steps]


def applied(*lines: bytes) -> Board:
    board = Board()
    for each in lines:
        board.apply(each)
    return board


def test_an_update_replaces_the_plan_completely() -> None:
    """R4."""
    board = applied(plan(entry("a"), entry("b")), plan(entry("c")))
    assert contents(board) == ["c"]


def test_identified_plans_live_beside_each_other_and_the_one_without_an_id() -> None:
    """R12: an update replaces only the plan with that id."""
    board = applied(plan(entry("a")), items("p", entry("b")), text("q", "- [ ] c"), items("p", entry("d")))
    assert [(plan_id, state.plan.kind) for plan_id, state in board.sessions["s1"].plans.items()] == [
        (None, "items"),
        ("p", "items"),
        ("q", "markdown"),
    ]
    assert contents(board, "p") == ["d"]


def test_a_plan_may_change_its_kind() -> None:
    """R23: whatever comes replaces what was there under that id."""
    board = applied(items("p", entry("a")), text("p", "- [x] a"))
    assert [step.id for step in board.sessions["s1"].plans["p"].steps] == ["s1"]


def test_a_change_tells_what_to_animate() -> None:
    board = applied(plan(entry("Read"), entry("Write")))
    change = board.apply(plan(entry("Reading", "in_progress"), entry("Write"), entry("Test")))
    [changed] = change.plans
    assert [each.after for each in changed.diff.reworded] == ["Reading"]
    assert [each.step.content for each in changed.diff.added] == ["Test"]
    assert changed.before is not None
    assert changed.after is not None
    assert [step.content for step in changed.after.progress.current] == ["Reading"]


def test_a_new_plan_has_nothing_before_and_a_removed_one_nothing_after() -> None:
    """R13."""
    board = Board()
    [new] = board.apply(items("p", entry("a"))).plans
    [gone] = board.apply(removed("p")).plans
    assert new.before is None
    assert gone.after is None
    assert [each.step.content for each in gone.diff.removed] == ["a"]
    assert board.sessions["s1"].plans == {}


def test_a_plan_that_returns_gives_no_id_of_a_step_to_another() -> None:
    board = Board()
    for each in (items("p", entry("Read the config"), entry("Write it")), removed("p"), items("p", entry("Ship it"))):
        board.apply(each)
    assert [step.id for step in board.sessions["s1"].plans["p"].steps] == ["s3"]
    board.apply(removed("p"))
    [back] = board.apply(items("p", entry("Write it"), entry("Ship it"))).plans
    assert back.before is None
    assert [step.id for step in board.sessions["s1"].plans["p"].steps] == ["s2", "s3"]


def test_a_board_remembers_a_bounded_number_of_removed_plans() -> None:
    board = Board(keep=1)
    for number in range(MAX_PLANS + 5):
        board.apply(items(f"p{number}", entry("Read"), entry("Write")))
        board.apply(removed(f"p{number}"))
    board.apply(items("p0", entry("Ship")))
    assert [step.id for step in board.sessions["s1"].plans["p0"].steps] == ["s1"]


def test_removing_an_unknown_plan_is_reported_and_changes_nothing() -> None:
    change = Board().apply(removed("never"))
    assert not change
    assert [(report.code, report.message) for report in change.reports] == [
        ("unknown-plan", "there is no plan 'never' to remove")
    ]


def test_repeats_change_nothing() -> None:
    board = Board()
    assert board.apply(plan(entry("a")))
    assert not board.apply(plan(entry("a")))
    assert (board.sessions["s1"].updates, board.sessions["s1"].states) == (2, 1)


def test_a_repeat_with_other_meta_is_no_repeat() -> None:
    board = Board()
    board.apply(
        line(
            {"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "p", "uri": "a://b"}, "_meta": {"n": 1}}
        )
    )
    again = {"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "p", "uri": "a://b"}, "_meta": {"n": 2}}
    assert board.apply(line(again))
    assert board.apply(plan(entry("a"), _meta={"n": 1}))
    assert board.apply(plan(entry("a"), _meta={"n": 2}))
    assert not board.apply(plan(entry("a"), _meta={"n": 2}))


def test_an_unusable_update_leaves_the_plan_and_is_reported() -> None:
    board = applied(plan(entry("a")))
    change = board.apply(line({"sessionUpdate": "plan", "entries": None}))
    assert not change
    assert [report.code for report in change.reports] == ["entries-not-a-list"]
    assert contents(board) == ["a"]
    assert board.sessions["s1"].updates == 2


def test_streamed_text_extends_the_plan_and_equal_pieces_are_not_repeats() -> None:
    board = applied(text("p", "ab"), streamed("p", "ab"), streamed("p", "ab"))
    assert board.sessions["s1"].plans["p"].plan == MarkdownPlan("p", "ababab")


def test_streamed_text_without_a_beginning_begins_a_plan() -> None:
    assert applied(streamed("p", "ab")).sessions["s1"].plans["p"].plan == MarkdownPlan("p", "ab")


def test_sessions_are_kept_apart() -> None:
    board = applied(plan(entry("a"), session="s1"), plan(entry("b"), session="s2"))
    assert (contents(board), contents(board, session="s2")) == (["a"], ["b"])


def test_an_update_without_a_session_is_kept_too() -> None:
    board = Board()
    change = board.apply({"sessionUpdate": "plan", "entries": [entry("a")]})
    assert change.session == ""
    assert contents(board, session="") == ["a"]


def test_history_holds_every_state_with_its_time() -> None:
    board = Board()
    board.apply(plan(entry("a")), at=1.0)
    board.apply(plan(entry("a")), at=2.0)
    board.apply(plan(entry("a", "completed")), at=3.0)
    history = board.sessions["s1"].history
    assert [moment.at for moment in history] == [1.0, 3.0]
    assert [moment.plans[None].progress.done for moment in history] == [0, 1]


def test_history_is_bounded_and_states_are_still_counted() -> None:
    board = Board(keep=2)
    for number in range(5):
        board.apply(plan(entry(str(number))))
    assert (len(board.sessions["s1"].history), board.sessions["s1"].states) == (2, 5)


def test_plans_over_the_limit_are_reported_and_not_kept() -> None:
    board = Board(keep=0)
    for number in range(MAX_PLANS):
        board.apply(items(str(number), entry("a")))
    change = board.apply(items("one more", entry("a")))
    assert not change
    assert [report.code for report in change.reports] == ["too-many-plans"]
    assert len(board.sessions["s1"].plans) == MAX_PLANS


def test_initialize_settles_the_dialect() -> None:
    """R30."""
    board = Board()
    board.apply(request("initialize", 0, protocolVersion=1, clientCapabilities={"plan": {}}))
    assert board.dialect is None
    board.apply(answer(0, {"protocolVersion": 1}))
    assert board.dialect == V1_DRAFT


@pytest.mark.parametrize("begin", [LOAD, request("session/resume", 5, sessionId="s1", replayFrom={"type": "start"})])
def test_retold_history_changes_nothing_while_it_is_told_and_adds_at_most_one_state(begin: bytes) -> None:
    """R37, R39."""
    board = applied(plan(entry("a")), plan(entry("a", "completed")))
    assert not board.apply(begin)
    for retold in (plan(), plan(entry("a")), plan(entry("a", "completed"), entry("b")), plan(entry("b"))):
        assert not board.apply(retold)
        assert contents(board) == ["a"]
    change = board.apply(answer(5, None))
    assert [step.content for step in change.plans[0].after.steps] == ["b"]  # type: ignore[union-attr]
    assert (board.sessions["s1"].updates, board.sessions["s1"].states) == (6, 3)


def test_retold_history_that_ends_in_the_known_state_is_no_news() -> None:
    board = applied(plan(entry("a")), plan(entry("b")), LOAD, plan(entry("a")), plan(entry("b")))
    assert not board.apply(answer(5, {}))
    assert board.sessions["s1"].states == 2


def test_plans_that_are_not_retold_stay() -> None:
    board = applied(plan(entry("a")), items("p", entry("b")), LOAD, plan(entry("a")), answer(5))
    assert contents(board, "p") == ["b"]


def test_a_retold_removal_counts() -> None:
    board = applied(items("p", entry("b")), LOAD, items("p", entry("b")), removed("p"), removed("never"))
    assert board.apply(answer(5)).reports == ()
    assert board.sessions["s1"].plans == {}


def test_history_whose_telling_failed_is_discarded() -> None:
    board = applied(plan(entry("a")), LOAD, plan(entry("b")), refusal(5))
    assert contents(board) == ["a"]
    assert board.sessions["s1"].states == 1


def test_a_prompt_ends_the_retelling() -> None:
    board = applied(plan(entry("a")), LOAD, plan(entry("b")), request("session/prompt", 6, sessionId="s1", prompt=[]))
    assert contents(board) == ["b"]
    assert board.apply(plan(entry("c")))


def test_the_end_of_input_ends_the_retelling() -> None:
    board = applied(LOAD, text("p", "# Pl"), streamed("p", "an"))
    assert board.close().plans[0].after is not None
    assert board.sessions["s1"].plans["p"].plan == MarkdownPlan("p", "# Plan")
    assert not board.close()


def test_resume_without_replay_retells_nothing() -> None:
    """R38, R39."""
    board = applied(plan(entry("a")), request("session/resume", 5, sessionId="s1"))
    assert board.apply(plan(entry("b")))


def test_another_session_goes_on_while_one_is_retold() -> None:
    board = applied(LOAD)
    assert board.apply(plan(entry("a"), session="s2"))


def test_an_answer_to_the_agents_request_of_the_same_id_does_not_end_the_retelling() -> None:
    """Both sides count their requests from where they like."""
    permission = request("session/request_permission", 5, sessionId="s1", toolCall={}, options=[])
    board = applied(plan(entry("a")), LOAD, permission, plan(entry("b")))
    assert not board.apply(answer(5, {"outcome": {"outcome": "selected", "optionId": "x"}}))
    assert board.apply(answer(5, {"modes": {}}))


def test_the_sender_may_be_given() -> None:
    board = Board()
    board.apply(request("session/load", 5, sessionId="s1"), sender="client")
    board.apply(plan(entry("a")), sender="agent")
    assert not board.apply(answer(5), sender="client")
    assert board.apply(answer(5), sender="agent")


def test_a_batch_changes_what_its_messages_change() -> None:
    """R36."""
    change = Board().apply(b"[" + plan(entry("a")) + b"," + items("p", entry("b")) + b"," + removed("q") + b"]")
    assert [each.id for each in change.plans] == [None, "p"]
    assert [report.code for report in change.reports] == ["unknown-plan"]


def test_lines_that_are_no_json_are_reported() -> None:
    change = Board().apply(b"the agent is retired")
    assert change == Change(reports=change.reports)
    assert [report.code for report in change.reports] == ["not-json"]


def test_a_frozen_view_of_the_plans_is_shown() -> None:
    board = applied(plan(entry("a")))
    with pytest.raises(TypeError):
        board.sessions["s1"].plans[None] = board.sessions["s1"].plans[None]  # type: ignore[index]


def test_two_boards_fed_the_same_agree() -> None:
    lines = [plan(entry("a")), plan(), json.loads(plan(entry("a", "completed"))), items("p", entry("b"))]
    boards = [Board(), Board()]
    for each in lines:
        first, second = (board.apply(each) for board in boards)
        assert first == second
