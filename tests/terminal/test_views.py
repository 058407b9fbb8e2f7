"""Plans in a real terminal: colour, live updates, one key at a time."""

import io
import os
import pty
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from rich.console import Console

from planwire import Entry, ItemsPlan, MarkdownPlan, track
from planwire.readmodel.cards import cards_of
from planwire.readmodel.plain_text import one_line, printable
from planwire.terminal.lines import Drawing
from planwire.terminal.plan_lines import boxed_lines
from planwire.terminal.prose import prose_lines

CONVERSATIONS = Path(__file__).parents[1] / "conversations"
PATIENCE = 20.0


class Terminal:
    """A program on the other side of a pseudo-terminal."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.seen = b""

    def wait_for(self, words: bytes) -> None:
        """Read until the words were printed, within a bound."""
        end = time.monotonic() + PATIENCE
        while words not in self.seen:
            assert time.monotonic() < end, f"{words!r} did not come; seen: {self.seen[-500:]!r}"
            if select.select([self.descriptor], [], [], 0.5)[0]:
                try:
                    self.seen += os.read(self.descriptor, 65536)
                except OSError:
                    assert words in self.seen, f"it ended without {words!r}: {self.seen[-500:]!r}"

    def rest(self) -> bytes:
        """All that it still prints until it ends."""
        with suppress(OSError):
            while chunk := os.read(self.descriptor, 65536):
                self.seen += chunk
        return self.seen

    def type(self, keys: bytes) -> None:
        self.seen = b""
        os.write(self.descriptor, keys)


@contextmanager
def running(*arguments: str, program: tuple[str, ...] = ("-m", "planwire"), columns: int = 90) -> Iterator[Terminal]:
    pid, descriptor = pty.fork()
    if pid == 0:
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "30"}
        os.environ.pop("NO_COLOR", None)
        os.execv(sys.executable, [sys.executable, "-P", "-W", "ignore", *program, *arguments])
    try:
        yield Terminal(descriptor)
    finally:
        os.close(descriptor)
        os.waitpid(pid, 0)


def rendered(plan: ItemsPlan | MarkdownPlan, height: int | None = None) -> str:
    console = Console(width=80, file=io.StringIO(), highlight=False)
    console.print(Drawing(lambda width: boxed_lines(cards_of(track(plan))[0], width, 0, height=height)))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_a_terminal_gets_colour() -> None:
    with running("replay", str(CONVERSATIONS / "claude-agent-acp-0.99.0-tasktools.jsonl")) as terminal:
        terminal.wait_for(b"\x1b[32m")
        terminal.wait_for(b"2/2")


def test_step_waits_for_enter_and_q_stops() -> None:
    with running("replay", str(CONVERSATIONS / "claude-code-acp-0.16.2.jsonl"), "--step") as terminal:
        terminal.wait_for(b"Enter: next")
        assert b"#2" not in terminal.seen
        terminal.type(b"\n")
        terminal.wait_for(b"#2")
        terminal.wait_for(b"Enter: next")
        terminal.type(b"q\n")
        terminal.wait_for(b"q")
        assert b"#3" not in terminal.seen


def test_the_end_of_the_input_stops_a_walk() -> None:
    with running("replay", str(CONVERSATIONS / "claude-code-acp-0.16.2.jsonl"), "--step") as terminal:
        terminal.wait_for(b"Enter: next")
        terminal.type(b"\x04")
        assert terminal.rest().strip() == b""


def test_a_long_plan_is_shown_around_its_current_step() -> None:
    entries = [Entry(f"step {number}", "medium", "completed" if number < 50 else "pending") for number in range(100)]
    entries[50] = Entry("here", "medium", "in_progress")
    shown = rendered(ItemsPlan("long", tuple(entries)), height=12)
    assert "▶ here" in shown
    assert "⋮ 47 more, 47 done" in shown
    assert "⋮ 44 more, 0 done" in shown


def test_a_long_proposal_is_cut_where_room_is_short() -> None:
    text = "# Title\n\n" + "\n\n".join(f"Paragraph {number}" for number in range(50))
    assert "Paragraph 3" not in rendered(MarkdownPlan("p", text), height=6)
    assert "Paragraph 49" in rendered(MarkdownPlan("p", text))


def test_odd_statuses_and_priorities_are_shown_as_they_are() -> None:
    shown = rendered(ItemsPlan("p", (Entry("a", "_urgent", "_blocked"), Entry("b", "low", "cancelled"))))
    assert "? a  _blocked  _urgent" in shown
    assert "✗ b  low" in shown
    assert "0/1  1 cancelled" in shown


def test_safe_text_keeps_what_people_write() -> None:
    assert printable("tabs\tand\nlines, ünïcode, 日本, 👍🏽") == "tabs\tand\nlines, ünïcode, 日本, 👍🏽"
    assert one_line("a\n b\t\tc") == "a b c"


@pytest.mark.parametrize("hidden", ["\u202e", "&#x202e;", "\u2028", "&#8232;", "\U000e0041", "&#xe0041;", "\x1b[2J"])
def test_no_spelling_of_a_character_that_turns_or_hides_text_gets_it_on_a_screen(hidden: str) -> None:
    text = f"safe{hidden}gpj and *more*{hidden} of it\n\n- an item{hidden}\n\n![picture{hidden}](x)\n"
    words = "\n".join(part for line in prose_lines(text, 60) for part, _ in line.parts)
    assert printable(words) == words
    assert "\ufffd" in words or hidden in words, "what markdown spells is there as it is written"
