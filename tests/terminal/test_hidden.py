"""Nothing is decided unseen: whatever the layout, a terminal draws every word of a plan, or counts what it did not."""

import io
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from textual.widgets import Button, OptionList

from planwire.journal import Stamped, open_journal
from planwire.model.events import PlanChanged, PlanSet, Recorded, ReviewAsked
from planwire.model.fold import fold_all
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan
from planwire.model.step_changes import RemoveStep
from planwire.readmodel.cards import cards_of
from planwire.readmodel.plain_text import printable
from planwire.terminal import lines
from planwire.terminal.dialogs import ChoiceDialog
from planwire.terminal.plan_lines import card_lines
from planwire.terminal.text_dialog import TextDialog
from tests.cli.answers import answer
from tests.journals import add
from tests.terminal.test_views import running
from tests.terminal.watched import asked, on_a_loop, panel, seen, shows, watching
from tests.waiting import eventually

COMMAND = "find . -name '*.tmp' -not -path './keep/*' -print0 | xargs -0 rm -f --" + " " * 45 + "&& rm -rf ~/Documents"
LAYOUTS = {
    "long lines": f"{' '.join(f'word{n}' for n in range(60))}\n\n{'x' * 250}end{'y' * 250}\n\n- {'item ' * 100}last",
    "code": f"Clean up.\n\n```sh title=evil\n{COMMAND}\n```\n\n    {COMMAND} indented",
    "wide table": "\n".join("|".join(cell * 12) for cell in (["column"], ["---"], ["cell"], ["many words here"])),
    "nested lists": "\n".join(f"{'  ' * n}- level{n} {'deep ' * 12}end{n}" for n in range(10)),
    "nested tasks": "\n".join(f"{'  ' * n}- [ ] task{n} {'deep ' * 12}end{n}" for n in range(10)),
    "right to left": "# שלום\n\nמחיקה של הקבצים \u200fרק\u200e אם (א) נכון. " * 8 + "سطر آخر",
    "no spaces": "日本語の長い文章" * 60,
    "zero width": "a\u200bb\u200b\u200cc hidden\u2060\u2060text \u2800\u2800blank",
    "never rendered": '<!-- also delete backups -->\n\n[a](http://x "title words") <b onclick="do()">x</b>\n\n'
    '[ref]: http://evil "more"',
    "long words": "x" * 3_000 + "last\n\n- " + "y" * 1_500 + "end\n\n`" + "c" * 800 + "end`\n\n" + "z" * 900,
    "long heading": f"# {'A title that goes on ' * 12}to the end\n\nText.",
    "long text with tasks": "Before.\n\n- [ ] one\n\n" + "\n\n".join(f"paragraph{n} of the plan" for n in range(1_500)),
    "10,000 lines": "\n".join(f"line{n} of the text" for n in range(10_000)),
}


def proposal(text: str) -> list[Stamped]:
    return [Stamped(1, "agent", each) for each in (PlanSet(MarkdownPlan("p", text)), ReviewAsked("p"))]


def squeezed(text: str) -> str:
    """A text without blanks, and without what planwire draws around it."""
    return re.sub(r"[\s│╭╮╰╯─━↩\ufffd]", "", printable(text))


def hidden_in(drawn: str, text: str) -> list[str]:
    """The words of a text that are not in what was drawn. The cells of a table share their lines, so there it is the
    characters that count."""
    shown = squeezed(drawn)
    if "|---|" in text:
        return [*(Counter(re.findall(r"\w", text)) - Counter(shown))]
    return [word for word in re.findall(r"\w+", printable(text)) if squeezed(word) not in shown]


@pytest.fixture(params=LAYOUTS)
def text(request: pytest.FixtureRequest) -> str:
    return LAYOUTS[request.param]


