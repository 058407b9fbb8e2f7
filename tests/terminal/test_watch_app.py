"""`planwire watch` on a terminal: the app through Textual's pilot, and once in a terminal of its own."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.command import CommandPalette
from textual.widgets import Input, OptionList

from planwire.journal import Stamped, open_journal
from planwire.model.events import ACP, PlanSet, ReviewAsked, SessionOpened, TurnEnded
from planwire.model.plan import Entry, FilePlan, ItemsPlan
from planwire.own_process import own_command
from planwire.readmodel.history import HistoryEntry
from planwire.session.named_folders import note_folders
from planwire.terminal.dialogs import DialogText, KeysDialog
from planwire.terminal.history_lines import clock, moment_rows
from planwire.terminal.history_screen import HistoryScreen
from planwire.terminal.lines_view import LinesView, RowList
from planwire.terminal.overview_screen import OverviewScreen, StateBar
from planwire.terminal.panel import PlanPanel
from planwire.terminal.session_screen import SessionScreen
from planwire.terminal.slider import Slider
from planwire.terminal.steps_panel import StepsPanel
from planwire.terminal.themes import DARK, LIGHT, terminal_is_light
from tests.journals import DAY, FIRST, HOSTILE, SECOND, THIRD, add, filled_journal, items
from tests.terminal.test_views import running
from tests.terminal.watched import DIFFERENCE, HEAD, on_a_loop, seen, shows, watching
from tests.waiting import eventually, until


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return filled_journal(tmp_path / "journal.db", str(tmp_path / "project"))


def update(journal: Path, *statuses: str, session: str = FIRST) -> None:
    add(journal, session, "agent", PlanSet(items(None, *statuses), via=ACP))


def begun(journal: Path, folder: Path, title: str = "A new one", session: str = "fresh") -> None:
    """A session begins in a folder."""
    opened = SessionOpened("new agent", None, str(folder), title)
    add(journal, session, "agent", opened, PlanSet(items("main", "pending")))


# -- the overview


@on_a_loop
async def test_the_overview_has_every_session_at_a_glance(journal: Path) -> None:
    async with watching(journal) as (app, _):
        await shows(app, "Mend the redirect", "1 / 3", "Write a test", "claude-agent-acp 0.99.0", "running")
        await shows(app, "tools", "my agent", "stopped", "Build anew", "2 / 2", "done", "/elsewhere", "3 d")
        await shows(app, "All 3  Needs you 0  Running 1  Idle 0  Stopped 1  Done 1", kind=StateBar)
        rows = app.screen.query_one(RowList)
        assert [row[1] for row in rows.cursor.rows] == [FIRST, THIRD, SECOND]


@on_a_loop
async def test_sessions_that_wait_for_a_review_come_first_and_the_others_by_the_age_that_is_shown(
    journal: Path,
) -> None:
    add(journal, "new", "agent", SessionOpened("x", None, None, "New"), PlanSet(items("main", "pending")))
    add(journal, "out", "agent", PlanSet(items("main", "pending")), TurnEnded("max_tokens"), ago=2 * DAY)
    add(journal, SECOND, "agent", ReviewAsked("main"), ago=3 * DAY)
    async with watching(journal) as (app, pilot):
        await shows(app, "Review “Plan”?", "2 / 2  needs you")
        rows = app.screen.query_one(RowList)
        assert [row[1] for row in rows.cursor.rows] == [SECOND, "new", FIRST, THIRD, "out"]
        await pilot.press("end", "enter")
        await shows(app, "■ stopped: ran out of tokens · 2 d", kind=HEAD)


@on_a_loop
async def test_who_comes_back_to_the_list_finds_the_plan_beside_it_as_it_is_now(journal: Path) -> None:
    async with watching(journal, size=(130, 30)) as (app, pilot):
        await shows(app, "1 / 3", kind=PlanPanel)
        await pilot.press("enter")
        await shows(app, "1 / 3", kind=HEAD)
        update(journal, "completed", "completed", "pending")
        await shows(app, "2 / 3", kind=HEAD)
        await pilot.press("escape")
        await shows(app, "2 / 3", kind=RowList)
        await shows(app, "2 / 3", kind=PlanPanel)


@on_a_loop
async def test_a_title_has_the_room_that_there_is(journal: Path) -> None:
    title = "Rewrite the billing pipeline for refunds"
    add(journal, "long", "agent", SessionOpened("x", None, "/far", title), PlanSet(items("main", "pending")))
    async with watching(journal, size=(120, 30)) as (app, _):
        await shows(app, f"▶ {title}", kind=RowList)
        await shows(app, "○ Read the code", kind=PlanPanel)


@on_a_loop
async def test_sessions_are_searched_and_filtered(journal: Path) -> None:
    async with watching(journal) as (app, pilot):
        rows = app.screen.query_one(RowList)
        await pilot.press("slash", *"my AGENT")
        await eventually(lambda: [row[1] for row in rows.cursor.rows] == [THIRD])
        await pilot.press(*" nothing")
        await shows(app, "No matches", "All 0")
        await pilot.press("escape")
        await eventually(lambda: len(rows.cursor.rows) == 3)
        assert app.screen.query_one(Input).value == ""
        await pilot.press("s")
        assert rows.cursor.rows == []
        await pilot.press("s")
        assert [row[1] for row in rows.cursor.rows] == [FIRST]
        await pilot.press("s", "s", "s")
        assert [row[1] for row in rows.cursor.rows] == [SECOND]
        await pilot.click(StateBar, offset=(2, 0))
        assert len(rows.cursor.rows) == 3


@on_a_loop
async def test_a_session_is_opened_with_keys_and_with_the_mouse(journal: Path) -> None:
    async with watching(journal) as (app, pilot):
        await pilot.press("down", "enter")
        await shows(app, "tools", "stopped: cancelled", kind=HEAD)
        await shows(app, "Why       People notice it.", "■ Write a test  stopped", kind=StepsPanel)
        await pilot.press("escape")
        assert isinstance(app.screen, OverviewScreen)
        await pilot.click(RowList, offset=(5, 0))
        await pilot.click(RowList, offset=(5, 1))
        await shows(app, "Mend the redirect", kind=HEAD)


@on_a_loop
async def test_a_wide_terminal_shows_the_session_beside_the_list(journal: Path) -> None:
    async with watching(journal, size=(140, 30)) as (app, pilot):
        await shows(app, "○ Mend it", kind=PlanPanel)
        await pilot.press("end")
        await shows(app, "2 / 2", kind=PlanPanel)
        await pilot.resize_terminal(90, 30)
        await eventually(lambda: not app.screen.query_one(PlanPanel).region.width)
        await pilot.press("home")
        await pilot.resize_terminal(160, 30)
        await shows(app, "○ Mend it", kind=PlanPanel)
        add(journal, "empty", "agent", SessionOpened("x", None, "/far", "Without a plan"))
        await shows(app, "Without a plan")
        await pilot.press("home")
        await eventually(lambda: not seen(app, PlanPanel).strip())


@on_a_loop
async def test_the_cursor_stays_on_its_session_when_others_change(journal: Path) -> None:
    async with watching(journal) as (app, pilot):
        rows = app.screen.query_one(RowList)
        await pilot.press("end")
        assert rows.key == SECOND
        add(journal, THIRD, "agent", PlanSet(items("main", "pending")))
        add(journal, "new", "agent", SessionOpened("x", None, None, "A new one"), PlanSet(items("main", "pending")))
        await shows(app, "A new one")
        assert rows.key == SECOND


@on_a_loop
async def test_five_hundred_sessions_are_a_list_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    with open_journal(path) as journal:
        for number in range(500):
            journal.append(f"s{number:03}", [Stamped(500_000 - number, "agent", PlanSet(items("main", "pending")))])
    async with watching(path) as (app, pilot):
        rows = app.screen.query_one(RowList)
        await eventually(lambda: len(rows.cursor.rows) == 500)
        before = rows.drawn
        await pilot.press("end")
        await shows(app, "s499")
        assert rows.drawn - before <= 3 * rows.size.height


# -- where it begins


@on_a_loop
async def test_it_begins_with_the_latest_session_of_the_folder_and_takes_up_one_that_begins(
    journal: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    async with watching(journal, here=folder) as (app, pilot):
        await shows(app, "Mend the redirect", kind=HEAD)
        add(journal, "far", "agent", SessionOpened("x", None, "/far", "Far away"), PlanSet(items("main", "pending")))
        opened = SessionOpened("new agent", None, str(folder), "A new one")
        add(journal, "fresh", "agent", opened, PlanSet(items("main", "pending")))
        await shows(app, "A new one", kind=HEAD)
        update(journal, "completed", "completed", "in_progress")
        await eventually(lambda: any(each.id == FIRST and each.done == 2 for each in app.sessions.glances()))
        await eventually(lambda: app._due is None and not app._news)
        assert "A new one" in seen(app, HEAD), "two that work at the same time don't take turns"
        await pilot.press("escape")
        await shows(app, "this folder", "A new one", "Mend the redirect")
        assert "Far away" not in seen(app)
        add(journal, FIRST, "agent", TurnEnded("end_turn"))
        await shows(app, "2 / 3       idle")
        assert isinstance(app.screen, OverviewScreen), "who has looked around is not pulled away"
        await pilot.press("a")
        await shows(app, "Far away")


@on_a_loop
async def test_a_folder_without_sessions_says_so(journal: Path, tmp_path: Path) -> None:
    async with watching(journal, here=tmp_path) as (app, _):
        await shows(app, "No sessions in this folder yet. Press a for all folders.")


@on_a_loop
async def test_a_session_that_a_person_opened_stays_when_one_begins_here(journal: Path, tmp_path: Path) -> None:
    async with watching(journal, here=tmp_path) as (app, pilot):
        await shows(app, "No sessions in this folder yet")
        await pilot.press("a")
        await shows(app, "Mend the redirect")
        await pilot.press("enter")
        await shows(app, "Mend the redirect", kind=HEAD)
        opened = SessionOpened("new agent", None, str(tmp_path), "A new one")
        add(journal, "fresh", "agent", opened, PlanSet(items("main", "pending")))
        await eventually(lambda: any(each.id == "fresh" for each in app.sessions.glances()))
        await eventually(lambda: app._due is None and not app._news)
        assert "Mend the redirect" in seen(app, HEAD)


@pytest.mark.parametrize("key", ["slash", "s", "a", "click"])
@on_a_loop
async def test_a_session_that_begins_does_not_take_the_list_from_a_person_who_searches_or_filters_it(
    journal: Path, tmp_path: Path, key: str
) -> None:
    async with watching(journal, here=tmp_path) as (app, pilot):
        await shows(app, "No sessions in this folder yet")
        await (pilot.click(Input) if key == "click" else pilot.press(key))
        begun(journal, tmp_path)
        await eventually(lambda: any(each.id == "fresh" for each in app.sessions.glances()))
        await eventually(lambda: app._due is None and not app._news)
        assert isinstance(app.screen, OverviewScreen)
        if key in ("slash", "click"):
            await pilot.press("x")
            assert app.screen.query_one(Input).value == "x"


@on_a_loop
async def test_a_session_that_begins_waits_until_the_help_is_closed(journal: Path, tmp_path: Path) -> None:
    async with watching(journal, here=tmp_path / "project") as (app, pilot):
        await shows(app, "Mend the redirect", kind=HEAD)
        await pilot.press("question_mark")
        await shows(app, "The step under the cursor", kind=DialogText)
        begun(journal, tmp_path / "project")
        await eventually(lambda: any(each.id == "fresh" for each in app.sessions.glances()))
        await eventually(lambda: app._due is None and not app._news)
        assert isinstance(app.screen, KeysDialog)
        await pilot.press("escape")
        await shows(app, "A new one", kind=HEAD)
        assert [type(screen) for screen in app.screen_stack[1:]] == [OverviewScreen, SessionScreen]


@on_a_loop
async def test_an_act_from_the_palette_is_for_the_session_that_it_was_opened_on(journal: Path, tmp_path: Path) -> None:
    async with watching(journal, here=tmp_path / "project") as (app, pilot):
        await shows(app, "Mend the redirect", kind=HEAD)
        await pilot.press("ctrl+p", *"history")
        await eventually(lambda: len(app.screen.query(OptionList).first().options) == 1)
        begun(journal, tmp_path / "project")
        await eventually(lambda: any(each.id == "fresh" for each in app.sessions.glances()))
        await eventually(lambda: app._due is None and not app._news)
        assert isinstance(app.screen, CommandPalette)
        await pilot.press("enter")
        await shows(app, "History of Mend the redirect")


# -- a session


@on_a_loop
async def test_a_session_is_live_and_draws_only_what_changed(journal: Path) -> None:
    async with watching(journal, FIRST) as (app, pilot):
        await shows(app, "1 / 3", "▶ Write a test", "☆ Check the logout   new step · “soon” · you")
        await shows(app, "Review    changes requested (revision 4)   you, 20 min ago", "› Small commits")
        await shows(app, "Design  proposal", "The first word.")
        update(journal, "completed", "pending", "pending")
        await shows(app, "1 / 3", "○ Write a test")
        panel = app.screen.query_one(StepsPanel)
        await pilot.pause()
        drawn = panel.drawn
        update(journal, "completed", "completed", "in_progress")
        await shows(app, "2 / 3", "✔ Write a test  ●", "▶ Mend it  ▸ to run  ●")
        await pilot.pause()
        assert panel.drawn - drawn < panel.size.height
        drawn = panel.drawn
        update(journal, "completed", "completed", "in_progress")
        add(journal, FIRST, "relay", SessionOpened(None, None, None, "Renamed"))
        await shows(app, "Renamed", kind=HEAD)
        await pilot.pause()
        assert panel.drawn - drawn <= 2, "what was sent again is not drawn again, but for when it was"


@on_a_loop
async def test_a_plan_file_is_followed_on_disk(journal: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    file = folder / "plan.md"
    file.write_text("# Notes\n- [ ] one\n")
    note_folders(file.parent)
    add(journal, FIRST, "agent", PlanSet(FilePlan("notes", file.as_uri()), via=ACP))
    add(journal, FIRST, "agent", PlanSet(FilePlan("secret", "file:///etc/passwd"), via=ACP))
    async with watching(journal, FIRST, size=(200, 50)) as (app, _):
        await shows(app, "○ one", file.as_uri(), "/etc/passwd is outside the folders")
        file.write_text("# Notes\n- [x] one\n- [ ] two\n")
        await shows(app, "✔ one", "○ two", "1 / 2")


@on_a_loop
async def test_plans_are_copied_as_markdown(journal: Path) -> None:
    async with watching(journal, FIRST) as (app, pilot):
        await shows(app, "1 / 3")
        await pilot.press("y")
        assert app.clipboard == (
            "# ◈ Plan\n\n- [x] Read the code\n- [~] Write a test\n- [ ] Mend it\n\n# Design\n\nThe first word.\n"
        )


@on_a_loop
async def test_a_session_that_is_forgotten_says_so(journal: Path) -> None:
    async with watching(journal, FIRST) as (app, _):
        await shows(app, "1 / 3")
        with open_journal(journal) as opened:
            opened.forget(FIRST)
        await shows(app, "this session is no longer in the journal")


@on_a_loop
async def test_hostile_names_stay_words(journal: Path) -> None:
    add(journal, "z", HOSTILE, SessionOpened(HOSTILE, HOSTILE, HOSTILE, f"[bold]{HOSTILE}"), TurnEnded(HOSTILE))
    add(journal, "z", HOSTILE, PlanSet(items(HOSTILE, HOSTILE), HOSTILE))
    async with watching(journal, "z") as (app, pilot):
        await shows(app, "[bold]x�]0;pwned", "? Read the code")
        await pilot.press("h")
        await shows(app, "History of [bold]x�]0;pwned", "✚ new: 1 step")
        assert not any(sign in app.export_screenshot() for sign in "\x1b\x07\x9b\u202e")


# -- the history


@on_a_loop
async def test_the_plan_is_shown_as_it_was(journal: Path) -> None:
    async with watching(journal, FIRST) as (app, pilot):
        await shows(app, "1 / 3")
        await pilot.press("h")
        await shows(
            app, "History of Mend the redirect", "8 changes", "As it was at event 8", "8 of 8", "changes requested"
        )
        await shows(app, "✔ Read the code  ·  ▶ Write a test", "☆ add “Check the logout”", kind=RowList)
        await pilot.press(*["left"] * 6)
        await shows(app, "As it was at event 2")
        await shows(app, "▶ Read the code", "0 / 3", kind=PlanPanel)
        await pilot.press("left", "left")
        await shows(app, "As it was at event 1", "there was no plan")
        await pilot.press("down", "up", "up", "up")
        await shows(app, "As it was at event 4")
        await pilot.press("escape")
        assert isinstance(app.screen, SessionScreen)


@on_a_loop
async def test_the_slider_goes_to_any_moment(journal: Path) -> None:
    async with watching(journal, FIRST) as (app, pilot):
        await shows(app, "1 / 3")
        await pilot.press("h")
        await shows(app, "As it was at event 8")
        slider = app.screen.query_one(Slider)
        await pilot.click(slider, offset=(1, 1))
        await shows(app, "As it was at event 1")
        await pilot.mouse_down(slider, offset=(1, 1))
        place = (1 + slider.size.width * 3 // 5, 1)
        await pilot.hover(slider, offset=place)
        await pilot.mouse_up(slider, offset=place)
        await shows(app, "As it was at event 5")
        assert slider.place == 4


@on_a_loop
async def test_any_two_moments_are_compared(journal: Path) -> None:
    async with watching(journal, FIRST) as (app, pilot):
        await shows(app, "1 / 3")
        await pilot.press("h")
        await shows(app, "As it was at event 8")
        await pilot.press(*["left"] * 4, "d")
        await shows(app, "What changed from event 3 to 4")
        await shows(app, "▶ Write a test  to do → in progress", kind=DIFFERENCE)
        await pilot.press("m", "end")
        await shows(app, "What changed from event 1 to 4")
        await shows(app, "Plan new", "+ ✔ Read the code", kind=DIFFERENCE)
        await pilot.press("home")
        await shows(app, "What changed from event 4 to 8")
        await shows(app, "Design new", kind=DIFFERENCE)
        await pilot.press("d")
        await shows(app, "The first word.", kind=PlanPanel)


@on_a_loop
async def test_the_history_goes_on_while_one_looks(journal: Path) -> None:
    async with watching(journal, FIRST) as (app, pilot):
        await shows(app, "1 / 3")
        await pilot.press("h")
        await shows(app, "8 changes")
        update(journal, "completed", "completed", "in_progress")
        await shows(app, "9 changes", "As it was at event 9", "2 / 3")
        await pilot.press("left", "left")
        await shows(app, "As it was at event 7")
        update(journal, "completed", "completed", "completed")
        await shows(app, "10 changes", "As it was at event 7")
        assert isinstance(app.screen, HistoryScreen)


def test_a_day_later_a_moment_has_its_date() -> None:
    moment = HistoryEntry("s", 1, 1_700_000_000_000, "agent", "set", None, ())
    day, _, time = clock(moment.at).partition(" ")
    assert moment_rows(moment, 80, day, marked=False)[0].text.split() == [time, "agent"]
    assert moment_rows(moment, 80, "2024-01-01", marked=False)[0].text.split() == [day[5:], time[:5], "agent"]


# -- the screen


@pytest.mark.parametrize("size", [(60, 15), (119, 40), (200, 60)])
@on_a_loop
async def test_every_screen_fits_any_size(journal: Path, size: tuple[int, int]) -> None:
    long = " ".join(["a title that is longer than any terminal is wide"] * 8)
    entry = Entry(f"{long} ", "high", "in_progress")
    add(journal, long, long, SessionOpened(long, long, long, long), PlanSet(ItemsPlan(long, (entry,) * 3), long))
    async with watching(journal, size=size) as (app, pilot):
        for keys in (("enter",), ("h",), ("d",)):
            await shows(app, "a title that")
            for view in app.screen.query(LinesView):
                if view.region.width:
                    assert view.region.right <= size[0]
                    assert view.region.bottom <= size[1]
                    for line in view.in_sight():
                        assert cell_len(line.text) <= view.size.width, line.text
            await pilot.press(*keys)
            await pilot.pause()


@on_a_loop
async def test_keys_are_shown_and_the_theme_can_be_changed(journal: Path) -> None:
    async with watching(journal) as (app, pilot):
        words = ("Open", "Search", "State", "History", "Keys", "Quit")
        await eventually(lambda: all(word in app.export_screenshot() for word in words))
        assert app.theme == DARK.name
        await pilot.press("T")
        assert app.theme == LIGHT.name
        await pilot.press("question_mark")
        await shows(app, "Sessions", "Enter    Open", "Moving around", "PgUp, b  Page up", kind=DialogText)
        await pilot.press("question_mark")
        await eventually(lambda: isinstance(app.screen, OverviewScreen))
        await pilot.press("q")
        await eventually(lambda: not app.is_running)


def test_a_background_is_known_from_the_terminal_or_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for answer, light in (
        (b"\x1b]11;rgb:ffff/ffff/f0f0\x1b\\\x1b[?62;c", True),
        (b"\x1b]11;rgb:1e/1e/2e\x07\x1b[?62;c", False),
    ):
        monkeypatch.setattr("planwire.terminal.themes._terminal_answer", lambda answer=answer: answer)
        assert terminal_is_light() is light
    monkeypatch.setattr("planwire.terminal.themes._terminal_answer", lambda: b"\x1b[?62;c")
    assert terminal_is_light() is False
    monkeypatch.setenv("COLORFGBG", "0;15")
    assert terminal_is_light() is True


# -- real terminals


@contextmanager
def tmux(command: str, tmp_path: Path) -> Iterator["Tmux"]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    terminal = Tmux(str(tmp_path / "tmux.sock"))
    try:
        terminal.run("-f", os.devnull, "new-session", "-d", "-s", "planwire", "-x", "100", "-y", "30", command)
        yield terminal
    finally:
        terminal.run("kill-session", "-t", "planwire", check=False)


class Tmux:
    """A terminal of our own, behind a socket of our own."""

    def __init__(self, socket: str) -> None:
        self._socket = socket

    def run(self, *arguments: str, check: bool = True) -> str:
        command = ["tmux", "-S", self._socket, "-u", *arguments]
        own = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        return subprocess.run(command, capture_output=True, text=True, check=check, timeout=20, env=own).stdout

    def type(self, *keys: str) -> None:
        self.run("send-keys", "-t", "planwire", *keys)

    def shows(self, *words: str) -> str:
        text = ""

        def there() -> bool:
            nonlocal text
            text = self.run("capture-pane", "-p", "-t", "planwire")
            return all(word in text for word in words)

        try:
            until(there, 30)
        except AssertionError:
            raise AssertionError(f"{words} are not all on the screen:\n{text}") from None
        return text


def test_it_works_in_a_real_terminal(journal: Path, tmp_path: Path) -> None:
    watch = shlex.join([*own_command(), "watch", "--all", "--journal", str(journal)])
    with tmux(f"{watch}; echo it ended with $?; cat", tmp_path) as terminal:
        terminal.shows("Mend the redirect", "Write a test", "All 3", "q Quit")
        terminal.type("Enter")
        terminal.shows("1 / 3", "▶ Write a test", "Esc Sessions")
        update(journal, "completed", "completed", "in_progress")
        terminal.shows("2 / 3", "▶ Mend it")
        terminal.run("resize-window", "-t", "planwire", "-x", "60", "-y", "20")
        terminal.shows("2 / 3", "▶ Mend it", "━━━━━━━━━━━━  2 / 3  ▶ Mend it\n")
        terminal.type("Down", "x")
        terminal.shows("✓ Mend it  ▸ to run  ☆ done", "Suggested: “Mend it”: done.")
        terminal.type("h")
        terminal.shows("History of Mend the redirect", "As it was at event 10")
        terminal.type("C-c")
        terminal.shows("it ended with 0", "2/3", "▶ Mend it")


def test_the_terminal_is_left_to_an_editor_and_comes_back(journal: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'any key: '; read key; sed -i 's/Mend it/Mend all of it/' \"$1\"\n")
    editor.chmod(0o755)
    watch = shlex.join([*own_command(), "watch", FIRST, "--journal", str(journal)])
    with tmux(f"VISUAL={editor} {watch}; cat", tmp_path) as terminal:
        terminal.shows("1 / 3", "▶ Write a test")
        terminal.type("E")
        terminal.shows("any key:")
        terminal.type("Enter")
        terminal.shows("☆ → Mend all of it", "Suggested: “Mend it” → Mend all of it.", "q Quit")


CRASHES = """
import sys
from planwire.cli import main
from planwire.terminal.overview_screen import OverviewScreen
OverviewScreen.update = None
print("it ended with", main(sys.argv[1:]))
"""


def test_a_crash_is_a_failure(journal: Path) -> None:
    with running("watch", "--all", "--journal", str(journal), program=("-c", CRASHES)) as terminal:
        terminal.wait_for(b"it ended with 1")


def test_without_textual_it_says_what_to_install(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "without" / "textual").mkdir(parents=True)
    (tmp_path / "without" / "textual" / "__init__.py").write_text("raise ModuleNotFoundError(name='textual')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "without"))
    with running("watch", FIRST, "--journal", str(journal)) as terminal:
        terminal.wait_for(b"watching on a terminal needs Textual: pip install 'planwire[terminal]'")


def test_a_system_that_can_not_ask_its_terminal_for_colours_imports_all_of_it() -> None:
    code = """
import sys, textual.app
sys.platform = "win32"
sys.modules["termios"] = sys.modules["tty"] = None
import planwire.terminal.watch_app, planwire.terminal.themes
assert not planwire.terminal.themes.terminal_is_light()
"""
    subprocess.run([sys.executable, "-P", "-c", code], check=True, env={**os.environ, "COLORFGBG": ""})
