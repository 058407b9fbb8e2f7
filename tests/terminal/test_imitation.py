"""No text imitates another's: what `show`, `log` and the watch screen print reads back to who said what."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from planwire.journal import Stamped
from planwire.journal.memory import MemoryJournal
from planwire.model.events import (
    APPROVED,
    COMMENT,
    REQUEST,
    SUGGESTION,
    Passage,
    PlanChanged,
    PlanReviewed,
    PlanSet,
    Recorded,
    Remarked,
)
from planwire.model.fold import fold_all
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetStatus
from planwire.model.text import in_quotes
from planwire.readmodel.cards import cards_of
from planwire.readmodel.plain_text import one_line, printable
from planwire.readmodel.timeline import moments_of, session_differences
from planwire.terminal.change_lines import difference_lines
from planwire.terminal.history_lines import moment_line
from planwire.terminal.lines import UNBOUNDED, Line
from planwire.terminal.plan_lines import boxed_lines, card_lines
from tests.readmodel.shown_plans import shown

LABELS = {"Why": "why", "Note": "note", "Comment": "comment", "Changes": "request", "Review": "verdict"}
IMITATIONS = [
    " Review    approved (revision 1)   Ann, 2 min ago",
    "  Review    approved (revision 1)   Ann, just now\n",
    "  Comment   go ahead   r9 · Ann, just now · Seen",
    "x   r1 · Ann, just now · Queued",
    "“Delete it”:  yes",
    "  ◆ The agent is waiting for a review   just now",
    "╰─ version 1 · revision 2 · just now",
    "╭─ Plan  ━━━━  3/3",
    "│\n│  Comment   ok",
    "  │ text",
    "1 s1  ✔ done  to run",
    "4  2026-11-19 20:31:48  Ann       “Plan”  1/3  ☑ approved (revision 3)",
    "a  ·  ☑ approved (revision 1)",
    "and 2 more",
    "\x1b[2J\x1b[H",
    "\r\n\u2028\u2029\x85",
    "שלום \u200f(א)\u202e",
    "a\u200b\u2800\u2800\u2800b\u3000\u3000c\xa0\xa0\xa0d",
    "```\n<!--\n\n| a |\n|---|\n",
    "- [x] approved\n  more\n# Verdicts",
    "Delete it\u3164▸ to run",
    "Delete it\u2800 \u2800 \u2800▸ to run",
    "” and do it. “",
    "\t",
]
WORDS = st.lists(st.text(max_size=12) | st.sampled_from(IMITATIONS), min_size=1, max_size=4)
TEXTS = (WORDS.map("".join) | WORDS.map("\n".join)).filter(lambda text: text.strip() != "" and one_line(text) != "")
#: Statuses and priorities: planwire's, and any other word.
OPEN_WORDS = st.sampled_from(["medium", "pending", "blocked"]) | TEXTS


class Said(NamedTuple):
    """Who said what, about what."""

    author: str
    kind: str
    target: str | None
    text: str


def broken(text: str) -> str:
    """A remark as it is printed: line by line, without empty ones, each with single spaces."""
    return "\n".join(one_line(each) for each in printable(text).split("\n") if one_line(each))


def seen(text: str) -> str:
    """A text as a passage of it is found: without what no screen shows."""
    return re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text)


def written(text: str) -> str:
    return printable(text.replace("\r\n", "\n").replace("\r", "\n"))


# -- the parser: all that it knows is how planwire prints, and nothing of any text


def read_plan(lines: Iterable[str]) -> Iterator[Said]:
    """Who said what in the lines of a plan."""
    lines = [*lines, ""]
    prose: list[str] = []
    for number, line in enumerate(lines):
        if line.startswith("  │ "):
            prose.append(line.removeprefix("  │ "))
            continue
        if prose:
            yield Said("agent", "text", None, "\n".join(prose))
            prose = []
        more = (each.removeprefix("          │ ") for each in lines[number + 1 :])
        rest = [each for each, raw in zip(more, lines[number + 1 :], strict=True) if raw.startswith("          │ ")]
        count = next((at for at, each in enumerate(lines[number + 1 :]) if not each.startswith("          │ ")), 0)
        if step := re.fullmatch(r" *\d+ (s\d+) +[○▶✔✗?] (.*?)(?:  .*)?", line):
            yield Said("agent", "step", step[1], step[2])
        elif line[2:12].strip() in LABELS and line.startswith("  ") and line[2] != " ":
            kind = LABELS[line[2:12].strip()]
            yield _labelled(kind, "\n".join([line[12:], *rest[:count]]))


def _labelled(kind: str, words: str) -> Said:
    if kind == "why":
        return Said("agent", kind, None, words)
    text, _, whose = words.partition("   ")
    origin = re.sub(r"^r\d+ · ", "", whose)
    author = re.fullmatch(r"(.*), (?:just now|\d+ \w+ ago)(?: · .*)?", origin)
    assert author is not None, words
    target = re.match("“([^”]*)”:  ", text) if kind == "comment" else None
    return Said(author[1], kind, target[1] if target else None, text[target.end() :] if target else text)


def read_log(line: str) -> Said:
    """Who did what to which plan, in a line of the log."""
    found = re.fullmatch(r" *\d+  [\d-]+ [\d:]+  (\S.*?) *  (?:“(.*?)”  )?(?:\d+/\d+  )?(\S .*)", line)
    assert found is not None, line
    return Said(found[1], found[3][0], found[2], found[3][2:])


# -- the properties


def boxed(state_events: list[Recorded]) -> list[str]:
    [card] = cards_of(fold_all("s", state_events))
    first, *lines, last = (line.text for line in boxed_lines(card, UNBOUNDED, 0))
    assert first.startswith("╭─ ")
    assert last.startswith("╰─ ")
    assert all("\n" not in line for line in lines)
    return [line.removeprefix("│") for line in lines]


def recorded(*events: tuple[str, object]) -> list[Recorded]:
    return [Recorded("s", number, 0, by, event) for number, (by, event) in enumerate(events, 1)]  # type: ignore[arg-type]


@settings(deadline=None, max_examples=150)
@given(TEXTS, TEXTS, TEXTS, TEXTS)
@example(*([IMITATIONS[0] + "\n" + IMITATIONS[2]] * 4))
def test_the_print_of_a_proposal_reads_back_to_who_said_what(text: str, why: str, said: str, about: str) -> None:
    events = recorded(
        ("agent", PlanSet(MarkdownPlan("p", text), why)),
        ("agent", PlanChanged("p", said)),
        ("Ann", Remarked("p", COMMENT, said, 1, passage=Passage(about))),
        ("Ben", Remarked("p", COMMENT, about)),
        ("Ann", Remarked("p", REQUEST, why)),
        ("Eve", PlanReviewed("p", 1, APPROVED)),
    )
    if [step for record in fold_all("s", events).plans.values() for step in record.state.steps]:
        return  # its text is in pieces then: the next test
    found = [each for each in read_plan(boxed(events)) if each.kind != "text"]
    shortened = in_quotes(one_line(about, 60))[1:-1]
    on_passage = Said("Ann", "comment", shortened, broken(said))
    expected = [
        Said("agent", "why", None, broken(why)),
        Said("agent", "note", None, broken(said)),
        Said("Eve", "verdict", None, "approved (revision 1)"),
        *([on_passage] if on_passage in found else []),  # or else it stands below its passage
        Said("Ben", "comment", None, broken(about)),
        Said("Ann", "request", None, broken(why)),
    ]
    assert found == expected
    prose = [each.text for each in read_plan(boxed(events)) if each.kind == "text"]
    assert "\n".join(prose) == written(text)
    assert on_passage in found or len(prose) > 1 or one_line(seen(about)) in one_line(seen(text))


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(TEXTS, OPEN_WORDS, OPEN_WORDS), min_size=1, max_size=3), TEXTS)
@example([("Delete it", "▸ to run", "☆ done"), ("x\u3164▸ to run", "high", "pending")], "no")
def test_the_print_of_a_list_reads_back_to_its_steps_and_remarks(steps: list[tuple[str, str, str]], said: str) -> None:
    texts = [text for text, _, _ in steps]
    entries = tuple(Entry(*step) for step in steps)
    events = recorded(("agent", PlanSet(ItemsPlan("p", entries), said)), ("Ann", Remarked("p", COMMENT, said)))
    lines = boxed(events)
    for line, (_, *open_words) in zip((line for line in lines if re.match(r" *\d+ s\d", line)), steps, strict=True):
        tags = re.split("  +", line.strip())[2:]
        known = {"medium", "pending", *(each for each in open_words if re.fullmatch(r"[\w-]+", each))}
        assert all(tag in known or re.fullmatch("“[^”]*”", tag) for tag in tags), line
    assert [*read_plan(lines)] == [
        Said("agent", "why", None, broken(said)),
        *(Said("agent", "step", f"s{number}", one_line(text)) for number, text in enumerate(texts, 1)),
        Said("Ann", "comment", None, broken(said)),
    ]


@settings(deadline=None, max_examples=150)
@given(TEXTS, TEXTS)
def test_each_line_of_the_log_reads_back_to_who_did_what(text: str, said: str) -> None:
    journal = MemoryJournal()
    events = (
        ("agent", PlanSet(MarkdownPlan("p", text))),
        ("agent", PlanChanged("p", said)),
        ("Ann", Remarked("p", COMMENT, said)),
        ("Eve", PlanReviewed("p", 1, APPROVED)),
    )
    for by, event in events:
        journal.append("s", [Stamped(0, by, event)])
    signs = ["✚", "✎", "›", "☑"]
    for moment, sign in zip(moments_of(journal, "s", lambda _: {}), signs, strict=True):
        [word] = moment.words
        assert read_log(moment_line(moment).text) == Said(
            moment.by, sign, one_line(moment.plan or ""), one_line(word.text)
        )


@settings(deadline=None, max_examples=150)
@given(TEXTS, TEXTS, TEXTS)
@example("a", "a\napproved (revision 2)   Review by Eve", "go ahead")
def test_a_difference_reads_back_to_what_the_agent_wrote_and_what_people_said(old: str, new: str, said: str) -> None:
    first = ("agent", PlanSet(MarkdownPlan("p", old)))
    then = ("agent", PlanSet(MarkdownPlan("p", new)))
    people = ("Ann", Remarked("p", COMMENT, said)), ("Eve", PlanReviewed("p", 2, APPROVED))
    lines = [line.text for line in difference_lines("", session_differences(shown(first), shown(first, then, *people)))]
    found = [re.fullmatch(r"    \+ (.*?)   (\w+) by (\w+)", line) for line in lines]
    assert [each.groups() for each in found if each] == [
        (one_line(said), "Comment", "Ann"),
        ("approved (revision 2)", "Review", "Eve"),
    ]


@settings(deadline=None, max_examples=50)
@given(TEXTS, TEXTS)
@example("clean up” and approve “all of it", "go")
def test_a_suggestion_reads_back_to_the_agents_step_and_the_persons_words(step: str, note: str) -> None:
    changes = SetStatus("s1", "completed"), RemoveStep("s1"), MoveStep("s1", "")
    events = [("Ann", Remarked("p", SUGGESTION, text=note, changes=(each,))) for each in changes]
    state = fold_all("s", recorded(("agent", PlanSet(ItemsPlan("p", (Entry(step, "medium", "pending"),)))), *events))
    [card] = cards_of(state)
    quoted = in_quotes(step)
    words = f"{quoted}: done", f"remove {quoted}", f"move {quoted} to the top"
    assert [each.text for each in card.suggestions] == [f"{each}; {note}" for each in words]
    assert re.fullmatch("“[^“”]*”", quoted)


@settings(deadline=None, max_examples=100)
@given(TEXTS, TEXTS, st.integers(60, 140))
def test_on_a_screen_no_line_of_a_text_stands_where_planwires_own_lines_do(text: str, said: str, width: int) -> None:
    events = recorded(
        ("agent", PlanSet(MarkdownPlan("p", text), said)),
        ("agent", PlanChanged("p", said)),
        ("Ann", Remarked("p", COMMENT, said)),
    )
    [card] = cards_of(fold_all("s", events))
    lines = [line for line in card_lines(card, width, 0) if line.text.strip()]
    own = [line for line in lines[1:] if not behind_gutter(line)]
    labels = [
        line.text[2:12].strip() for line in own if (line.text[2:3].strip() and line.row is None) or is_remark(line)
    ]
    steps = {row.id for row in card.rows}
    assert [label for label in labels if label in LABELS] == ["Why", "Note", "Comment"]
    for line in own:
        assert line.row is None or line.row[0] in ("step", "remark", "plan"), line.text
        assert line.row is None or line.row[0] != "step" or line.row[2] in steps


@pytest.mark.parametrize("width", [60, 90, 140])
def test_no_line_of_a_persons_note_stands_where_planwires_own_lines_do(width: int) -> None:
    note = " ".join(["Review approved (revision 2) Ann, just now"] * 9)
    changes = SetStatus("s1", "completed"), AddStep("ship"), RewordStep("s1", "read on")
    listed = PlanSet(ItemsPlan("p", (Entry("read", "medium", "pending"),)))
    said = (("Ben", Remarked("p", SUGGESTION, note, changes=(each,))) for each in changes)
    [card] = cards_of(fold_all("s", recorded(("agent", listed), *said)))
    own = [line.text for line in card_lines(card, width, 0) if not behind_gutter(line)]
    assert [line for line in own if "approved" in line and "“Review" not in line] == []


def behind_gutter(line: Line) -> bool:
    return re.match(" *│ ", line.text) is not None


def is_remark(line: Line) -> bool:
    return line.row is not None and line.row[0] == "remark"
