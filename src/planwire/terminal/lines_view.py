"""Scrolling views of lines. They draw only the lines in sight, and of these only the ones that changed."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import on
from textual.binding import BindingType
from textual.css.parse import parse_declarations
from textual.events import Click, MouseEvent, MouseScrollDown, MouseScrollUp, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollTo
from textual.strip import Strip

from planwire.terminal.cursor import Cursor
from planwire.terminal.keys import CURSOR_KEYS, bindings
from planwire.terminal.lines import BLANK, LOOKS, Line, Row

#: A colour of the theme in a rule.
_VARIABLE: Final = re.compile(r"\$([a-z-]+)")
#: Lines kept above and below a line that the view scrolls to by itself.
MARGIN: Final = 2


class LinesView(ScrollView):
    """Lines in the looks of the theme, with or without a cursor on one of their rows.

    Give it a function that makes the lines for a width, or override `lines_for`. The last head above the first line in
    sight is pinned in the place of that line.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LinesView { scrollbar-size-vertical: 1; overflow-x: hidden; background: $background; color: $foreground; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.lines: Sequence[Line] = ()
        self.drawn = 0  # lines drawn so far
        self.seen: set[tuple[Row | None, str]] = set()  # an agent's words that were on the screen
        self.cursor: Cursor | None = None
        self.follows = False  # the view scrolls by itself, until a person does
        self._heads: list[int] = []
        self._looks: dict[str, Style] = {}
        self._make: Callable[[int], Sequence[Line]] = lambda _width: ()
        self._resized: Callable[[], None] | None = None

    def show_lines(self, make: Callable[[int], Sequence[Line]], resized: Callable[[], None] | None = None) -> None:
        """Show the lines that `make` gives for a width, now and whenever the width changes; then call `resized`."""
        self._make, self._resized = make, resized
        self.update_lines()

    def lines_for(self, width: int) -> Sequence[Line]:
        """All the lines, for a width."""
        return self._make(width)

    @property
    def text_width(self) -> int:
        """Cells for text. The scrollbar's place stays free, so that nothing wraps anew when it comes."""
        return max(self.container_size.width - 1, 1) if self.container_size.width else 80

    def update_lines(self) -> None:
        """Make the lines anew and draw those in sight that differ."""
        before = self.in_sight()
        height = self.cursor.height_on_screen() if self.cursor is not None else None
        self.lines = self.lines_for(self.text_width)
        self._heads = [number for number, line in enumerate(self.lines) if line.fill == "head"]
        moved = self.cursor is not None and self.cursor.take(self.lines)
        size = Size(self.text_width, len(self.lines))
        if size != self.virtual_size:
            self.virtual_size = size
            self.set_reactive(ScrollView.scroll_y, min(self.scroll_y, self.max_scroll_y))
            self.set_reactive(ScrollView.scroll_target_y, min(self.scroll_target_y, self.max_scroll_y))
        for y, (old, new) in enumerate(zip(before, self.in_sight(), strict=True)):
            if old is not new and old != new:
                self.refresh(Region(0, y, self.size.width, 1))
        if moved:
            self.refresh()
        if self.cursor is not None and height is not None and not self.follows:
            self.cursor.stay_at(height)

    def pinned(self, first: int) -> Line | None:
        """The head of the lines that continue at `first`, the first line in sight; None if there is none."""
        above = bisect_left(self._heads, first)
        is_inside = above and first < len(self.lines) and self.lines[first].fill != "head"
        return self.lines[self._heads[above - 1]] if is_inside else None

    def line_at(self, y: int) -> Line:
        """The line on the screen, `y` lines below the view's upper edge."""
        number = self.scroll_offset.y + y
        pinned = self.pinned(number) if y == 0 else None
        return pinned or (self.lines[number] if number < len(self.lines) else BLANK)

    def row_at(self, event: MouseEvent) -> Row | None:
        """The row under the mouse."""
        y = event.get_content_offset_capture(self).y
        return self.line_at(y).row if 0 <= y < self.size.height else None

    def in_sight(self) -> list[Line]:
        """The lines that are on the screen now."""
        return [self.line_at(y) for y in range(self.size.height)]

    def scroll_to_line(self, line: int) -> None:
        """Bring a line into sight, a third down, so that the next ones are in sight, too."""
        height = self.container_size.height
        first = round(self.scroll_target_y)
        edge = min(MARGIN, max(height - 1, 0) // 2)
        if not first + edge <= line < first + height - edge:
            self.jump(line - height // 3)

    @on(MouseScrollUp)
    @on(MouseScrollDown)
    @on(ScrollTo)
    def looked_around(self) -> None:
        """Stay where a person scrolled or moved the cursor to."""
        self.follows = False

    def jump(self, top: int) -> None:
        """Scroll at once."""
        self.scroll_to(y=max(top, 0), animate=False, immediate=True, force=True)

    def on_resize(self, _event: Resize) -> None:
        self.update_lines()
        if self._resized is not None:
            self._resized()
        elif self.cursor is not None:
            self.cursor.show()

    def action_cursor(self, way: str, by: int) -> None:
        """Call the method of the cursor that is named `way`."""
        getattr(self.cursor, way)(by)

    # -- drawing

    def render_line(self, y: int) -> Strip:
        self.drawn += 1
        line = self.line_at(y)
        if line.words and self.screen.is_current:  # no dialog lies over it
            self.seen.add((line.row, line.words))
        base = self.rich_style
        if line.fill:
            base += self._look(line.fill)
        if self.cursor is not None and line.row is not None and line.row == self.cursor.row:
            base += self._look("cursor")
        segments = [Segment(text, base + self._look(look)) for text, look in line.parts]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def _look(self, names: str) -> Style:
        known = self._looks.get(names)
        if known is None:
            looks = [self._from_theme(LOOKS[name][1]) for name in names.split() if name in LOOKS]
            known = self._looks[names] = Style.combine(looks) if looks else Style.null()
        return known

    def _from_theme(self, rule: str) -> Style:
        """The style of a rule in the colours of the theme. Textual's component classes could do this, but with one for
        every look it would apply dozens of rules whenever anything in a view changes."""
        colours = self.app.theme_variables
        own = parse_declarations(_VARIABLE.sub(lambda name: colours[name[1]], f"{rule};"), ("", ""))
        under = self.background_colors[1] + own.background
        background = under.rich_color if own.has_rule("background") else None
        color = (under + own.color).rich_color if own.has_rule("color") else None
        return Style(color=color, bgcolor=background) + Style.parse(str(own.text_style))

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._looks.clear()


class RowList(LinesView, can_focus=True):
    """A list of rows with a cursor on one of them."""

    class Opened(Message):
        """A person clicked on the row under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(*CURSOR_KEYS)
    cursor: Cursor

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.cursor = Cursor(self)

    @property
    def key(self) -> object:
        """What the row under the cursor is about; None without a row."""
        return self.cursor.row[1] if self.cursor.row else None

    def on_click(self, event: Click) -> None:
        row = self.row_at(event)
        if row is not None and row == self.cursor.row:
            self.post_message(self.Opened())
        elif row is not None:
            self.cursor.go(row)
