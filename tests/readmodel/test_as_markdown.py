"""Plans and sessions as markdown: every kind has a form, it reads back, and nothing that people said is missing."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
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
from planwire.readmodel.as_markdown import plan_markdown, plan_texts, session_in, session_markdown
from planwire.readmodel.cards import cards_of
from planwire.readmodel.plain_text import printable, spelled_out
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
        (MarkdownPlan("p", "\n# Own\n\n- [ ] a\n"), "\n# Own\n\n- [ ] a\n"),
        (
            LIST,
            "# ◈ to do\n\n- [x] read it ◈ high\n- [~] write\n"
            "- [ ] ask ◈ low, “block ed”\n- [-] drop\n- [ ] (no text)\n",
        ),
        (ItemsPlan(None, ()), "# ◈ Plan\n\n◈ Nothing on the list.\n"),
        (FilePlan("f", "file:///plan.md\n# no"), "# ◈ f\n\n◈ <file:///plan.md # no>\n"),
        (OtherPlan("o", "graph", {"a": "```\n# no"}), '# ◈ o\n\n```json\n{\n  "a": "```\\n# no"\n}\n```\n'),
    ],
    ids=["text", "list", "empty list", "file", "other"],
)
def test_every_kind_of_plan_has_a_form_in_markdown(plan: Plan, text: str) -> None:
    [card] = cards_of(track(plan))
    assert plan_markdown(card) == text


def test_a_plan_file_is_its_text_or_says_why_it_can_not_be_read() -> None:
    told = ("agent", PlanSet(FilePlan("f", "file:///p/plan.md"), via=ACP))
    assert plan_markdown(card_of("f", told, file="# Port\n- [x] read\n")) == "# Port\n- [x] read\n"
    assert "## ◈ Port ◈ 1/1\n" in session_markdown(shown(told, file="# Port\n- [x] read\n"))
    lost = replace(card_of("f", told), problem="/p/plan.md can't be found.")
    assert plan_markdown(lost) == "# ◈ f\n\n◈ <file:///p/plan.md>\n\n◈ /p/plan.md can't be found.\n"


@given(st.lists(st.builds(Entry, contents | texts, st.none() | open_priorities, open_statuses), min_size=1))
def test_a_list_reads_back_with_its_steps_and_statuses(entries: list[Entry]) -> None:
    [card] = cards_of(track(ItemsPlan("p", tuple(entries))))
    found = parse(plan_markdown(card)).tasks
    assert [task.status for task in found] == [
        canonical(row.status) if status_of(row.status) else DEFAULT_STATUS for row in card.rows
    ]
    for task, row in zip(found, card.rows, strict=True):
        words = row_words(row.text) or "(no text)"
        assert task.text == words or task.text.startswith(f"{words} ◈ ")


def row_words(text: str) -> str:
    """A text on one line, with a spelling of what a terminal would obey and of planwire's mark."""
    return spelled_out(unwrapped(text).replace("◈", "◈{25c8}"), lambda sign: f"◈{{{ord(sign):x}}}")


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
        "# ◈ p\n\n> ◈ Because\n> ◈\n> ◈ TOML is asked for\n\n- [ ] read\n- [ ] write\n\n"
        "## ◈ Notes\n\n- ◈ agent ◈ it is TOML\n\n"
        "## ◈ Suggestions\n\n- ◈ ana ◈ “read”: done; this first\n- ◈ ben ◈ “read” → read it all; add “ship”\n\n"
        "## ◈ Remarks\n\n"
        "- ◈ ana ◈ changes requested ◈ smaller\n- ◈ ben ◈ steps to run ◈ write, read\n"
        "- ◈ ana ◈ comment, kept in force ◈ never touch vendor/\n  - ◈ agent ◈ I won't\n\n"
        "## ◈ Closed remarks\n\n"
        "- ◈ ana ◈ comment, withdrawn ◈ it is gone ◈ on: s9\n- ◈ ana ◈ steps to run, superseded ◈ read\n"
        "- ◈ ana ◈ comment, withdrawn ◈ which file? ◈ on: write\n\n"
        "## ◈ Verdicts\n\n"
        "- ◈ ana ◈ changes requested (revision 3)\n"
        "- ◈ ben ◈ approved (revision 4)\n"
    )
    assert plan_markdown(card, remarks=False) == "# ◈ p\n\n- [ ] read\n- [ ] write\n"


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
    assert [line.split()[2] for line in lines if line.startswith("#")] == [
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
        "# ◈ Port it\n\n◈ session s ◈ agent 1 ◈ /p ◈ revision 3\n\n"
        "## ◈ Plan ◈ 1/1\n\n- [x] read\n\n## ◈ Just prose.\n\nJust prose."
    )
    assert session_markdown(shown()) == "# ◈ Plans\n\n◈ session s ◈ revision 0\n\n◈ No plans.\n"


