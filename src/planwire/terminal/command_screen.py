"""A screen from which things are done: they are written, and if the plan moved on, one decides again.

Nothing that somebody typed is lost: a dialog stays open until it is written, and what is left unsent comes back.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from rich.text import Text
from textual.screen import Screen

from planwire.errors import JournalError, PlanError
from planwire.model.events import AddStep
from planwire.model.fold import AGENT, PlanRecord, SessionState
from planwire.model.plan import PlanId
from planwire.readmodel.plain_text import one_line
from planwire.session.moved_on import MovedOn
from planwire.terminal.conflict_lines import moved_texts
from planwire.terminal.deeds import BACK, CHANGE, RUN, Deed
from planwire.terminal.dialogs import Answer, DecisionDialog, WordsDialog
from planwire.terminal.plan_card import step_row
from planwire.terminal.steps_panel import StepsPanel
from planwire.terminal.text_field import harmless

if TYPE_CHECKING:
    from planwire.terminal.watch_app import WatchApp

__all__ = ["DoingScreen"]

#: Seconds after which it is said that something is still being written.
PATIENCE: Final = 1.5
_WISHES: Final = "This is the agent's own plan: what you change is a wish (☆) until the agent does it; u takes it back"
_BUSY: Final = "The journal is busy: somebody else writes to it. What you did is written as soon as they are done"


class DoingScreen(Screen[None]):
    """A screen with a `StepsPanel`. Those who use it say how it is brought up to date."""

    app: "WatchApp"

    def __init__(self, session: str) -> None:
        super().__init__()
        self.session = session

    def update(self) -> None:
        """Show what is there now."""
        raise NotImplementedError

    def refuse(self, why: Exception) -> None:
        """Say why something can't be done, and nothing else: a key that is held down would fill the screen."""
        words = str(why)
        self.app.clear_notifications()
        self.app.notify(f"{words[:1].upper()}{words[1:]}", severity="warning", markup=False)

    def ask(
        self,
        draft: tuple[object, ...],
        title: str,
        about: Sequence[Text],
        words: str,
        answers: Sequence[Answer],
        make: Callable[[str, str], Deed | None],
        placeholder: str = "",
    ) -> None:
        """Ask for words, or for others than these, and do what is made of them. What was not sent is there again under
        the key `draft`."""
        key = (self.session, *draft)
        words = harmless(words)

        async def send(text: str, answer: str) -> bool:
            try:
                deed = make(text, answer) if not words or text != words else None
            except PlanError as refusal:
                self.refuse(refusal)
                return False
            done = deed is None or await self.perform(deed)
            if done:
                self.app.drafts.pop(key, None)
            return done

        def left(unsent: str | None) -> None:
            self.app.drafts.pop(key, None)
            if unsent is not None and unsent.strip() not in ("", words.strip()):
                self.app.drafts[key] = unsent
                self.app.notify("What you wrote is kept: it is there when you come back", timeout=3, markup=False)

        shown = self.app.drafts.get(key, words)
        self.app.push_screen(WordsDialog(title, about, shown, answers, send, placeholder), left)

    def do(self, deed: Deed) -> None:
        """Do it, whatever becomes of this screen meanwhile."""
        self.app.run_worker(self.perform(deed))

    async def perform(self, deed: Deed) -> bool:
        """Whether it was done. If it was not, it has been said why."""
        waiting = self.app.set_timer(PATIENCE, lambda: self.app.notify(_BUSY, markup=False))
        try:
            session = self.app.sessions.get(self.session)
            if session is None:
                raise PlanError("this session is not in the journal any more")
            after = None
            while after is None:
                try:
                    after = await self.app.pen.write(session.journalled, deed)
                except MovedOn as moved:
                    waiting.stop()
                    if not await self._decide_again(moved, deed):
                        return False
        except (PlanError, JournalError) as error:
            self.refuse(error)
            return False
        finally:
            waiting.stop()
        if self.is_attached and self.query(StepsPanel):  # it may have been left meanwhile
            self._show(deed, after)
        return True

    async def _decide_again(self, moved: MovedOn, deed: Deed) -> bool:
        dialog = DecisionDialog(
            "The plan moved on while you decided",
            moved_texts(self.session, moved, deed.words),
            Answer("yes", "Do it anyway", "warning"),
            "Leave it",
        )
        anyway = await self.app.push_screen_wait(dialog)
        self.app.pen.has_seen(self.session, moved)
        return anyway

    def _show(self, deed: Deed, after: SessionState) -> None:
        """What became of it: the cursor goes to a step that is new."""
        self.update()
        panel = self.query_one(StepsPanel)
        record = after.plans.get(deed.plan_id)
        if record is None:
            return
        if deed.kind == CHANGE:
            if deed.added is not None:
                _go_to_new(panel, deed.plan_id, record, deed.added)
            if record.owner == AGENT and not self.app.knows_wishes:
                self.app.knows_wishes = True
                self.app.notify(_WISHES, timeout=8, markup=False)
            return
        if deed.kind == RUN:
            panel.forget_marks()
        said = "Taken back" if deed.kind == BACK else "The agent is told"
        self.app.notify(f"{said}: {one_line(deed.words)}", timeout=4, markup=False)


def _go_to_new(panel: StepsPanel, plan_id: PlanId, record: PlanRecord, text: str) -> None:
    for wish in reversed(record.wishes):
        if any(isinstance(change, AddStep) and change.content == text for change in wish.changes):
            panel.go_to_wish(plan_id, wish.seq)
            return
    for step in reversed(record.state.steps):
        if step.content == text:
            panel.go(step_row(plan_id, step.id))
            return
