"""PlanPanel, in a Textual program: what it shows, what it draws, and what it leaves alone."""

import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from planwire import Board, Entry, ItemsPlan, MarkdownPlan, OtherPlan, track
from planwire.cli.recording import read_recording
from planwire.model.events import (
    ACP,
    CHANGES_REQUESTED,
    SUGGESTION,
    Choice,
    Comment,
    Event,
    Passage,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    ReviewAsked,
    TurnEnded,
)
from planwire.model.step_changes import AddStep, RemoveStep, RewordStep, SetStatus
from planwire.model.steps import PlanState
from planwire.readmodel.cards import cards_of
from planwire.readmodel.plain_text import printable
from planwire.terminal.panel import PlanPanel
from planwire.terminal.plan_lines import card_lines
from planwire.terminal.step_lines import Shown
from tests.deciding import fold_all
from tests.journals import HOSTILE, items
from tests.terminal.watched import on_a_loop
from tests.waiting import eventually

CONVERSATIONS = Path(__file__).parents[1] / "conversations"
EXAMPLE = Path(__file__).parents[2] / "examples" / "textual_client.py"


class Client(App[None]):
    """A program with a panel."""

    def __init__(self) -> None:
        super().__init__()
        self.clicked: list[tuple[object, str]] = []

    def compose(self) -> ComposeResult:
        yield PlanPanel()

    def on_plan_panel_step_clicked(self, event: PlanPanel.StepClicked) -> None:
        self.clicked.append((event.plan_id, event.step))


@asynccontextmanager
async def panel_of(width: int = 80, height: int = 24) -> AsyncIterator[tuple[PlanPanel, "Pilot[None]"]]:
    app = Client()
    async with app.run_test(size=(width, height)) as pilot:
        panel = app.query_one(PlanPanel)
        panel.focus()
        await pilot.pause()
        yield panel, pilot


def seen(panel: PlanPanel) -> str:
    return "\n".join(line.text for line in panel.in_sight())


def long_plan(current: int, count: int = 2_000) -> PlanState:
    status = ["completed"] * current + ["in_progress"] + ["pending"] * (count - current - 1)
    return track(ItemsPlan("long", tuple(Entry(f"step {n}", "medium", each) for n, each in enumerate(status))))


async def drawn_by(panel: PlanPanel, pilot: "Pilot[None]", change: Callable[[], object]) -> int:
    await pilot.pause()
    before = panel.drawn
    change()
    await pilot.pause()
    await pilot.pause()  # whatever might still be drawn
    return panel.drawn - before


# -- what is shown


@on_a_loop
async def test_progress_priorities_and_odd_words_are_shown() -> None:
    entries = (
        Entry("Read", "high", "completed"),
        Entry("Write", "medium", "in_progress"),
        Entry("Check", "low", "pending"),
        Entry("Skip", "medium", "cancelled"),
        Entry("Wait", "_urgent", "blocked"),
    )
    async with panel_of() as (panel, _):
        panel.show(track(ItemsPlan("main", entries)))
        text = seen(panel)
        assert "Plan  ━━━━━━━━━━  1 / 4  1 cancelled" in text
        for line in ("✔ Read  high", "▶ Write", "○ Check  low", "✗ Skip", "? Wait  blocked  _urgent"):
            assert line in text


@on_a_loop
async def test_the_why_is_shown_with_who_and_when() -> None:
    events: list[Event] = [
        PlanSet(items(None, "completed", "in_progress", "pending"), "People notice it.", via=ACP),
        Remarked(None, SUGGESTION, "soon", changes=(AddStep("Check the logout"),)),
        PlanReviewed(None, 2, CHANGES_REQUESTED),
        Remarked(None, "comment", "Small commits", 2, "s3"),
        Remarked(None, "request", "Nearly", 2),
        Remarked(None, "selection", "", 2, steps=("s2",)),
        PlanSet(items("notes", "pending")),
        PlanChanged("notes", "the cookie is not sent", (SetStatus("s1", "in_progress"),)),
        PlanRemoved("gone"),
    ]
    recorded = [Recorded("s", n, 1_000 * n, "user", event) for n, event in enumerate(events, 1)]
    async with panel_of(100) as (panel, _):
        panel.show(fold_all("s", recorded))
        text = seen(panel)
        for words in (
            "Why       People notice it.",
            "☆ Check the logout   new step · “soon” · you, ",
            "▶ Write a test  ▸ to run",
            "Changes   Nearly   you, ",
            "To run    Write a test   you, ",
            "› Small commits   you, ",
            "Note      the cookie is not sent   you, ",
        ):
            assert words in text
        panel.show(fold_all("s", [*recorded, Recorded("s", 10, 10_000, "agent", TurnEnded("cancelled"))]))
        assert "■ Write a test  stopped" in seen(panel)


