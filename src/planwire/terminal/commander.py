"""The commander of a session's screen: it asks for text, writes deeds, and lets a person decide again.

No typed text gets lost: a dialog stays open until the journal has its deed, and an unsent text is there again when the
person comes back.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from planwire.errors import JournalError, PlanError
from planwire.model.events import AddStep
from planwire.model.fold import AGENT, PlanRecord, SessionState
from planwire.model.plan import PlanId
from planwire.readmodel.plain_text import one_line
from planwire.session.moved_on import MovedOn
from planwire.terminal.change_lines import conflict_lines
from planwire.terminal.deeds import Deed
from planwire.terminal.dialogs import DecisionDialog, DialogAnswer, TextDialog, harmless
from planwire.terminal.lines import Line, Row
from planwire.terminal.plan_card import STEP, SUGGESTION
from planwire.terminal.steps_panel import StepsPanel

if TYPE_CHECKING:
    from planwire.terminal.session_screen import SessionScreen

__all__ = ["Commander"]

#: Seconds after which a person hears that a write still waits.
PATIENCE: Final = 1.5
_HINT: Final = "This is the agent's own plan: what you change is a wish (☆) until the agent does it; u takes it back"
_BUSY: Final = "The journal is busy: somebody else writes to it. What you did is written as soon as they are done"
_UNCHANGED: Final = "Nothing was changed: the text is as it was"


class Commander:
    """Has deeds done for the session on a screen."""

    def __init__(self, screen: "SessionScreen") -> None:
        self._screen = screen

    def say(self, words: str, seconds: float) -> None:
        self._screen.app.notify(words, timeout=seconds, markup=False)

    def refuse(self, why: Exception) -> None:
        """Say why something is impossible, and clear what was said before: a key held down would fill the screen."""
        words = str(why)
        self._screen.app.clear_notifications()
        self._screen.app.notify(f"{words[:1].upper()}{words[1:]}", severity="warning", markup=False)

    def ask(
        self,
        draft: tuple[object, ...],
        title: str,
        about: Sequence[Line],
        text: str,
        answers: Sequence[DialogAnswer],
        make: Callable[[str, str], Deed],
        placeholder: str = "",
    ) -> None:
        """Ask for a text, or for another one than `text`, and do the deed that it makes. An unsent text comes back
        under the key `draft`."""
        app = self._screen.app
        key = (self._screen.session, *draft)
        text = harmless(text)

        async def send(written: str, answer: str) -> bool:
            if text and written == text:
                self.say(_UNCHANGED, 3)
            elif not await self.perform(lambda: make(written, answer)):
                return False
            app.drafts.pop(key, None)
            return True

        def left(unsent: str | None) -> None:
            app.drafts.pop(key, None)
            if unsent is not None and unsent.strip() not in ("", text.strip()):
                app.drafts[key] = unsent
                self.say("What you wrote is kept: it is there when you come back", 3)

        shown = app.drafts.get(key, text)
        app.push_screen(TextDialog(title, about, shown, answers, send, placeholder), left)

    def do(self, make: Callable[[], Deed]) -> None:
        """Perform in the background, even if the person leaves the screen meanwhile."""
        self._screen.app.run_worker(self.perform(make))

    async def perform(self, make: Callable[[], Deed]) -> bool:
        """Do the deed that `make` gives, or say why not. Returns whether that worked."""
        app, screen = self._screen.app, self._screen
        waiting = app.set_timer(PATIENCE, lambda: app.notify(_BUSY, markup=False))
        try:
            deed = make()
            session = app.sessions.get(screen.session)
            if session is None:
                raise PlanError("this session is not in the journal any more")
            after = None
            while after is None:
                try:
                    after = await app.writes.write(session.journalled, deed)
                except MovedOn as moved:
                    waiting.stop()
                    if not await self._decide_again(moved, deed):
                        return False
        except (PlanError, JournalError) as error:
            self.refuse(error)
            return False
        finally:
            waiting.stop()
        if screen.panel.is_attached:  # the person may have left it meanwhile
            self._show(deed, after)
        return True

    async def _decide_again(self, moved: MovedOn, deed: Deed) -> bool:
        dialog = DecisionDialog(
            "The plan moved on while you decided",
            conflict_lines(moved, deed.words),
            DialogAnswer("yes", "Do it anyway", "warning"),
            "Leave it",
        )
        anyway = await self._screen.app.push_screen_wait(dialog)
        self._screen.app.writes.has_seen(self._screen.session, moved)
        return bool(anyway)

    def _show(self, deed: Deed, after: SessionState) -> None:
        """Show the session after a deed, and move the cursor to a new step."""
        self._screen.update()
        panel = self._screen.panel
        record = after.plans.get(deed.plan_id)
        if record is None:
            return
        if deed.headline:
            self.say(f"{deed.headline}: {one_line(deed.words)}", 4)
        elif record.owner == AGENT and not self._screen.app.knows_suggestions:
            self._screen.app.knows_suggestions = True
            self.say(_HINT, 8)
        if deed.runs:
            panel.forget_marks()
        if deed.added is not None:
            _go_to_new(panel, deed.plan_id, record, deed.added)


def _go_to_new(panel: StepsPanel, plan_id: PlanId, record: PlanRecord, text: str) -> None:
    """Put the cursor on the newest suggestion for a new step with this text, or else on the last such step."""
    rows: list[Row] = [(STEP, plan_id, step.id) for step in record.state.steps if step.content == text]
    for suggestion in record.suggestions:
        if any(isinstance(change, AddStep) and change.content == text for change in suggestion.changes):
            rows += [row for row in panel.cursor.rows if row[:3] == (SUGGESTION, plan_id, suggestion.seq)][:1]
    if rows:
        panel.cursor.go(rows[-1])
