"""Plans that a person steers: a cursor on their rows, steps to choose, and the mouse."""

from dataclasses import dataclass
from typing import ClassVar, Final

from rich.style import Style
from textual.binding import BindingType
from textual.events import Click, MouseDown, MouseMove, MouseUp
from textual.message import Message
from textual.strip import Strip

from planwire.readmodel.card import PlanCard, PlanId, StepRow
from planwire.terminal.cursor import Cursor
from planwire.terminal.keys import CURSOR_KEYS, bindings
from planwire.terminal.lines import Row
from planwire.terminal.lines_view import LinesView
from planwire.terminal.nested_plans import nesting
from planwire.terminal.plan_sheet import AGES, PlanSheet
from planwire.terminal.pointed import pointed_at
from planwire.terminal.rows import FOLD, PLAN, STEP
from planwire.terminal.step_lines import sign_column

_LEFT_BUTTON: Final = 1
_RIGHT_BUTTON: Final = 3
_TWICE: Final = 2


class StepsPanel(LinesView, can_focus=True):
    """A click puts the cursor on a row. On the sign of a step it also ticks the step, left of that it selects it; a
    double click rewords it, and dragging moves it after another one. The panel only asks for these acts: the screen
    does them."""

    @dataclass
    class ActAsked(Message):
        """A person wants an act, by its name, for the row under the cursor; a move `after` another step."""

        act: str
        after: str | None = None

    BINDINGS: ClassVar[list[BindingType]] = bindings(*CURSOR_KEYS)
    cursor: Cursor

    def __init__(self, session: str) -> None:
        super().__init__()
        self.sheet = PlanSheet(self, session, "no plan yet")
        self.cursor = Cursor(self, lambda: self.sheet.current)
        self._held: Row | None = None
        self._over: Row | None = None
        self._dragged = False

    def turn_to(self, session: str) -> None:
        """Switch to another session."""
        self.sheet.clear(session)
        self.cursor.row = None

    # -- lines

    def on_mount(self) -> None:
        self.set_interval(AGES, self.update_lines)
        self.update_lines()

    # -- the cursor

    @property
    def chosen(self) -> PlanCard | None:
        """The plan under the cursor."""
        row = self.cursor.row
        return next((card for card in self.sheet.cards if row and card.id == row[1]), None)

    @property
    def step(self) -> StepRow | None:
        """The step under the cursor."""
        card, row = self.chosen, self.cursor.row
        return pointed_at(card, row).step if card and row else None

    def go_to_current(self) -> None:
        """Go to a plan that waits for the person, or else to the current step, and follow it from now on."""
        row = self.sheet.current
        if row is not None:
            self.cursor.go(row)
        self.sheet.follow()

    # -- steps to run

    def marks_of(self, plan_id: PlanId) -> frozenset[str]:
        return self.sheet.marked[1] if self.sheet.marked[0] == plan_id else frozenset()

    def toggle_mark(self, plan_id: PlanId, step: str) -> None:
        """Select a step to run, or deselect it. The selected steps are all of one plan."""
        self.sheet.marked = (plan_id, self.marks_of(plan_id) ^ {step})
        self.update_lines()

    def forget_marks(self) -> None:
        self.sheet.marked = (None, frozenset())
        self.update_lines()

    # -- the mouse

    def on_click(self, event: Click) -> None:
        row = self.row_at(event)
        if self._dragged or row is None:
            self._dragged = False
            return
        self.cursor.go(row)
        if row[0] == FOLD and event.button == _LEFT_BUTTON:
            self.sheet.unfold(row)
            return
        step = self.step
        place = event.get_content_offset_capture(self)
        if event.button == _RIGHT_BUTTON:
            self.post_message(self.ActAsked("menu"))
        elif step is not None and self.scroll_offset.y + place.y == self.cursor.line:
            column = place.x - sign_column(step) - (nesting(self.chosen, self.text_width) if self.chosen else 0)
            if -1 <= column <= 1:
                self.post_message(self.ActAsked("tick"))
            elif column < -1:
                self.post_message(self.ActAsked("mark"))
            elif event.chain == _TWICE:
                self.post_message(self.ActAsked("reword"))

    def on_mouse_down(self, event: MouseDown) -> None:
        row = self.row_at(event)
        self._dragged = False
        self._held = row if event.button == _LEFT_BUTTON and row and row[0] == STEP else None

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._held is None:
            return
        row = self.row_at(event)
        if row != self._held and not self._dragged:
            self._dragged = True
            self.capture_mouse()
            self.cursor.go(self._held)
        fits = row is not None and row[0] in (PLAN, STEP) and row[1] == self._held[1] and row != self._held
        if self._over != (row if fits else None):
            self._over = row if fits else None
            self.refresh()

    def on_mouse_up(self, _event: MouseUp) -> None:
        over, self._held, self._over = self._over, None, None
        if self._dragged:
            self.release_mouse()
            self.refresh()
        if over is not None:
            self.post_message(self.ActAsked("move", str(over[2]) if over[0] == STEP else ""))

    def render_line(self, y: int) -> Strip:
        """Underline the step under a dragged one."""
        strip = super().render_line(y)
        line = self.line_at(y)
        last = self._over is not None and line.row == self._over and self.line_at(y + 1).row != self._over
        return strip.apply_style(Style(underline=True)) if last else strip
