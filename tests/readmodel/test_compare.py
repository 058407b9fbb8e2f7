"""Comparisons of two cards: pairs of steps and lines, and the runs of equal ones between them."""

from planwire.model.identity import track
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.steps import PlanState
from planwire.readmodel.card import PlanCard
from planwire.readmodel.cards import cards_of
from planwire.readmodel.compare import compare_cards, near_changes, paired


def listed(*contents: str, before: PlanState | None = None) -> PlanState:
    entries = tuple(Entry(content, "medium", "pending") for content in contents)
    return track(ItemsPlan("main", entries), before)


def card(state: PlanState) -> PlanCard:
    return cards_of(state)[0]


def test_removed_steps_stand_where_they_stood() -> None:
    old = listed("one", "two", "three")
    new = listed("three", "one", "four", before=old)
    pairs = paired(card(old).rows, card(new).rows)
    assert [(a and a.text, b and b.text) for a, b in pairs] == [
        ("three", "three"),
        ("one", "one"),
        ("two", None),
        (None, "four"),
    ]
    pairs = paired(card(old).rows, card(listed("three", before=old)).rows)
    assert [(a and a.text, b and b.text) for a, b in pairs] == [("one", None), ("two", None), ("three", "three")]


def test_every_pair_says_what_became_of_its_step() -> None:
    old = listed("one", "two", "three", "four")
    new = listed("four", "one", "three", "five", before=old)
    compared = compare_cards(card(old), card(new))
    assert [(pair.kind, (pair.after or pair.before).text) for pair in compared.rows] == [  # type: ignore[union-attr]
        ("moved", "four"),
        ("same", "one"),
        ("removed", "two"),
        ("same", "three"),
        ("added", "five"),
    ]
    assert compared.differs
    assert not compare_cards(card(old), card(old)).differs


def test_lines_that_differ_only_in_a_box_are_equal() -> None:
    old, new = (track(MarkdownPlan("text", text)) for text in ("# A\n\n- [ ] x\n", "# A\n\n- [x] x\n"))
    assert compare_cards(card(old), card(new)).lines == ()
    other = track(MarkdownPlan("text", "# A\n\nwords\n\n- [ ] x\n"))
    assert [line.kind for line in compare_cards(card(old), card(other)).lines].count("added") == 2


def test_a_numbered_list_is_compared_once_by_its_lines() -> None:
    old = track(MarkdownPlan("text", "1. Read\n2. Write\n"))
    new = track(MarkdownPlan("text", "1. Read\n2. Write small steps\n"), old)
    compared = compare_cards(card(old), card(new))
    assert (compared.rows, [line.kind for line in compared.lines]) == ((), ["same", "changed"])
    boxed = track(MarkdownPlan("text", "1. [ ] Read\n2. [x] Write\n"), old)
    assert len(compare_cards(card(old), card(boxed)).rows) == 2, "the boxes are news"


def test_equal_pairs_far_from_a_change_are_counted() -> None:
    old = listed(*(f"step {number}" for number in range(20)))
    new = listed(*(f"step {number}" for number in range(20)), "new", before=old)
    rows = compare_cards(card(old), card(new)).rows
    shown = [each if isinstance(each, int) else each.kind for each in near_changes(rows, 2)]
    assert shown == [18, "same", "same", "added"]
    assert len(list(near_changes(rows, None))) == 21
