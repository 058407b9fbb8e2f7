"""Lines of text as values: what planwire draws in a terminal, on a screen of its own or below a command.

A line has parts, each a text with the name of a look. `LOOKS` says what a look is: a style for commands that print with
Rich, and a CSS rule for the app, whose theme has the colours. Since lines are values, a view can compare new lines with
its own and draw only those that differ.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final, TypeAlias

from msgspec import Struct
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

__all__ = [
    "BLANK",
    "LOOKS",
    "Drawing",
    "Line",
    "Part",
    "Row",
    "between",
    "cut",
    "fitted",
    "folded",
    "framed",
    "hanging",
    "line_printer",
    "new_console",
    "progress_bar",
    "text_look",
    "wrapped",
]

#: A text, and the name of its look, or the names of several.
Part: TypeAlias = tuple[str, str]
#: What a line is about: first the kind of thing, then which one.
Row: TypeAlias = tuple[object, ...]

#: Every look by name: its style in print, and its rule in the app. The table of statuses names the look of each status,
#: and `NAME-text` is the look of a step's words where it differs from that of its sign. Only what needs a person is
#: `waiting`.
LOOKS: Final = {
    "added": ("green", "color: $text-success"),
    "bar": ("green", "color: $success"),
    "below": ("dim", "color: $foreground 55%"),
    "cancelled": ("dim", "color: $foreground 45%"),
    "cancelled-text": ("strike dim", "color: $foreground 45%; text-style: strike"),
    "code": ("cyan", "color: $text-accent"),
    "current": ("bold cyan", "color: $text-primary; text-style: bold"),
    "cursor": ("", "background: $primary 22%"),
    "done": ("green", "color: $text-success"),
    "done-text": ("green", "color: $foreground 55%"),
    "emphasis": ("italic", "text-style: italic"),
    "fresh": ("bold magenta", "color: $accent; text-style: bold"),
    "ghost": ("italic magenta", "color: $text-accent; text-style: italic"),
    "future": ("dim", "color: $foreground 25%"),
    "head": ("", "background: $surface"),
    "heading": ("bold", "color: $text-primary; text-style: bold"),
    "high": ("bold", "text-style: bold"),
    "low": ("dim", "color: $foreground 45%"),
    "mark": ("bold magenta", "color: $accent; text-style: bold"),
    "muted": ("dim", "color: $foreground 55%"),
    "note": ("blue", "color: $text-secondary"),
    "odd": ("cyan", "color: $text-secondary"),
    "odd-text": ("", "color: $foreground"),
    "other": ("cyan", "color: $text-secondary"),
    "other-text": ("", "color: $foreground"),
    "past": ("", "color: $primary 70%"),
    "pending": ("", "color: $foreground 55%"),
    "pending-text": ("", "color: $foreground"),
    "removed": ("red", "color: $text-error"),
    "rest": ("dim", "color: $foreground 18%"),
    "stopped": ("dim", "color: $foreground 55%"),
    "stopped-text": ("", "color: $foreground"),
    "strong": ("bold", "text-style: bold"),
    "struck": ("strike", "text-style: strike"),
    "suggestion": ("magenta", "color: $text-accent"),
    "to_run": ("magenta", "color: $text-accent"),
    "waiting": ("bold yellow", "color: $text-warning; text-style: bold"),
}


def text_look(look: str) -> str:
    """The look of a step's words, given that of its sign."""
    return f"{look}-text" if f"{look}-text" in LOOKS else look


class Line(Struct, frozen=True):
    """One line. `fill` is the look of its whole width, `row` what it is about: a step, a session, a moment."""

    parts: tuple[Part, ...] = ()
    fill: str = ""
    row: Row | None = None

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.parts)

    def __rich__(self) -> Text:
        line = Text()
        for text, looks in self.parts:
            line.append(_in_print(text, looks), _style(looks))
        return line


def _in_print(text: str, looks: str) -> str:
    """Make the rest of a progress bar thinner: print may have no colours to tell it from the part that is done."""
    return text.replace("━", "─") if looks == "rest" else text


def _style(looks: str) -> str:
    return " ".join(LOOKS[look][0] for look in looks.split() if look in LOOKS)


BLANK: Final = Line()
#: The width without a terminal: other programs read the lines, so nothing cuts or wraps them.
UNBOUNDED: Final = 10_000


class Drawing:
    """Lines that Rich prints, made for its width."""

    def __init__(self, make: Callable[[int], Iterable[Line]]) -> None:
        self._make = make

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self._make(options.max_width)


def wrapped(text: str, width: int) -> list[str]:
    """Wrap text to `width` cells, splitting words that don't fit."""
    if cell_len(text) <= width:
        return [text]
    lines: list[str] = []
    line = ""
    room = width
    for word in text.split(" "):
        for piece in [word] if cell_len(word) <= width else chop_cells(word, max(width, 1)):
            if line and cell_len(piece) + 1 > room:
                lines.append(line)
                line = ""
            line = f"{line} {piece}" if line else piece
            room = width - cell_len(line)
    return [*lines, line]


