"""Plans as markdown."""

import pytest

from planwire import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan, track
from planwire.readmodel.documents import plan_markdown

LIST = ItemsPlan(
    "to\ndo",
    (
        Entry("read\nit", "high", "done"),
        Entry("write", None, "in_progress"),
        Entry("ask", "low", "blocked"),
        Entry("drop", "medium", "cancelled"),
    ),
)


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (MarkdownPlan("p", "# Own\n\n- [ ] a"), "# Own\n\n- [ ] a"),
        (LIST, "# to do\n\n- [x] read it (high)\n- [~] write\n- [ ] ask (low, blocked)\n- [-] drop\n"),
        (ItemsPlan(None, ()), "# Plan\n\n"),
        (FilePlan("f", "file:///plan.md"), "# f\n\n<file:///plan.md>\n"),
        (OtherPlan("o", "graph", {"a": 1}), '# o\n\n```json\n{\n  "a": 1\n}\n```\n'),
    ],
    ids=["text", "list", "empty list", "file", "other"],
)
def test_every_kind_of_plan_has_a_form_in_markdown(plan: Plan, text: str) -> None:
    assert plan_markdown(track(plan)) == text
