"""Plans whose steps people do something with: steps are chosen, and what the mouse does is told."""

from collections.abc import Sequence
from typing import Final

from rich.style import Style
from textual.events import Click, MouseDown, MouseEvent, MouseMove, MouseUp
from textual.message import Message
from textual.strip import Strip

from planwire.model.plan import PlanId
from planwire.model.steps import Step
from planwire.terminal.cursor_panel import CursorPanel
from planwire.terminal.lines import Line
from planwire.terminal.plan_card import PLAN, STEP, Row
from planwire.terminal.step_lines import sign_column

__all__ = ["StepsPanel"]

_LEFT_BUTTON: Final = 1
_RIGHT_BUTTON: Final = 3
_TWICE: Final = 2


class StepsPanel(CursorPanel):
    """A click puts the cursor on a row. On the sign of a step it ticks it, left of that it chooses it; two of them
    reword it, and a step can be dragged behind another one. What becomes of that, others decide."""

    class Wanted(Message):
        """Something is to be done with what is under the cursor: an action, by its name."""

        def __init__(self, panel: "StepsPanel", action: str) -> None:
            super().__init__()
            self.panel = panel
            self.action = action

        @property
        def control(self) -> "StepsPanel":
            return self.panel

    class Dropped(Message):
        """The step under the cursor was dragged behind another one; "" is the beginning."""

        def __init__(self, panel: "StepsPanel", after: str) -> None:
            super().__init__()
            self.panel = panel
            self.after = after

        @property
        def control(self) -> "StepsPanel":
            return self.panel

    def __init__(self, session: str | None = None, *, empty: str = "no plan yet", id: str | None = None) -> None:
        super().__init__(session, empty=empty, id=id)
        self.marked: dict[PlanId, frozenset[str]] = {}
        self._held: Row | None = None
        self._over: Row | None = None
        self._dragged = False

    # -- choosing steps

    def marks_of(self, plan_id: PlanId) -> frozenset[str]:
        return self.marked.get(plan_id, frozenset())

    def toggle_mark(self, plan_id: PlanId, step: str) -> None:
        """Choose a step to be run, or no more. Only steps of one plan are chosen at a time."""
        self.marked = {plan_id: self.marks_of(plan_id) ^ {step}}
        self.update_lines()

    def forget_marks(self) -> None:
        self.marked = {}
        self.update_lines()

    def clear(self) -> None:
        super().clear()
        self.marked = {}

    def lines_for(self, width: int) -> Sequence[Line]:
        there = {card.id: {step.id for step in card.state.steps} for card in self.cards}
        self.marked = {plan: steps & there[plan] for plan, steps in self.marked.items() if plan in there}
        return super().lines_for(width)

    # -- the mouse

    def on_click(self, event: Click) -> None:
        row = self._row_at(event)
        if self._dragged or row is None:
            self._dragged = False
            return
        self.go(row)
        step = self._step(row)
        if event.button == _RIGHT_BUTTON:
            self.post_message(self.Wanted(self, "menu"))
        elif step is not None and self.is_first_line(self.scroll_offset.y + event.get_content_offset_capture(self).y):
            place = event.get_content_offset_capture(self).x - sign_column(step)
            if -1 <= place <= 1:
                self.post_message(self.Wanted(self, "tick"))
            elif place < -1:
                self.post_message(self.Wanted(self, "mark"))
            elif event.chain == _TWICE:
                self.post_message(self.Wanted(self, "reword"))

    def on_mouse_down(self, event: MouseDown) -> None:
        row = self._row_at(event)
        self._dragged = False
        self._held = row if event.button == _LEFT_BUTTON and row and row[0] == STEP else None

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._held is None:
            return
        row = self._row_at(event)
        if row != self._held and not self._dragged:
            self._dragged = True
            self.capture_mouse()
            self.go(self._held)
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
            self.post_message(self.Dropped(self, str(over[2]) if over[0] == STEP else ""))

    def render_line(self, y: int) -> Strip:
        """What a step is dragged behind is underlined."""
        strip = super().render_line(y)
        line = self._line_at(y)
        last = self._over is not None and line.row == self._over and self._line_at(y + 1).row != self._over
        return strip.apply_style(Style(underline=True)) if last else strip

    def _row_at(self, event: MouseEvent) -> Row | None:
        place = event.get_content_offset_capture(self)
        return self._line_at(place.y).row if 0 <= place.y < self.size.height else None

    def _step(self, row: Row) -> Step | None:
        card = self.chosen
        return next((step for step in card.state.steps if row[0] == STEP and step.id == row[2]), None) if card else None
