"""Questions to a person who steers: for a text, a choice or a decision.

A dialog lies over the lower part of the screen; the plan behind it stays live.
"""

from collections.abc import Sequence
from typing import ClassVar, Final, Generic, NamedTuple, TypeVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Key
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Button, OptionList
from textual.widgets.button import ButtonVariant
from textual.widgets.option_list import Option

from planwire.terminal.lines import Line, folded
from planwire.terminal.lines_view import LinesView

_R = TypeVar("_R")
#: The most cells of a box, and those that its edges take. A title that does not fit stands in the box.
WIDEST: Final = 100
EDGES: Final = 6
#: Below this width, buttons are stacked.
NARROW: Final = 64
#: Keys that scroll a text which does not fit its dialog.
_LOOKING: Final[tuple[BindingType, ...]] = (
    Binding("up,k", "look('scroll_up')", "Up", show=False),
    Binding("down,j", "look('scroll_down')", "Down", show=False),
    Binding("space", "look('scroll_page_down')", "Page down", show=False),
)


class DialogAnswer(NamedTuple):
    """A button: its value, its label, how much it stands out, and the key that presses it."""

    value: str
    label: str
    variant: ButtonVariant = "default"
    key: str = ""


class DialogChoice(NamedTuple):
    """One of several things: its value, its label with some details, and the key that chooses it at once."""

    value: str
    label: str
    key: str = ""
    details: str = ""


class DialogText(LinesView, can_focus=False):
    """What a person should know before they answer."""

    DEFAULT_CSS = """
    DialogText { height: auto; max-height: 50vh; background: $surface; padding: 0; }
    """

    def __init__(self, about: Sequence[Line]) -> None:
        super().__init__(id="about")
        self._about = about

    def lines_for(self, width: int) -> Sequence[Line]:
        return [line for each in self._about for line in folded(each, width)]

    def render_line(self, y: int) -> Strip:
        """Say in the last line in sight how many come below it."""
        below = len(self.lines) - self.scroll_offset.y - self.size.height
        if y < self.size.height - 1 or below <= 0:
            return super().render_line(y)
        words = Segment(f"… {below + 1} more lines: PgDn", self.rich_style + self._look("muted"))
        return Strip([words]).adjust_cell_length(self.size.width, self.rich_style)

    def get_content_height(self, _container: Size, _viewport: Size, width: int) -> int:
        return len(self.lines_for(max(width - 1, 1)))


class Dialog(ModalScreen[_R], Generic[_R]):
    """A box with a title. Esc leaves it."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", show=False),
        Binding("pageup", "look('scroll_page_up')", "Page up", show=False, priority=True),
        Binding("pagedown", "look('scroll_page_down')", "Page down", show=False, priority=True),
        Binding("left,up", "app.focus_previous", "Previous", show=False),
        Binding("right,down", "app.focus_next", "Next", show=False),
    ]
    DEFAULT_CSS = """
    Dialog {
        align: center bottom;
        background: $background 35%;
        & > #box {
            width: 100%;
            max-width: 100;
            height: auto;
            max-height: 100%;
            padding: 0 1;
            background: $surface;
            border: round $primary;
            border-title-color: $text-primary;
            border-title-style: bold;
            border-subtitle-color: $foreground 55%;
        }
        & #buttons { height: auto; margin-top: 1; }
        & Button { margin-right: 1; min-width: 8; padding: 0 1; }
        &.-narrow #buttons { layout: vertical; margin-top: 0; }
    }
    """

    def __init__(
        self, title: str, about: Sequence[Line], hint: str, answers: Sequence[DialogAnswer], body: Widget | None = None
    ) -> None:
        super().__init__()
        self._title = title
        self._about = about
        self._hint = hint
        self._answers = answers
        self._body = body

    def compose(self) -> ComposeResult:
        self.app.clear_notifications()  # or the screen behind would show them as well
        about = self._about
        with Vertical(id="box") as box:
            if cell_len(self._title) > min(self.app.size.width, WIDEST) - EDGES:
                about = [Line(((self._title, "strong"),)), *about]
            else:
                box.border_title = Text(self._title)
            box.border_subtitle = Text(self._hint)
            if about:
                yield DialogText(about)
            if self._body is not None:
                yield self._body
            if self._answers:
                with Horizontal(id="buttons"):
                    for answer in self._answers:
                        yield Button(answer.label, answer.variant, name=answer.value, compact=True)

    def action_leave(self) -> None:
        """Close the dialog without an answer."""
        self.dismiss()

    def action_look(self, way: str) -> None:
        """Scroll the text of the dialog."""
        for about in self.query(DialogText):
            getattr(about, way)(animate=False)


class DecisionDialog(Dialog[str | None]):
    """One of a few answers. The `safe` one has the focus: a key pressed too fast does no harm."""

    BINDINGS: ClassVar[list[BindingType]] = [*_LOOKING]

    def __init__(self, title: str, about: Sequence[Line], answers: Sequence[DialogAnswer], safe: str) -> None:
        self._keys = {answer.key: answer.value for answer in answers if answer.key}
        self._safe = safe
        hint = " · ".join(f"{answer.key}: {answer.label.lower()}" for answer in answers if answer.key)
        super().__init__(title, about, hint, answers)

    def on_mount(self) -> None:
        next(button for button in self.query(Button) if button.name == self._safe).focus()

    def on_key(self, event: Key) -> None:
        if event.character in self._keys:
            event.stop()
            self.dismiss(self._keys[event.character])

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.name)


class KeysDialog(Dialog[None]):
    """The keys of a screen."""

    BINDINGS: ClassVar[list[BindingType]] = [*_LOOKING, Binding("question_mark,enter", "leave", "Close", show=False)]
    DEFAULT_CSS = """
    KeysDialog DialogText { max-height: 85vh; }
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        super().__init__("Keys", lines, "Esc: close", ())


class ChoiceDialog(Dialog[str | None]):
    """A choice of one of several things, by its key, the arrows or the mouse."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "app.simulate_key('down')", "Down", show=False),
        Binding("k", "app.simulate_key('up')", "Up", show=False),
    ]
    DEFAULT_CSS = """
    ChoiceDialog OptionList {
        height: auto;
        max-height: 60vh;
        padding: 0;
        border: none;
        background: $surface;
        scrollbar-size-vertical: 1;
    }
    ChoiceDialog DialogText { max-height: 25vh; }
    """

    def __init__(self, title: str, choices: Sequence[DialogChoice], about: Sequence[Line] = ()) -> None:
        wide = max(len(each.key) for each in choices)
        self._choices = choices
        self._list = OptionList(*(Option(_choice_text(each, wide), id=each.value) for each in choices), compact=True)
        super().__init__(title, about, "Enter: choose · Esc: cancel", (), self._list)

    def on_mount(self) -> None:
        self._list.highlighted = 0
        self._list.focus()

    def on_key(self, event: Key) -> None:
        for choice in self._choices:
            if choice.key and event.character == choice.key:
                event.stop()
                self.dismiss(choice.value)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)


def _choice_text(choice: DialogChoice, wide: int) -> Text:
    text = Text.assemble((f"{choice.key:<{wide}}  ", "bold"), choice.label) if wide else Text(choice.label)
    return text.append(choice.details, "dim")