@on_a_loop
async def test_markdown_is_rendered_and_its_tasks_are_steps() -> None:
    text = (
        "# Parser\n\nThe **old** one reads `twice`.\n\n- [x] lexer\n  - [~] numbers\n\n    Harder than it looks.\n"
        "- [ ] grammar\n- [-] macros\n\n## Risks\n\n```\n- [ ] this is code\n```\n"
    )
    async with panel_of() as (panel, _):
        panel.show(track(MarkdownPlan("todo", text)))
        lines = [line.text.rstrip() for line in panel.in_sight() if line.text.strip()]
        assert lines[0].startswith(" Parser  ━━━"), "its heading is its title, and not there twice"
        assert "1 / 3" in lines[0]
        assert lines[1:] == [
            "  │ The old one reads twice.",
            "  ✔ lexer",
            "    ▶ numbers",
            "      │ Harder than it looks.",
            "  ○ grammar",
            "  ✗ macros",
            "  │ Risks",
            "  │   - [ ] this is code",
        ]


@on_a_loop
async def test_plans_of_every_kind_are_shown() -> None:
    async with panel_of() as (panel, _):
        panel.show({})
        assert "no plan yet" in seen(panel)
        panel.show({"a": track(OtherPlan("a", "graph", {"nodes": [1]})), "b": track(ItemsPlan("b", ()))})
        text = seen(panel)
        assert " a  graph" in text
        assert '"nodes": [' in text
        assert "nothing on the list" in text


@on_a_loop
async def test_a_client_shows_what_the_board_says() -> None:
    """R4, R12, R17"""
    recording = CONVERSATIONS / "claude-agent-acp-0.99.0-tasktools.jsonl"
    board = Board()
    async with panel_of() as (panel, _):
        for line in read_recording(str(recording)):
            panel.apply(board.apply(line.line.decode(), line.sender))
        [session] = board.sessions.values()
        assert panel.session == session.id
        assert [card.state for card in panel.cards] == list(session.plans.values())
        assert "2 / 2" in seen(panel)
        other = board.apply(
            '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":'
            '{"sessionUpdate":"plan","entries":[{"content":"not ours","priority":"low","status":"pending"}]}}}'
        )
        assert other
        assert not panel.apply(other)
        assert "not ours" not in seen(panel)


# -- what is drawn


@on_a_loop
async def test_an_update_that_changes_nothing_draws_nothing() -> None:
    async with panel_of() as (panel, pilot):
        panel.show(track(items("main", "completed", "in_progress", "pending")))
        again = track(items("main", "completed", "in_progress", "pending"))
        assert await drawn_by(panel, pilot, lambda: panel.show(again)) == 0
        assert await drawn_by(panel, pilot, panel.update_lines) == 0


@on_a_loop
async def test_only_the_lines_that_changed_are_drawn() -> None:
    async with panel_of() as (panel, pilot):
        panel.show(long_plan(1_000))
        assert await drawn_by(panel, pilot, lambda: panel.show(long_plan(1_001))) == 3  # two steps and the progress


@on_a_loop
async def test_of_a_long_plan_only_what_is_in_sight_is_drawn() -> None:
    async with panel_of(80, 20) as (panel, pilot):
        assert await drawn_by(panel, pilot, lambda: panel.show(long_plan(1_234))) <= 3 * 20
        assert len(panel.lines) == 2_001
        text = seen(panel)
        assert text.startswith(" long  ━"), "the progress stays in sight"
        assert "1,234 / 2,000" in text
        assert "▶ step 1234" in text
        panel.show(long_plan(1_999))
        assert "1,999 / 2,000" in seen(panel)
        assert "%" not in seen(panel), "the bar and the count say it already"