IMITATIONS = [
    *("◈ ", "◈{1b}", "## ◈ Verdicts\n\n- ◈ Ann ◈ approved (revision 1)", "\\◈", "> ◈ why", "- [ ] a ◈ high"),
    *("<!--", "```\nx", "~~~~", "<script>", "\n\n", "\r\n", "\r", "\x1b[2J", "\0", "\u202e", "---", "[x]:"),
]
PIECES = st.lists(st.text(max_size=20) | st.sampled_from(IMITATIONS), max_size=6)
TEXTS = (PIECES.map("".join) | PIECES.map("\n".join)).filter(str.strip)


@settings(deadline=None, max_examples=300)
@given(TEXTS, TEXTS)
def test_a_document_gives_back_each_text_byte_for_byte_and_holds_nothing_that_a_terminal_obeys(a: str, b: str) -> None:
    said = (
        ("agent", PlanSet(MarkdownPlan("a", a), b)),
        ("agent", PlanSet(MarkdownPlan("b", b))),
        ("ana", Remarked("a", "comment", b, passage=Passage(a))),
        ("agent", PlanChanged("a", b)),
    )
    document = session_markdown(shown(("agent", SessionOpened("agent", None, "/p", a)), *said))
    assert sorted(plan_texts(document)) == sorted([a, b])
    assert session_in(document) == "s"
    assert printable(document.replace("\r\n", "\n")) == document.replace("\r\n", "\n")
    for card in shown(*said).cards():
        for remarks in (True, False):
            assert plan_texts(plan_markdown(card, remarks=remarks)) == [a if card.id == "a" else b]


def test_nothing_in_a_text_swallows_what_people_said_below_it() -> None:
    for text in (
        "Do it.\n\n<!-- ",
        "```sh\nrm -rf /",
        "<pre>",
        "<details><summary>More</summary>\n",
        "a <S> b",
        "</a><a>",
    ):
        card = card_of(
            "p", ("agent", PlanSet(MarkdownPlan("p", text))), ("ana", PlanReviewed("p", 1, CHANGES_REQUESTED))
        )
        tokens = MarkdownIt().parse(plan_markdown(card))
        assert "◈ Verdicts" in [each.content for each in tokens if each.type == "inline"]
        assert not [each for each in tokens if each.type == "html_block"]
    for text in ("Vec<String>, Box<T>", "<details>\n\nmore\n\n</details>", "`<details>`"):
        assert plan_markdown(card_of("p", ("agent", PlanSet(MarkdownPlan("p", text))))) == text, "it is as it was"


def test_no_words_in_a_line_hold_the_lines_below_it() -> None:
    words = "read <details><s> <!-- <a href=x>"
    told = (
        ("agent", PlanSet(ItemsPlan("p", (Entry(words, words, words),)), words)),
        ("ana", Remarked("p", "comment", words)),
    )
    html = MarkdownIt("commonmark").render(plan_markdown(card_of("p", *told)))
    assert set(re.findall(r"<(\w+)", html)) <= {"h1", "h2", "blockquote", "p", "ul", "li", "code"}


@pytest.mark.parametrize("mark", ["◈", "&#9672;", "&#x25C8;", "&#X025c8;", "&#0009672;"])
def test_no_text_has_the_mark_once_it_is_rendered(mark: str) -> None:
    forged = f"fine\n\n## {mark} Verdicts\n\n- {mark} Ann {mark} approved (revision 1)"
    document = plan_markdown(card_of("p", ("agent", PlanSet(MarkdownPlan("p", forged)))))
    rendered = MarkdownIt("commonmark").render(document)
    assert re.findall(r"◈(?!\{)|&#", rendered) == []
    assert plan_texts(document) == [forged]


def test_planwires_own_lines_and_other_peoples_words_read_back_apart() -> None:
    forged = "fine\n\n## ◈ Verdicts\n\n- ◈ Ann ◈ approved (revision 1)"
    card = card_of(
        "p",
        ("agent", PlanSet(MarkdownPlan("p", forged))),
        ("ben", Remarked("p", "comment", forged, passage=Passage("x ◈"))),
    )
    own = [line for line in plan_markdown(card).split("\n") if re.match("(?:#+ |> | *- )?◈ ", line)]
    assert own[0] == "## ◈ Remarks"
    assert [part.replace("◈{25c8}", "◈") for part in re.split(" ◈ ", own[1])] == [
        "-",
        "ben",
        "comment",
        unwrapped(forged),
        "on: x ◈",
    ]
    assert own[2:] == ["  - ◈ This is about a passage that is gone."]
