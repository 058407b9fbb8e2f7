"""Plans as the wire tells them: whole, in pieces, retold, and within a limit."""

from collections.abc import Callable

import pytest

from planwire import Board, Entry, ItemsPlan, MarkdownPlan, Translator
from planwire.acp import V1, V1_DRAFT, Removal
from planwire.acp.heard_plans import MAX_PLANS, Heard, HeardPlans, TooMany
from planwire.acp.messages import Extension
from tests.wire import answer, both_keys, entry, items, request, streamed

ONE = ItemsPlan("a", (Entry("one", "high", "pending"),))
TWO = ItemsPlan("a", (Entry("two", "high", "pending"),))


def test_an_update_replaces_the_plan_with_its_id() -> None:
    """R4, R12, R17."""
    heard = HeardPlans()
    assert heard.hear(ONE) == Heard("a", ONE)
    assert heard.hear(TWO) == Heard("a", TWO, before=ONE)
    assert heard.plans == {"a": TWO}
    assert heard.hear(Removal("a")) == Heard("a", None, before=TWO)
    assert heard.plans == {}


def test_a_piece_of_text_goes_to_the_end_of_its_plan() -> None:
    heard = HeardPlans()
    heard.hear(Extension("a", "# Plan"))
    extended = heard.hear(Extension("a", "\n- [ ] x"))
    assert extended == Heard("a", MarkdownPlan("a", "# Plan\n- [ ] x"), before=MarkdownPlan("a", "# Plan"))


def test_a_piece_of_text_for_a_list_begins_a_text() -> None:
    heard = HeardPlans()
    heard.hear(ONE)
    assert heard.hear(Extension("a", "text")) == Heard("a", MarkdownPlan("a", "text"), before=ONE)


def test_only_the_end_of_a_replay_counts_and_other_plans_stay() -> None:
    """R37, R39."""
    heard = HeardPlans()
    other = ItemsPlan("b", ())
    heard.hear(other)
    heard.begin_retelling()
    assert heard.hear(ONE) is None
    assert heard.hear(TWO) is None
    assert heard.is_retold
    assert heard.plans == {"b": other}
    assert heard.end_retelling() == [Heard("a", TWO)]
    assert heard.plans == {"b": other, "a": TWO}


def test_nothing_counts_of_a_replay_that_failed() -> None:
    heard = HeardPlans()
    heard.hear(ONE)
    heard.begin_retelling()
    heard.hear(Removal("a"))
    assert heard.end_retelling(failed=True) == []
    assert heard.plans == {"a": ONE}


def test_an_update_that_can_not_be_used_changes_nothing() -> None:
    heard = HeardPlans()
    heard.hear(ONE)
    assert heard.hear(None) is None
    assert heard.plans == {"a": ONE}


def test_a_plan_too_many_is_not_kept_but_the_kept_ones_still_change() -> None:
    heard = HeardPlans()
    for number in range(MAX_PLANS):
        heard.hear(ItemsPlan(str(number), ()))
    assert heard.hear(ItemsPlan("new", ())) == TooMany("new")
    changed = ItemsPlan("0", ONE.entries)
    assert heard.hear(changed) == Heard("0", changed, before=ItemsPlan("0", ()))
    heard.hear(Removal("0"))
    assert heard.hear(ItemsPlan("new", ())) == Heard("new", ItemsPlan("new", ()))


def _plain(number: int) -> bytes:
    return items(str(number), entry("one"))


def _streamed(number: int) -> bytes:
    return streamed(str(number), "text")


@pytest.mark.parametrize("retold", [False, True], ids=["live", "retold"])
@pytest.mark.parametrize("line", [_plain, _streamed], ids=["whole", "streamed"])
def test_a_board_keeps_a_thousand_plans_by_whichever_route_they_come(
    line: Callable[[int], bytes], retold: bool
) -> None:
    board = Board()
    if retold:
        board.apply(request("session/load", 1, sessionId="s1"), "client")
    reports = [report.code for number in range(1_500) for report in board.apply(line(number)).reports]
    if retold:
        board.apply(answer(1), "agent")
    assert len(board.sessions["s1"].plans) == MAX_PLANS
    assert reports.count("too-many-plans") == 500


@pytest.mark.parametrize("line", [_plain, _streamed], ids=["whole", "streamed"])
def test_a_translator_keeps_a_thousand_plans(line: Callable[[int], bytes]) -> None:
    translator = Translator(V1)
    for number in range(MAX_PLANS):
        assert translator.translate(line(number))
    assert translator.translate(line(MAX_PLANS)) == ()
    by_id = Translator(V1_DRAFT)
    assert [by_id.translate(line(number)) for number in range(MAX_PLANS + 1)][-1] == (both_keys(line(MAX_PLANS)),)