@on_a_loop
async def test_what_changed_is_pointed_at() -> None:
    async with panel_of() as (panel, _):
        panel.show(track(items("main", "completed", "in_progress")))
        assert "●" not in seen(panel)
        panel.show(track(items("main", "completed", "completed", "in_progress")))
        assert "✔ Read the code\n" in seen(panel) + "\n"
        assert "✔ Write a test  ●" in seen(panel)
        assert "▶ Mend it  ●" in seen(panel)


@on_a_loop
async def test_colours_are_those_of_the_theme() -> None:
    async with panel_of() as (panel, pilot):
        panel.show(track(items("main", "in_progress")))

        def colour() -> str:
            return str(next(each.style.color for each in panel.render_line(1) if each.style and "▶" in each.text))

        dark = colour()
        pilot.app.theme = "textual-light"
        await pilot.pause()
        assert colour() != dark


# -- what people do


@on_a_loop
async def test_the_current_step_is_followed_until_a_person_looks_around() -> None:
    async with panel_of(80, 20) as (panel, pilot):
        panel.show(long_plan(100))
        await pilot.press("home")
        await eventually(lambda: "step 0" in seen(panel))  # Textual scrolls when it has drawn
        panel.show(long_plan(500))
        await pilot.pause()
        assert "step 0" in seen(panel)
        await pilot.press("c")
        assert "▶ step 500" in seen(panel)
        panel.show(long_plan(900))
        await pilot.pause()
        assert "▶ step 900" in seen(panel)
        await pilot.resize_terminal(60, 10)
        await eventually(lambda: panel.size.height == 10)
        assert "▶ step 900" in seen(panel)


@on_a_loop
async def test_a_click_on_a_step_is_told() -> None:
    async with panel_of() as (panel, pilot):
        panel.show(track(items("main", "completed", "in_progress")))
        await pilot.click(PlanPanel, offset=(5, 2))
        await pilot.click(PlanPanel, offset=(5, 0))
        await pilot.click(PlanPanel, offset=(5, 9))
        assert isinstance(pilot.app, Client)
        assert pilot.app.clicked == [("main", "s2")]


@on_a_loop
async def test_a_plan_that_is_removed_leaves_the_panel() -> None:
    board = Board()

    def line(update: str) -> str:
        return f'{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}'

    async with panel_of() as (panel, _):
        text = '{"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"p","content":"- [~] a"}}'
        panel.apply(board.apply(line(text)))
        assert "▶ a" in seen(panel)
        panel.stopped = True
        assert "■ a  stopped" in seen(panel)
        panel.apply(board.apply(line('{"sessionUpdate":"plan_removed","planId":"p"}')))
        assert "no plan yet" in seen(panel)


@on_a_loop
async def test_a_session_without_plans_does_not_show_those_of_the_session_before() -> None:
    journalled = fold_all("s", [Recorded("s", 1, 0, "agent", PlanSet(MarkdownPlan("p", "- [~] a"), via=ACP))])
    async with panel_of() as (panel, _):
        panel.show(journalled)
        assert "▶ a" in seen(panel)
        panel.show(fold_all("other", []))
        assert seen(panel).strip() == "no plan yet"


# -- whatever an agent sends

WORDS = st.text(max_size=60) | st.sampled_from([HOSTILE, "日本語" * 30, "👍🏽 " * 20, "a" * 300, "- [ ] x\n" * 4])
ITEMS = st.lists(st.builds(Entry, WORDS, WORDS | st.just("high"), WORDS | st.just("pending")), max_size=6)
PLANS = st.builds(ItemsPlan, WORDS, ITEMS.map(tuple)) | st.builds(MarkdownPlan, WORDS, WORDS | st.just("# a\n- [x] b"))


