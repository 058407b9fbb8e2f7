"""Plans and sessions as markdown: every kind has a form, it reads back, and nothing that people said is missing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    COMMENT,
    REQUEST,
    SELECTION,
    SUGGESTION,
    Passage,
    PlanChanged,
    PlanReviewed,
    PlanSet,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    SessionOpened,
)
from planwire.model.identity import track
from planwire.model.markdown import parse
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from planwire.model.statuses import DEFAULT_STATUS, canonical, status_of
from planwire.model.step_changes import AddStep, RewordStep, SetStatus
from planwire.model.text import unwrapped
from planwire.readmodel.as_markdown import plan_markdown, session_markdown
from planwire.readmodel.cards import cards_of
from tests.readmodel.shown_plans import card_of, shown
from tests.strategies import contents, open_priorities, open_statuses, texts

LIST = ItemsPlan(
    "to\ndo",
    (
        Entry("read\nit", "high", "done"),
        Entry("write", None, "in_progress"),
        Entry("ask", "low", "block\ned"),
        Entry("drop", "medium", "cancelled"),
        Entry(" ", "", ""),
    ),
)


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (MarkdownPlan("p", "\n# Own\n\n- [ ] a\n"), "# Own\n\n- [ ] a\n"),
        (
            LIST,
            "# to do\n\n- [x] read it (high)\n- [~] write\n- [ ] ask (low, block ed)\n- [-] drop\n- [ ] (no text)\n",
        ),
        (ItemsPlan(None, ()), "# Plan\n\nNothing on the list.\n"),
        (FilePlan("f", "file:///plan.md\n# no"), "# f\n\n<file:///plan.md # no>\n"),
        (OtherPlan("o", "graph", {"a": "```\n# no"}), '# o\n\n```json\n{\n  "a": "```\\n# no"\n}\n```\n'),
    ],
    ids=["text", "list", "empty list", "file", "other"],
)
def test_every_kind_of_plan_has_a_form_in_markdown(plan: Plan, text: str) -> None:
    [card] = cards_of(track(plan))
    assert plan_markdown(card) == text


def test_a_plan_file_is_its_text_or_says_why_it_can_not_be_read() -> None:
    told = ("agent", PlanSet(FilePlan("f", "file:///p/plan.md"), via=ACP))
    assert plan_markdown(card_of("f", told, file="# Port\n- [x] read\n")) == "# Port\n- [x] read\n"
    assert "## Port (1/1)\n" in session_markdown(shown(told, file="# Port\n- [x] read\n"))
    lost = replace(card_of("f", told), problem="/p/plan.md can't be found.")
    assert plan_markdown(lost) == "# f\n\n<file:///p/plan.md>\n\n/p/plan.md can't be found.\n"


@given(st.lists(st.builds(Entry, contents | texts, st.none() | open_priorities, open_statuses), min_size=1))
def test_a_list_reads_back_with_its_steps_and_statuses(entries: list[Entry]) -> None:
    [card] = cards_of(track(ItemsPlan("p", tuple(entries))))
    found = parse(plan_markdown(card)).tasks
    assert [task.status for task in found] == [
        canonical(row.status) if status_of(row.status) else DEFAULT_STATUS for row in card.rows
    ]
    for task, row in zip(found, card.rows, strict=True):
        words = unwrapped(row.text.replace("\0", "\ufffd")) or "(no text)"  # as CommonMark reads it
        assert task.text == words or task.text.startswith(f"{words} (")


def test_nothing_that_people_said_is_left_out() -> None:
    steps = tuple(Entry(text, "medium", "pending") for text in ("read", "write"))
    card = card_of(
        "p",
        ("agent", PlanSet(ItemsPlan("p", steps), "Because\n\nTOML is asked for", via=ACP)),
        ("agent", PlanChanged("p", "it is\nTOML")),
        ("ana", Remarked("p", SUGGESTION, "this first", changes=(SetStatus("s1", "completed"),))),
        ("ben", Remarked("p", SUGGESTION, changes=(RewordStep("s1", "read it all"), AddStep("ship")))),
        ("ana", PlanReviewed("p", 3, CHANGES_REQUESTED)),
        ("ana", Remarked("p", COMMENT, "it is gone", step="s9", review=5)),
        ("ana", Remarked("p", SELECTION, steps=("s1",), review=5)),
        ("ben", PlanReviewed("p", 4, APPROVED)),
        ("ana", Remarked("p", COMMENT, "which\nfile?", step="s2")),
        ("ana", Remarked("p", REQUEST, "smaller")),
        ("ben", Remarked("p", "selection", steps=("s2", "s1"))),
        ("ben", RemarkClosed("p", "r5", "withdrawn")),
        ("ana", Remarked("p", "comment", "never touch vendor/", kept=True)),
        ("agent", RemarkAnswered("p", "r8", "I won't")),
        ("ana", RemarkClosed("p", "r3", "withdrawn")),
    )
    assert plan_markdown(card) == (
        "# p\n\n> Because\n>\n> TOML is asked for\n\n- [ ] read\n- [ ] write\n\n"
        "## Notes\n\n- agent: it is TOML\n\n"
        "## Suggestions\n\n- ana: read: done; this first\n- ben: read → read it all; add “ship”\n\n"
        "## Remarks\n\n"
        "- ana: changes requested: smaller\n- ben: steps to run: write, read\n"
        "- ana: comment: never touch vendor/ (kept in force)\n  - agent: I won't\n\n"
        "## Closed remarks\n\n"
        "- ana: comment: s9: it is gone (withdrawn)\n- ana: steps to run: read (superseded)\n"
        "- ana: comment: write: which file? (withdrawn)\n\n"
        "## Verdicts\n\n"
        "- ana: changes requested (revision 3)\n"
        "- ben: approved (revision 4)\n"
    )
    assert plan_markdown(card, remarks=False) == "# p\n\n- [ ] read\n- [ ] write\n"


hostile = texts.map("a\n\n# Fake\n\n- [x] fake\n```\n<!--\n{}".format)


@given(hostile, hostile, hostile, hostile)
def test_no_text_of_a_list_or_about_it_makes_headings_or_steps(step: str, note: str, said: str, name: str) -> None:
    card = card_of(
        name,
        ("agent", PlanSet(ItemsPlan(name, (Entry(step, step, step),)), note, via=ACP)),
        ("agent", PlanChanged(name, note)),
        (name, Remarked(name, SUGGESTION, note, changes=(AddStep(step),))),
        (name, PlanReviewed(name, 3, said)),
        (name, Remarked(name, COMMENT, said, step="s1", review=4)),
        (name, Remarked(name, SELECTION, steps=("s1",), review=4)),
        (name, RemarkClosed(name, "r3", said)),
        (name, Remarked(name, "comment", said, step="s1")),
        (name, Remarked(name, said, said, passage=Passage(said))),
        (name, RemarkAnswered(name, "r5", said)),
    )
    lines = plan_markdown(card).split("\n")
    assert [line.split()[1] for line in lines if line.startswith("#")] == [
        *("a", "Notes", "Suggestions", "Remarks", "Closed", "Verdicts")
    ]
    assert len([line for line in lines if line.startswith("- [")]) == 1
    assert all(line == "" or line.startswith(("#", ">", "- ", "  - ")) for line in lines)


def test_a_session_says_who_works_where_and_has_every_live_plan_under_its_title() -> None:
    told = (
        ("agent", SessionOpened("agent 1", None, "/p", "Port\nit")),
        ("agent", PlanSet(MarkdownPlan("0198f3c2-7b1e-7cc3-98c4-dc0c0c07398f", "Just prose."))),
        ("agent", PlanSet(ItemsPlan("main", (Entry("read", "medium", "completed"),)))),
    )
    assert session_markdown(shown(*told)) == (
        "# Port it\n\n_session s · agent 1 · /p · revision 3_\n\n"
        "## Plan (1/1)\n\n- [x] read\n\n## Just prose.\n\nJust prose.\n"
    )
    assert session_markdown(shown()) == "# Plans\n\n_session s · revision 0_\n\nNo plans.\n"
