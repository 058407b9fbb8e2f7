"""Plans as markdown."""

import pytest

from planwire import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan, track
from planwire.model.events import Event, PlanChanged, PlanSet, Recorded, RewordStep, SetStatus
from planwire.model.fold import fold_all
from planwire.readmodel.documents import plan_document, plan_markdown

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


def test_a_document_says_what_people_suggest_with_or_without_a_note() -> None:
    events: list[Event] = [
        PlanSet(ItemsPlan("p", (Entry("read", None, "pending"),)), via="acp"),
        PlanChanged("p", "this first", (SetStatus("s1", "completed"),)),
        PlanChanged("p", None, (RewordStep("s1", "read it all"),)),
    ]
    authors = ["agent", "user", "user"]
    recorded = [Recorded("s", at, at, by, event) for at, (by, event) in enumerate(zip(authors, events, strict=True), 1)]
    document = plan_document(fold_all("s", recorded).plans["p"])
    assert document.endswith("## Wishes\n\n- read: completed; this first\n- read → read it all\n")
