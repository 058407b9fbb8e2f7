"""A view of lines that scrolls: it draws only those in sight, and of these only the ones that changed."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.events import Resize
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from planwire.terminal.lines import BLANK, LOOKS, Line

__all__ = ["LOOK", "LinesView"]

#: The key of a style's meta under which prose names its look.
LOOK: Final = "look"


class LinesView(ScrollView):
    """Lines, drawn with the looks of the theme. Those who use it make lines for `text_width` in `lines_for`."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"look--{name}" for name in (*LOOKS, "cursor")}
    DEFAULT_CSS = """
    LinesView {
        scrollbar-size-vertical: 1;
        overflow-x: hidden;
        background: $background;
        color: $foreground;
        & > .look--added { color: $text-success; }
        & > .look--bar { color: $success; }
        & > .look--code { color: $text-accent; }
        & > .look--cancelled { color: $foreground 45%; text-style: strike; }
        & > .look--current { color: $text-primary; text-style: bold; }
        & > .look--cursor { background: $primary 22%; }
        & > .look--done { color: $text-success; }
        & > .look--fresh { color: $accent; text-style: bold; }
        & > .look--ghost { color: $text-accent; text-style: italic; }
        & > .look--head { background: $surface; }
        & > .look--heading { color: $text-primary; text-style: bold; }
        & > .look--high { color: $text-error; text-style: bold; }
        & > .look--low { color: $foreground 45%; }
        & > .look--mark { color: $accent; text-style: bold; }
        & > .look--muted { color: $foreground 55%; }
        & > .look--note { color: $text-secondary; }
        & > .look--odd { color: $text-warning; }
        & > .look--open { color: $foreground; }
        & > .look--removed { color: $text-error; }
        & > .look--rest { color: $foreground 18%; }
        & > .look--stopped { color: $text-warning; }
        & > .look--strong { text-style: bold; }
        & > .look--waiting { color: $text-accent; }
        & > .look--wish { color: $text-accent; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.lines: Sequence[Line] = ()
        self.drawn = 0  # lines drawn so far
        self._looks: dict[str, Style] = {}

    # -- what is shown

    def lines_for(self, width: int) -> Sequence[Line]:
        """All the lines there are to show, for a width."""
        raise NotImplementedError

    def pinned(self, first: int) -> Line | None:
        """What to show in place of the first line in sight, whose number is `first`."""
        return None

    @property
    def text_width(self) -> int:
        """Cells for text. The scrollbar's place is kept free, so that nothing wraps anew when it comes."""
        return max(self.container_size.width - 1, 1) if self.container_size.width else 80

    def update_lines(self) -> None:
        """Make the lines anew and draw those in sight that differ."""
        before = self.in_sight()
        self.lines = self.lines_for(self.text_width)
        size = Size(self.text_width, len(self.lines))
        if size != self.virtual_size:
            self.virtual_size = size
            self.set_reactive(ScrollView.scroll_y, min(self.scroll_y, self.max_scroll_y))
            self.set_reactive(ScrollView.scroll_target_y, min(self.scroll_target_y, self.max_scroll_y))
        for y, (old, new) in enumerate(zip(before, self.in_sight(), strict=True)):
            if old is not new and old != new:
                self.refresh(Region(0, y, self.size.width, 1))

    def scroll_to_line(self, line: int, *, margin: int = 2) -> None:
        """Bring a line into sight, if it is not: a third down, so that what comes next can be seen."""
        height = self.container_size.height
        first = round(self.scroll_target_y)
        edge = min(margin, max(height - 1, 0) // 2)
        if not first + edge <= line < first + height - edge:
            self.scroll_to(y=max(line - height // 3, 0), animate=False, immediate=True, force=True)

    # -- drawing

    def render_line(self, y: int) -> Strip:
        self.drawn += 1
        line = self._line_at(y)
        base = self.rich_style
        if line.fill:
            base += self._look(line.fill)
        if self.is_chosen(line):
            base += self._look("cursor")
        segments = [Segment(text, base + self._style(look)) for text, look in line.parts]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def is_chosen(self, line: Line) -> bool:
        """Whether the cursor is on the line."""
        return False

    def _line_at(self, y: int) -> Line:
        number = self.scroll_offset.y + y
        pinned = self.pinned(number) if y == 0 else None
        return pinned or (self.lines[number] if number < len(self.lines) else BLANK)

    def in_sight(self) -> list[Line]:
        """The lines that are on the screen now."""
        return [self._line_at(y) for y in range(self.size.height)]

    def _style(self, look: str | Style) -> Style:
        if isinstance(look, str):
            return self._look(look)
        name = look.meta.get(LOOK) if look.meta else None
        return self._look(str(name)) + look if name else look

    def _look(self, name: str) -> Style:
        if not name:
            return Style.null()
        known = self._looks.get(name)
        if known is None:
            known = self._looks[name] = self._from_theme(f"look--{name}")
        return known

    def _from_theme(self, name: str) -> Style:
        whole = self.get_component_rich_style(name)
        own = self.get_component_styles(name)
        background = whole.bgcolor if own.has_rule("background") else None
        color = whole.color if own.has_rule("color") else None
        flags = own.text_style
        return Style(color=color, bgcolor=background) + flags

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._looks.clear()

    def on_mount(self) -> None:
        self.watch(self.app, "theme", self._theme_changed, init=False)

    def _theme_changed(self, _theme: Any) -> None:
        self._looks.clear()
        self.refresh()

    def on_resize(self, _event: Resize) -> None:
        self.update_lines()
        self.resized()

    def resized(self) -> None:
        """What else there is to do about a new size."""
