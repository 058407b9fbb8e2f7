"""Lines of text as values: what planwire draws in a terminal, on a screen of its own or below a command.

A line has parts, each a text with the name of a look. `LOOKS` says what a look is: a style for commands that print with
Rich, and a CSS rule for the app, whose theme has the colours. Since lines are values, a view can compare new lines with
its own and draw only those that differ.

No text imitates planwire's own words or another author's. Texts that stand in a line have single spaces, and what
planwire sets beside them is two spaces or more away. Whatever does not fit into a line, and all prose, stands behind a
gutter, where planwire says nothing. Nothing is cut: what is too long goes on in the next line.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final, TypeAlias

from msgspec import Struct
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

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
    """One line. `fill` is the look of its whole width, `row` what it is about: a step, a session, a moment. `words` are
    an agent's words on it, to be seen before a verdict on them."""

    parts: tuple[Part, ...] = ()
    fill: str = ""
    row: Row | None = None
    words: str = ""

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.parts)

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        for each in folded(self, options.max_width):
            yield Text.assemble(
                *((_in_print(text, looks), _style(looks)) for text, looks in each.parts),
                no_wrap=True,
                overflow="ignore",
            )


def _in_print(text: str, looks: str) -> str:
    """Make the rest of a progress bar thinner: print may have no colours to tell it from the part that is done."""
    return text.replace("━", "─") if looks == "rest" else text


def _style(looks: str) -> str:
    return " ".join(LOOKS[look][0] for look in looks.split() if look in LOOKS)


BLANK: Final = Line()
#: What stands before an agent's prose, and before the rest of a text that does not fit into its line.
GUTTER: Final[Part] = ("│ ", "rest")
#: Stands where a line is broken that has no space to break it at.
BREAK: Final = "↩"
#: The width without a terminal: other programs read the lines, so nothing cuts or wraps them.
UNBOUNDED: Final = 1_000_000_000


def is_endless(width: int) -> bool:
    """Whether other programs read the lines, which have no end."""
    return width > UNBOUNDED // 2


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


def broken(text: str, width: int) -> list[str]:
    """Break text that is to stay as it is, with a sign at each break."""
    *lines, last = chop_cells(text.expandtabs(), max(width - 1, 1)) or [""]
    return [*(f"{line}{BREAK}" for line in lines), last]


def folded(line: Line, width: int) -> list[Line]:
    """Wrap a line to `width` cells. It goes on behind a gutter, deeper than its own indent."""
    text = line.text
    before = len(text) - len(text.lstrip(" "))
    if cell_len(text) <= width or not text.strip():
        return [line]
    indent = before if width > 2 * before + 2 else 0
    before += len(GUTTER[0]) if text.startswith(GUTTER[0], before) else 0
    lines: list[Line] = []
    end = 0
    for piece in wrapped(text[before:], max(width - max(indent + len(GUTTER[0]), before), 1)):
        begin = text.find(piece, max(end, before))
        end = begin + len(piece)
        start = ((" " * indent, ""), GUTTER) if lines else tuple(_slice(line.parts, 0, before))
        lines.append(Line((*start, *_slice(line.parts, begin, end)), line.fill, line.row, line.words))
    return lines


def hanging(start: Part, text: str, look: str, end: str, width: int) -> Iterator[tuple[Part, ...]]:
    """Wrap a text after a sign or a label; its further lines stand behind a gutter. A few muted words come at its end,
    or below it if there is no room."""
    margin = cell_len(start[0])
    room = max(width - margin - 1, 8)
    before: tuple[Part, ...] = (start,)
    beside: tuple[Part, ...] = (" " * max(margin - len(GUTTER[0]), 0), ""), GUTTER
    *lines, last = [line for each in text.split("\n") for line in wrapped(each, room)]
    for line in lines:
        yield *before, (line, look)
        before = beside
    fits = cell_len(last) + cell_len(end) + 3 <= room
    yield *before, (last, look), *(((f"   {end}", "muted"),) if end and fits else ())
    before = ((" " * margin, ""),)
    for line in wrapped(end, room) if end and not fits else ():
        yield *before, (line, "muted")
        before = beside


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
    """Draw a box of `width` cells around lines, with a title on its upper edge, or below that if it is too long, and a
    footer on its lower one. Without a width it is open to the right."""
    if is_endless(width):
        yield Line((("╭─ ", "muted"), *title))
        yield from (Line((("│", "muted"), *line.parts), line.fill, line.row) for line in lines)
        yield Line(((f"╰─ {footer}".rstrip(), "muted"),))
        return
    inner = width - 2
    if sum(cell_len(text) for text, _ in title) > inner - 3:
        title, lines = (), (Line(((" ", ""), *title)), *lines)
    foot = f" {fitted(footer, max(inner - 4, 0))} ─" if footer else ""
    above = max(inner - 3 - sum(cell_len(text) for text, _ in title), 0)
    yield Line((("╭─ ", "muted"), *title, (f" {'─' * above}╮", "muted")))
    for line in (piece for each in lines for piece in folded(each, inner)):
        gap = max(inner - cell_len(line.text), 0)
        yield Line((("│", "muted"), *line.parts, (" " * gap, ""), ("│", "muted")), line.fill, line.row)
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


def new_console(*, stderr: bool = False) -> Console:
    """A console on standard output or error. Without a terminal it has no colour, and its lines have no end."""
    console = _Console(highlight=False, stderr=stderr)
    return console if console.is_terminal else _Console(highlight=False, stderr=stderr, width=UNBOUNDED)


def line_printer(console: Console) -> Callable[[Line], None]:
    """A function that prints lines as `console.print` would, but fast enough for thousands.

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
        for each in [line] if width is None else folded(line, width):
            out.write("".join(show(*part) for part in each.parts) + "\n")

    return write