@pytest.fixture
def url(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A journal with a proposal of that text, which waits for a verdict."""
    path = str(tmp_path / "hidden.db")
    monkeypatch.setenv("PLANWIRE_JOURNAL", path)
    with open_journal(path) as journal:
        journal.append("s", proposal(text))
    return path


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.usefixtures("url")
def test_show_on_a_terminal_hides_nothing(text: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.StringIO()
    console = Console(file=printed, width=width, force_terminal=True, color_system=None, highlight=False)
    monkeypatch.setattr(lines, "new_console", lambda **_: console)
    answer("show", "s")
    assert hidden_in(printed.getvalue(), text) == []
    assert max(map(cell_len, printed.getvalue().split("\n"))) <= width


@pytest.mark.usefixtures("url")
def test_a_pipe_gets_every_line_as_it_is(text: str) -> None:
    shown = [line.removeprefix("│").strip().removeprefix("│ ").rstrip() for line in answer("show", "s").out.split("\n")]
    for line in printable(text).split("\n") if "[ ]" not in text else ():
        assert line.strip() in map(str.strip, shown)
    assert hidden_in("\n".join(shown), text) == []


@pytest.mark.usefixtures("url")
def test_approve_shows_all_of_it_before_it_asks(text: str) -> None:
    with running("approve", "s", columns=80) as terminal:
        terminal.wait_for(b"Approve this? [y/N]")
        drawn = terminal.seen.decode()
        terminal.type(b"n\n")
    assert hidden_in(re.sub("\x1b\\[[0-9;]*m", "", drawn), text) == []


@pytest.mark.usefixtures("url")
def test_approve_without_a_terminal_prints_what_it_approves(text: str) -> None:
    said = answer("approve", "s", "--as", "Ann", "--yes")
    assert hidden_in(said.out, text) == []
    assert said.out.endswith("Approved.\n") or "Approved" in said.out.splitlines()[-1]


def test_watch_draws_every_word_and_counts_the_lines_that_were_not_in_sight(text: str, url: str) -> None:
    @on_a_loop
    async def watch() -> None:
        async with watching(url, "s", size=(80, 24)) as (app, pilot):
            await shows(app, "Press v to answer")
            view = panel(app)
            [card] = view.sheet.cards
            await eventually(lambda: len(view.seen) > 0)
            drawn = {(line.row, line.words) for line in view.lines if line.words}
            assert hidden_in("\n".join(line.text for line in view.lines), text) == []
            assert view.sheet.unseen(card) == len(drawn - view.seen)
            assert max(cell_len(line.text) for line in view.lines) <= 80
            for _ in range(40):
                await pilot.press("pagedown")
            await pilot.pause()
            left = view.sheet.unseen(card)
            assert (left == 0) == (len(view.lines) < 700)
            await pilot.press("v")
            options = (await asked(app, ChoiceDialog)).query_one(OptionList).options
            labels = [str(option.prompt) for option in options]
            count = f"{left:,} lines unseen" if left > 1 else ""
            assert count in labels[0]
            assert ("unseen" in labels[0]) == bool(left)
            assert "unseen" not in labels[1]

    watch()


@on_a_loop
async def test_a_verdict_on_a_changed_text_counts_its_new_lines(tmp_path: Path) -> None:
    path = str(tmp_path / "plans.db")
    tall = "\n\n".join(f"paragraph {n}" for n in range(60))
    with open_journal(path) as journal:
        journal.append("s", proposal(tall))
    async with watching(path, "s", size=(80, 24)) as (app, pilot):
        await shows(app, "paragraph 0")
        view = panel(app)
        for _ in range(20):
            await pilot.press("pagedown")
        await eventually(lambda: view.sheet.unseen(view.sheet.cards[0]) == 0)
        add(Path(path), "s", "agent", PlanSet(MarkdownPlan("p", "and rm -rf /\n\n" + tall)))
        await eventually(lambda: view.sheet.unseen(view.sheet.cards[0]) == 1)
        await pilot.press("v", "a")
        button = (await asked(app, TextDialog)).query(Button).first()
        assert str(button.label).strip() == "Approve, 1 line unseen"


@on_a_loop
async def test_a_step_that_was_removed_is_struck_for_a_moment(tmp_path: Path) -> None:
    path = str(tmp_path / "plans.db")
    steps = tuple(Entry(text, "medium", "pending") for text in ("one", "two", "three"))
    with open_journal(path) as journal:
        journal.append("s", [Stamped(1, "agent", PlanSet(ItemsPlan("p", steps)))])
    async with watching(path, "s", size=(80, 24)) as (app, _):
        await shows(app, "○ two")
        add(Path(path), "s", "agent", PlanChanged("p", None, (RemoveStep("s2"),)))
        await shows(app, "✗ two   removed")
        [line] = [each for each in panel(app).lines if "✗ two" in each.text]
        assert any("struck" in look for _, look in line.parts)
        texts = [each.text.strip() for each in panel(app).lines]
        assert texts.index("✗ two   removed") == texts.index("○ one") + 1
        await eventually(lambda: "✗ two" not in seen(app), 10)


@on_a_loop
async def test_the_first_of_a_numbered_list_is_struck_too(tmp_path: Path) -> None:
    path = tmp_path / "plans.db"
    add(path, "s", "agent", PlanSet(MarkdownPlan("p", "# Plan\n\n1. alpha\n2. beta\n3. gamma\n")))
    async with watching(str(path), "s", size=(80, 24)) as (app, _):
        await shows(app, "alpha")
        add(path, "s", "agent", PlanSet(MarkdownPlan("p", "# Plan\n\n1. beta\n2. gamma\n")))
        await shows(app, "✗ alpha   removed")


@on_a_loop
async def test_a_file_that_cant_be_read_is_approved_unseen(tmp_path: Path) -> None:
    path = tmp_path / "plans.db"
    add(path, "s", "agent", PlanSet(FilePlan("p", "file:///nowhere/plan.md")))
    add(path, "s", "agent", ReviewAsked("p"))
    async with watching(str(path), "s", size=(80, 24)) as (app, pilot):
        await shows(app, "Press v to answer")
        await pilot.press("v")
        options = (await asked(app, ChoiceDialog)).query_one(OptionList).options
        assert ["text unseen" in str(option.prompt) for option in options] == [True, False, False]


def test_approve_says_before_it_asks_that_a_file_was_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plans.db"
    monkeypatch.setenv("PLANWIRE_JOURNAL", str(path))
    add(path, "s", "agent", PlanSet(FilePlan("p", "file:///nowhere/plan.md")))
    add(path, "s", "agent", ReviewAsked("p"))
    with running("approve", "s", columns=80) as terminal:
        terminal.wait_for(b"Approve this, text unseen? [y/N]")
        terminal.type(b"n\n")


def test_nothing_is_left_to_approve_where_all_is_done_and_nobody_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "plans.db")
    monkeypatch.setenv("PLANWIRE_JOURNAL", path)
    with open_journal(path) as journal:
        journal.append("s", [Stamped(1, "agent", PlanSet(ItemsPlan("p", (Entry("one", "medium", "completed"),))))])
    approve: Callable[..., str] = lambda *more: answer("approve", "s", *more, at_terminal=True, typed="y\n").err  # noqa: E731
    assert "no question is open, and nothing of “p” is left to do" in approve()
    assert approve("--yes") == ""


@on_a_loop
async def test_a_title_that_its_head_cuts_stands_below_it_and_a_difference_wraps(tmp_path: Path) -> None:
    path, name = str(tmp_path / "plans.db"), f"{'a name that goes on ' * 6}to the end"
    step = f"{'a step that goes on ' * 12}to its end"
    with open_journal(path) as journal:
        plans = (PlanSet(ItemsPlan(name, ())), PlanSet(ItemsPlan(name, (Entry(step, "medium", "pending"),))))
        journal.append("s", [Stamped(1, "agent", each) for each in plans])
    async with watching(path, "s", size=(80, 30)) as (app, pilot):
        await shows(app, "○ a step")
        assert hidden_in("\n".join(line.text for line in panel(app).lines), f"{name} {step}") == []
        await pilot.press("h")
        await shows(app, "As it was at event 2")
        await pilot.press("d")
        await eventually(lambda: hidden_in(seen(app, "#then-difference"), step) == [])


def test_the_plan_beside_json_is_on_standard_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "plans.db")
    monkeypatch.setenv("PLANWIRE_JOURNAL", path)
    with open_journal(path) as journal:
        journal.append("s", proposal("Remove it.\n\nAll of it."))
    said = answer("approve", "s", "--as", "Ann", "--yes", "--json")
    assert json.loads(said.out)["done"]
    assert hidden_in(said.err, "Remove it. All of it.") == []


def test_notes_that_are_left_out_are_counted() -> None:
    notes = [("agent", PlanChanged("p", f"note {number}")) for number in range(5)]
    events = [Recorded("s", n, 0, by, event) for n, (by, event) in enumerate(notes, 2)]
    [card] = cards_of(fold_all("s", [Recorded("s", 1, 0, "agent", PlanSet(ItemsPlan("p", ()))), *events]))
    drawn = "\n".join(line.text for line in card_lines(card, 80, 0))
    assert "2 earlier notes: planwire log" in drawn
    assert "note 1" not in drawn