def folded(line: Line, width: int) -> list[Line]:
    """Wrap a line to `width` cells. An indented line goes on with a deeper indent."""
    text = line.text
    before = len(text) - len(text.lstrip(" "))
    if cell_len(text) <= width or not text.strip():
        return [line]
    indent = before + 2 if before and width > 2 * before else 0
    lines, end = [], 0
    for number, piece in enumerate(wrapped(text[before:], max(width - (indent or before), 1))):
        begin = text.find(piece, max(end, before))
        end = begin + len(piece)
        margin = " " * (indent if number else before)
        lines.append(Line(((margin, ""), *_slice(line.parts, begin, end)), line.fill, line.row))
    return lines


def hanging(start: Part, text: str, look: str, end: str, width: int) -> Iterator[tuple[Part, ...]]:
    """Wrap a text after a sign or a label, with a few muted words at its end, or below it if there is no room."""
    margin = cell_len(start[0])
    room = max(width - margin - 1, 8)
    *lines, last = [line for each in text.split("\n") for line in wrapped(each, room)]
    for line in lines:
        yield start, (line, look)
        start = (" " * margin, "")
    if end and cell_len(last) + cell_len(end) + 3 <= room:
        yield start, (last, look), (f"   {end}", "muted")
        return
    yield start, (last, look)
    if end:
        yield (" " * margin, ""), (fitted(end, room), "muted")


def _slice(parts: tuple[Part, ...], begin: int, end: int) -> Iterator[Part]:
    at = 0
    for text, look in parts:
        piece = text[max(begin - at, 0) : max(end - at, 0)]
        at += len(text)
        if piece:
            yield piece, look


def fitted(text: str, width: int) -> str:
    """Cut text to `width` cells, with an ellipsis at the cut."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + "…" if width > 0 else ""


def cut(parts: Iterable[Part], width: int) -> tuple[Part, ...]:
    """Cut parts to `width` cells together, with an ellipsis at the cut unless only spaces come after it."""
    kept: list[Part] = []
    parts = tuple(parts)
    for number, (text, look) in enumerate(parts):
        more = any(each.strip() for each, _ in parts[number + 1 :])
        short = fitted(f"{text} " if more and cell_len(text) == width else text, width)
        kept.append((short, look))
        width -= cell_len(short)
        if short != text:
            break
    return tuple(kept)


def between(left: tuple[Part, ...], right: tuple[Part, ...], width: int) -> tuple[Part, ...]:
    """Put parts at both ends of a line. Without room for both, leave out the right ones."""
    gap = width - sum(cell_len(text) for text, _ in (*left, *right))
    return (*left, (" " * gap, ""), *right) if gap > 0 and right else left


def framed(title: tuple[Part, ...], lines: Iterable[Line], footer: str, width: int) -> Iterator[Line]:
    """Draw a box of `width` cells around lines, with a title on its upper edge and a footer on its lower one."""
    inner = width - 2
    title = cut(title, max(inner - 3, 0))
    foot = f" {fitted(footer, max(inner - 4, 0))} ─" if footer else ""
    above = max(inner - 3 - sum(cell_len(text) for text, _ in title), 0)
    yield Line((("╭─ ", "muted"), *title, (f" {'─' * above}╮", "muted")))
    for line in lines:
        parts = cut(line.parts, inner)
        gap = max(inner - sum(cell_len(text) for text, _ in parts), 0)
        yield Line((("│", "muted"), *parts, (" " * gap, ""), ("│", "muted")), line.fill, line.row)
    yield Line(((f"╰{'─' * max(inner - cell_len(foot), 0)}{foot}╯", "muted"),))


def progress_bar(done: int, total: int, width: int) -> tuple[Part, ...]:
    """A progress bar `width` cells wide. Rounds so that only 100 % looks full and only 0 % looks empty."""
    filled = round(width * done / total) if total else 0
    if 0 < done < total and width > 1:
        filled = min(max(filled, 1), width - 1)
    return ("━" * filled, "bar"), ("━" * (width - filled), "rest")


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Stop quietly on a closed pipe (`planwire log | head`): the command line takes it for no failure."""
        raise BrokenPipeError


def new_console(*, wide: bool = True) -> Console:
    """A console on standard output. Without a terminal it has no colour, and never cuts or wraps `wide` lines."""
    console = _Console(highlight=False)
    return console if console.is_terminal or not wide else _Console(highlight=False, width=UNBOUNDED)


def line_printer(console: Console) -> Callable[[Line], None]:
    """A function that prints lines as `console.print` would, cut to its width, but fast enough for thousands.

    Rich lays every line out anew, which takes longer than all the rest of `planwire log`. This function asks it only
    once for the escape sequences of each look.
    """
    out, width = console.file, console.width if console.is_terminal else None

    @cache
    def sequences(looks: str) -> tuple[str, str]:
        with console.capture() as captured:
            console.print(Text("x", _style(looks)), end="")
        before, _, after = captured.get().partition("x")
        return before, after

    def styled(text: str, looks: str) -> str:
        before, after = sequences(looks)
        return f"{before}{_in_print(text, looks)}{after}"

    show = styled if console.is_terminal else _in_print

    def write(line: Line) -> None:
        parts = line.parts if width is None else cut(line.parts, width)
        shown = [show(*part) for part in parts]
        out.write("".join(shown) + "\n")

    return write
