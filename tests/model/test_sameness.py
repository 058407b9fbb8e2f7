"""Plans that say the same: what they count in `_meta` makes no new version."""

import pytest

from planwire import Entry, FilePlan, ItemsPlan, MarkdownPlan
from planwire.model.plan import Fields, OtherPlan, Plan
from planwire.model.sameness import is_same

STATS: Fields = {"stats": {"tokens": 12, "apiTimeMs": 8.5, "by": [1, 2, 3]}, "timestamp": 1_790_000_000}
OTHER_STATS: Fields = {"stats": {"tokens": 99}, "timestamp": 1_790_000_007}


def plans(meta: Fields | None) -> list[Plan]:
    """A plan of each kind with some `_meta`, wherever there can be one."""
    return [
        ItemsPlan("p", (Entry("a", "low", "pending"),), meta),
        ItemsPlan("p", (Entry("a", "low", "pending", meta),)),
        ItemsPlan("p", (Entry("a", "low", "pending", None, {"more": [{"_meta": meta}]}),)),
        MarkdownPlan("p", "text", meta),
        FilePlan("p", "file:///p", meta),
        OtherPlan("p", "_new", {"_meta": meta, "nodes": [{"_meta": meta}]}),
    ]


@pytest.mark.parametrize("other", [OTHER_STATS, None], ids=["other counts", "no counts"])
def test_what_a_plan_counts_makes_no_other_plan(other: Fields | None) -> None:
    for one, again in zip(plans(STATS), plans(other), strict=True):
        assert is_same(one, again)
        assert is_same(again, one)


@pytest.mark.parametrize("meta", [{"by": "a"}, {"by": "b"}, {"ready": True}, {"ready": None}, {"stats": {}}])
def test_every_other_word_does(meta: Fields) -> None:
    for one, other in zip(plans({**meta, "tokens": 1}), plans({"by": "c", "tokens": 1}), strict=True):
        assert not is_same(one, other)


def test_numbers_elsewhere_count() -> None:
    assert not is_same(OtherPlan("p", "_new", {"n": 1}), OtherPlan("p", "_new", {"n": 2}))
    assert not is_same(MarkdownPlan("p", "1", STATS), MarkdownPlan("p", "2", STATS))
    assert not is_same(MarkdownPlan("p", "1", STATS), None)


def test_fields_that_nobody_could_compare_make_another_plan() -> None:
    deep: Fields = {"n": 1}
    for _ in range(100_000):
        deep = {"in": deep}
    assert not is_same(MarkdownPlan("p", "a", deep), MarkdownPlan("p", "a", {"n": 2}))