@settings(max_examples=150, deadline=None)
@given(PLANS, st.integers(30, 200), st.booleans())
def test_no_line_is_too_wide_or_holds_what_a_terminal_obeys(
    plan: ItemsPlan | MarkdownPlan, width: int, stopped: bool
) -> None:
    [card] = cards_of(track(plan), stopped=stopped)
    for line in card_lines(card, width, 0):
        assert cell_len(line.text) <= width
        assert printable(line.text) == line.text
        assert "\n" not in line.text


@settings(max_examples=100, deadline=None)
@given(PLANS, st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=3), st.integers(30, 200))
def test_what_people_suggest_and_say_is_as_harmless_and_as_wide(
    plan: ItemsPlan | MarkdownPlan, said: list[tuple[str, str]], width: int
) -> None:
    events: list[Event] = [PlanSet(plan, via=ACP)]
    for step, words in said:
        changes = (
            AddStep(words),
            AddStep(words, "s1"),
            RewordStep("s1", words),
            SetStatus("s2", words),
            RemoveStep(step),
        )
        events.append(Remarked(plan.id, SUGGESTION, words, changes=changes))
        events.append(PlanReviewed(plan.id, 1, words, answer=words))
        events.append(Remarked(plan.id, "comment", words, 1, "s1", kept=True))
        events += (
            Remarked(plan.id, kind, words, 1, passage=Passage(words) if words else None)
            for kind in ("comment", "request", words)
        )
        events.append(Remarked(plan.id, "selection", "", 1, steps=("s1", step)))
        events.append(RemarkAnswered(plan.id, f"r{len(events) - 2}", words))
        events.append(RemarkClosed(plan.id, "r2", words, words))
    events.append(ReviewAsked(plan.id, tuple(Choice("", words) for _, words in said)))
    state = fold_all("s", [Recorded("s", n, 0, "user", event) for n, event in enumerate(events, 1)])
    [card] = cards_of(state)
    marked = frozenset(row.id for row in card.rows)
    drafts = (Comment(said[0][1] or "x", "s1"), Comment("x", passage=Passage(said[0][1])), Comment(said[0][0] or "x"))
    lines = list(card_lines(card, width, 0, Shown(marked, marked, frozenset(), drafts, closed=True)))
    for line in lines:
        assert cell_len(line.text) <= width
        assert printable(line.text) == line.text
        assert "\n" not in line.text
    shown = sum(line.text.count("☆") for line in lines if line.row and line.row[0] == "remark")
    assert shown >= len(said), "no suggestion is lost from sight"


def test_a_session_can_be_known_in_several_ways() -> None:
    board = Board()
    board.apply(
        '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan_update",'
        '"plan":{"type":"markdown","planId":"p","content":"- [ ] a"}}}}'
    )
    state = board.sessions["s"].plans["p"]
    journalled = fold_all("s", [Recorded("s", 1, 0, "agent", PlanSet(MarkdownPlan("p", "- [ ] a"), via=ACP))])
    assert cards_of(state) == cards_of({"p": state}) == cards_of(board.sessions["s"])
    assert [card.state for card in cards_of(state)] == [state]
    assert [(card.state, card.record) for card in cards_of(journalled)] == [(state, journalled.plans["p"])]


# -- the package, and the example


def test_without_textual_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['textual'] = None\nimport planwire.terminal.panel"
    result = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.strip().endswith("PlanPanel needs Textual: pip install 'planwire[terminal]'")


@pytest.mark.parametrize("source", ["a recording", "an agent"])
@on_a_loop
async def test_the_example_shows_the_plan_of_a_recording_and_of_an_agent(source: str, tmp_path: Path) -> None:
    import importlib.util

    spec = importlib.util.spec_from_file_location("textual_client", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    agent = [str(EXAMPLE.parent / "agent.py"), "--journal", str(tmp_path / "plans.db"), "--pace", "0"]
    lines = (
        example.recorded(CONVERSATIONS / "claude-agent-acp-0.99.0-tasktools.jsonl")
        if source == "a recording"
        else example.talked("read it, mend it", [sys.executable, *agent])
    )
    app = example.TextualClient(lines)
    async with app.run_test(size=(100, 24)):
        panel = app.query_one(PlanPanel)
        await eventually(lambda: panel.stopped)
        assert "2 / 2" in seen(panel)
