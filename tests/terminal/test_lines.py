"""Lines of text: whatever is in them, they keep to their width, and wrapping and cutting them loses no look."""

import io
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from planwire import Entry, ItemsPlan, MarkdownPlan, OtherPlan, track
from planwire.model.events import (
    ACP,
    COMMENT,
    SUGGESTION,
    Event,
    Passage,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    SessionOpened,
    Told,
)
from planwire.model.passages import occurrences, passage_at, reading
from planwire.model.step_changes import AddStep, RewordStep
from planwire.readmodel.card import STATUS_LOOKS
from planwire.readmodel.cards import cards_of
from planwire.readmodel.overview import overview
from planwire.readmodel.plain_text import printable
from planwire.terminal.lines import (
    GUTTER,
    LOOKS,
    UNBOUNDED,
    Line,
    Part,
    cut,
    folded,
    framed,
    hanging,
    line_printer,
    progress_bar,
    text_look,
)
from planwire.terminal.plan_lines import boxed_lines, card_lines
from planwire.terminal.session_lines import heading_lines, session_age, session_rows
from tests.deciding import fold_all
from tests.journals import HOSTILE
from tests.readmodel.shown_plans import card_of

WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Mn", "Zl", "Zp"]), max_size=40)
PARTS: st.SearchStrategy[list[Part]] = st.lists(st.tuples(WORDS, st.sampled_from(["", *LOOKS])), max_size=5)
WILD = st.text(max_size=60) | st.sampled_from([HOSTILE, "日本語" * 30, "a" * 300, "- [ ] x\n" * 4])


@settings(deadline=None)
@given(PARTS, st.integers(8, 60), st.integers(0, 6))
def test_folding_keeps_every_word_and_its_look(parts: list[Part], width: int, indent: int) -> None:
    line = Line(((" " * indent, ""), *parts), "head", ("step", "p", "s1"))
    lines = folded(line, width)

    def looks(parts: Sequence[Part]) -> list[Part]:
        return [(sign, look) for text, look in parts for sign in text if not sign.isspace()]

    first, *more = lines
    assert all(each.parts[1] == GUTTER and not each.parts[0][0].strip() for each in more)
    assert looks([*first.parts, *(part for each in more for part in each.parts[2:])]) == looks(line.parts)
    assert all(cell_len(each.text) <= width for each in lines)
    assert {(each.fill, each.row) for each in lines} == {(line.fill, line.row)}


def test_a_line_that_goes_on_is_set_in() -> None:
    line = Line((("  ☆ ", "suggestion"), ("one two three", "")))
    assert [each.text for each in folded(line, 13)] == ["  ☆ one two", "  │ three"]
    assert [each.text for each in folded(Line((("one two three", ""),)), 9)] == ["one two", "│ three"]


@settings(deadline=None)
@given(WORDS, WORDS, st.integers(16, 60))
def test_a_text_hangs_behind_its_sign_and_ends_with_whose_it_is(text: str, whose: str, width: int) -> None:
    lines = list(hanging(("  › ", "odd"), text, "", whose, width))
    assert lines[0][0] == ("  › ", "odd")
    assert all(cell_len("".join(part for part, _ in parts)) <= width for parts in lines)
    if whose:
        assert lines[-1][-1][1] == "muted"


@settings(deadline=None)
@given(PARTS, st.lists(PARTS, max_size=3), WORDS, st.integers(8, 60))
def test_a_frame_is_as_wide_as_it_should_be(title: list[Part], rows: list[list[Part]], foot: str, width: int) -> None:
    lines = framed(tuple(title), [Line(tuple(row)) for row in rows], foot, width)
    assert {cell_len(line.text) for line in lines} == {width}


@settings(deadline=None)
@given(st.lists(PARTS, max_size=4), st.booleans())
def test_lines_are_printed_as_rich_prints_them(rows: list[list[Part]], colours: bool) -> None:
    printed, expected = (
        Console(file=io.StringIO(), width=400, force_terminal=colours, highlight=False, color_system="256")
        for _ in range(2)
    )
    write = line_printer(printed)
    for row in rows:
        line = Line(tuple((text.replace("\t", " "), look) for text, look in row))
        write(line)
        expected.print(line, no_wrap=True)
    assert _plain(printed) == _plain(expected)


@settings(deadline=None)
@given(PARTS, st.integers(8, 60))
def test_a_line_on_a_terminal_keeps_to_its_width(parts: list[Part], width: int) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, highlight=False)
    line_printer(console)(Line(tuple(parts)))
    assert all(cell_len(Text.from_ansi(each).plain) <= width for each in _output(console).split("\n"))


def test_what_is_cut_off_has_an_ellipsis_in_its_place_and_what_fits_stays_whole() -> None:
    def text(width: int, *words: str) -> str:
        return Line(cut([(word, "") for word in words], width)).text

    assert text(5, "abcd", "e") == "abcde"
    assert text(5, "abcd", "efg") == "abcd…"
    assert text(5, "abcde", "f") == "abcd…"
    assert text(5, "abcde", "  ", "") == "abcde", "spaces are not missed"
    assert text(4, "日本", "語") == "日…"
    assert text(1, "a", "b") == "…"
    assert text(0, "a", "b") == ""


def test_a_printed_line_has_the_looks_of_its_parts() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, highlight=False, color_system="256")
    line_printer(console)(Line((("a", "strong"), ("b", ""), ("c", "added strong"))))
    assert _output(console) == "\x1b[1ma\x1b[0mb\x1b[1;32mc\x1b[0m\n"


def _output(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _plain(console: Console) -> str:
    """The text alone: Rich joins the escape sequences of neighbours that look the same."""
    return re.sub("\x1b\\[[0-9;]*m", "", _output(console))


def test_a_bar_can_be_read_without_colours() -> None:
    console = Console(color_system=None, width=40)
    with console.capture() as captured:
        console.print(Line(progress_bar(1, 4, 8)))
    assert captured.get() == "━━──────\n"
    assert [text for text, _ in progress_bar(999, 1_000, 10)] == ["━" * 9, "━"], "only all of it looks full"
    assert [text for text, _ in progress_bar(1, 1_000, 10)] == ["━", "━" * 9], "only none of it looks empty"


def test_every_status_has_a_look() -> None:
    for look in STATUS_LOOKS:
        assert look in LOOKS
        assert text_look(look) in LOOKS


def test_one_colour_is_for_what_needs_a_person_and_what_stopped_is_grey() -> None:
    assert [name for name, (_, rule) in LOOKS.items() if "warning" in rule] == ["waiting"]
    assert [name for name, (style, _) in LOOKS.items() if "yellow" in style] == ["waiting"]
    assert LOOKS["stopped"] == LOOKS["muted"]


# -- plans in print


def test_a_printed_plan_has_the_numbers_and_ids_that_commands_take() -> None:
    """A step that comes later has another id than number; what people say goes by its own."""
    first = ItemsPlan("main", (Entry("Read", "high", "completed"), Entry("Ship", "medium", "pending")))
    between = ItemsPlan("main", (first.entries[0], Entry("Write", "medium", "in_progress"), first.entries[1]))
    events: list[Event] = [
        PlanSet(first, "People notice it.", via=ACP),
        PlanSet(between, via=ACP),
        Remarked("main", SUGGESTION, changes=(RewordStep("s2", "Ship it"), AddStep("Rest"))),
        Remarked("main", "comment", "soon", 2, "s2"),
        Remarked("main", "comment", "nice", 2, kept=True),
        Remarked("main", "comment", "never mind", 2),
        RemarkClosed("main", "r4", "withdrawn"),
        Told("prompt", 5, remarks=("r2",)),
    ]
    [card] = cards_of(fold_all("s", [Recorded("s", n, 0, "user", event) for n, event in enumerate(events, 1)]))
    lines = [line.text.strip("│").rstrip() for line in boxed_lines(card, 60, 0)]
    assert lines[0].startswith("╭─ Plan  main  ━━━━━━━━━━━━━━━━━━━━━━━━  1/3 ──")
    assert lines[1:-1] == [
        "  Why       People notice it.",
        "",
        " 1 s1  ✔ Read  high",
        " 2 s3  ▶ Write",
        " 3 s2  ○ Ship",
        "         ☆ → Ship it   r1 · you, just now · Queued",
        "         › soon   r2 · you, just now · Delivered just now",
        "       ☆ Rest   new step · r1 · you, just now · Queued",
        "",
        "  Comment   nice",
        "            r3 · you, just now · kept in force · Queued",
        "            Not seen yet: the agent will see it with the",
        "          │ next prompt in the editor.",
        "  ▸ 1 closed   planwire show --all",
    ]
    assert "version 2 · revision 2 · just now" in lines[-1]


def test_only_countable_steps_are_counted() -> None:
    [card] = cards_of(track(ItemsPlan("p", (Entry("Skip", "medium", "cancelled"),))))
    assert next(iter(card_lines(card, 80, 0))).text == " p  1 cancelled"


@pytest.mark.parametrize("width", [30, 90, UNBOUNDED])
@pytest.mark.parametrize(("number", "about"), [(2, "2. Delete it"), (3, "care.")])
def test_a_comment_stands_below_the_words_that_it_is_about(width: int, number: int, about: str) -> None:
    """Also where a text is drawn with its title: a long one, or in a pipe."""
    text = "# Delete the database\n\n1. Back it up\n2. Delete it\n\nIt is old. Delete it with care."
    read = reading(text)
    start = occurrences(read, "Delete")[number - 1]
    comment = Remarked("p", COMMENT, "why?", 1, passage=passage_at(read, start, start + 6))
    card = card_of("p", ("agent", PlanSet(MarkdownPlan("p", text))), ("ann", comment))
    for drawn in (card_lines(card, width, 0), boxed_lines(card, width, 0)):
        lines = [line.text.strip("│ ") for line in drawn]
        at = next(at for at, line in enumerate(lines) if line.startswith("› why?"))
        assert lines[at - 1].endswith(about)


PLANS = (
    st.builds(ItemsPlan, WILD, st.lists(st.builds(Entry, WILD, WILD, WILD), max_size=4).map(tuple))
    | st.builds(MarkdownPlan, WILD, WILD | st.just("# a\n- [x] b"))
    | st.builds(OtherPlan, WILD, WILD, st.dictionaries(WILD, WILD, max_size=2))
)


@settings(max_examples=150, deadline=None)
@given(PLANS, WILD, st.integers(30, 120), st.none() | st.integers(3, 30))
def test_no_printed_line_is_too_wide_or_holds_what_a_terminal_obeys(
    plan: ItemsPlan | MarkdownPlan | OtherPlan, words: str, width: int, height: int | None
) -> None:
    events: list[Event] = [
        PlanSet(plan, words, via=ACP),
        Remarked(plan.id, SUGGESTION, words, changes=(RewordStep("s1", words),)),
        PlanReviewed(plan.id, 1, words, answer=words),
        *(
            Remarked(plan.id, "comment", words, 1, step, about)
            for step in ("s1", None)
            for about in (Passage(words), None)
        ),
        Remarked(plan.id, "selection", words, 1, steps=("s1", words)),
        RemarkClosed(plan.id, "r2", words, words),
        RemarkAnswered(plan.id, "r3", words),
    ]
    state = fold_all("s", [Recorded("s", n, 0, words, event) for n, event in enumerate(events, 1)])
    for card in (*cards_of(state), *cards_of(track(plan))):
        for line in boxed_lines(card, width, 0, ("s1",), height, closed=True):
            assert cell_len(line.text) == width
            assert printable(line.text) == line.text
            assert "\n" not in line.text


def test_a_session_is_called_the_same_and_is_as_old_on_a_screen_and_in_print() -> None:
    opened = Recorded("s1", 1, 0, "agent", SessionOpened("codex", None, "/p", " "))
    glance = overview(fold_all("s1", [opened]), 0, 0)
    for now, aged in ((59_999, "now"), (60_000, "1 min"), (119_999, "1 min")):
        [heading, facts] = heading_lines(glance, now)
        [first, _] = session_rows(glance, 60, session_age(glance, now))
        assert first.text.startswith(" ▶ s1  ")
        assert first.text.endswith(f" {aged}")
        assert heading.text == "▶ s1"
        assert facts.text.endswith("just now" if aged == "now" else f"{aged} ago")
