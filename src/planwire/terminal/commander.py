"""The commander of a session's screen: it asks for text, writes acts to the journal, and asks again after a conflict.

Typed text is never lost: a dialog stays open until the journal has its act, and an unsent text is there again when the
person comes back.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace
from textual.app import SuspendNotSupported

from planwire.errors import InputError, InterruptNeeded, JournalError, NothingChanges, PlanError, Refused
from planwire.readmodel.card import PlanCard, PlanId
from planwire.readmodel.plain_text import one_line
from planwire.session.editor import edit_file, edited_text, editor_command, text_after_conflict, text_to_edit
from planwire.session.moved_on import MovedOn
from planwire.session.steering import Steered
from planwire.steering.acts import ACTS
from planwire.steering.wanted import Comment, Wanted
from planwire.steering.words import in_a_row
from planwire.terminal.change_lines import conflict_lines
from planwire.terminal.dialogs import DecisionDialog, DialogAnswer
from planwire.terminal.lines import Line
from planwire.terminal.rows import REMARK, STEP
from planwire.terminal.text_dialog import TextDialog, Typed, harmless

if TYPE_CHECKING:
    from planwire.terminal.session_screen import SessionScreen

#: Seconds after which a person is told that a write is still waiting.
PATIENCE: Final = 1.5
_HINT: Final = "Press u to undo it."
_BUSY: Final = "The journal is busy: someone else is writing to it. Your change is saved as soon as they are done."
_UNCHANGED: Final = "Nothing to save: the text is as it was."
_CHANGED: Final = "The plan changed while you were typing."
_CHANGED_UNDER_KEY: Final = "The plan changed since you looked at it."
_KEEP: Final = DialogAnswer("keep", "Keep in force", key="Ctrl+T")
_SEND: Final = DialogAnswer("send", "Send anyway", "warning", "s")
_EDIT: Final = DialogAnswer("edit", "Edit", key="e")
_DISCARD: Final = DialogAnswer("discard", "Discard", key="d")
_INTERRUPT: Final = DialogAnswer("interrupt", "Cancel the turn, and tell", "warning", "y")
_WAIT: Final = DialogAnswer("wait", "Not now", key="n")
#: The argument that holds the edited text of a plan.
_EDITED: Final = "edited"
#: The answer that sends a text and has the agent told at once.
NOW: Final = "now"


class TextQuestion(NamedTuple):
    """A question for the text of an act. It begins with `text`, and what the person writes becomes the `argument` of
    the act. An answer in `others` calls its function, which returns whether that is done; any other of the `answers`
    sends the act. `keeps`: the words can be kept in force; `kept`: that is switched on at first. An unchanged text is
    not sent, except for an edited plan, which is approved all the same."""

    title: str
    answers: Sequence[DialogAnswer]
    about: Sequence[Line] = ()
    text: str = ""
    placeholder: str = ""
    keeps: bool = False
    kept: bool = False
    others: Mapping[str, Callable[[Typed], bool]] = {}
    argument: str = "text"


class Commander:
    """Writes acts for the session on a screen."""

    def __init__(self, screen: "SessionScreen") -> None:
        self._screen = screen

    def say(self, words: str, seconds: float = 4) -> None:
        """Show a message in place of the one before: a key held down would otherwise fill the screen."""
        self._screen.app.clear_notifications()
        self._screen.app.notify(one_line(words), timeout=seconds, markup=False)

    def refuse(self, why: Exception) -> None:
        """Say why something is impossible."""
        words = str(why)
        self._screen.app.clear_notifications()
        self._screen.app.notify(f"{words[:1].upper()}{words[1:]}", severity="warning", markup=False)

    def ask(self, card: PlanCard, wanted: Wanted, question: TextQuestion) -> None:
        """Ask for the text of an act, and send it. An unsent text comes back the next time the person starts this
        act."""
        app = self._screen.app
        quote = wanted.passage.text if wanted.passage else None
        key = (self._screen.session, card.id, wanted.act, wanted.target, wanted.after, quote, question.argument)
        text, is_edit = harmless(question.text), question.argument == _EDITED

        async def send(typed: Typed) -> bool:
            nonlocal wanted
            if typed.answer in question.others:
                return question.others[typed.answer](typed)
            is_same = bool(text) and typed.text == text
            if is_same and not is_edit:
                self.say(_UNCHANGED, 3)
                return True
            said: dict[str, Any] = {
                "keep": True if typed.switched else None,
                "now": True if typed.answer == NOW else None,
            }
            said[question.argument] = None if is_same else typed.text
            again = await self.perform(card.id, replace(wanted, **said), dialog)
            wanted = again or wanted
            return again is None

        def left(unsent: str | None) -> None:
            app.drafts.pop(key, None)
            if unsent is not None and unsent.strip() not in ("", text.strip()):
                app.drafts[key] = unsent
                self.say("Your text is kept: it is there when you come back.", 3)

        words, switch = app.drafts.get(key, text), _KEEP if question.keeps else None
        title, answers, about, *_ = question
        dialog = TextDialog(title, about, words, answers, send, left, question.placeholder, switch, question.kept)
        app.push_screen(dialog)

    def do(self, plan_id: PlanId, wanted: Wanted) -> None:
        """Perform in the background, even if the person leaves the screen meanwhile."""
        self._screen.app.run_worker(self.perform(plan_id, wanted))

    async def perform(self, plan_id: PlanId, wanted: Wanted, dialog: TextDialog | None = None) -> Wanted | None:
        """Write an act, or say why not. Returns None once it is settled, or else what to try again with.

        `dialog`: where the person can go on editing the text of the act.
        """
        sent_anyway = False
        while True:
            try:
                steered = await self._write(plan_id, wanted)
            except MovedOn as moved:
                answers = [*([_SEND] if moved.fits_anyway else []), *([_EDIT] if dialog else []), _DISCARD]
                if moved.instead:
                    answers.insert(0, DialogAnswer("instead", moved.instead.label, "warning", "a"))
                answer = await self._decide_again(moved, wanted, answers, dialog)
                if moved.instead and answer == "instead":
                    wanted, sent_anyway = moved.instead.wanted, True
                elif answer == _SEND.value:
                    wanted, sent_anyway = replace(wanted, seen=moved.revision, anyway=True), True
                else:
                    return replace(wanted, seen=moved.revision) if answer == _EDIT.value else None
            except InterruptNeeded as needed:
                if not await self._may_interrupt(needed, dialog):
                    return wanted
                wanted = replace(wanted, interrupt=True)
            except (PlanError, JournalError) as error:
                self.refuse(error)
                return wanted
            else:
                self._show(plan_id, wanted, steered, anyway=sent_anyway)
                return None

    async def _write(self, plan_id: PlanId, wanted: Wanted) -> Steered:
        app = self._screen.app
        waiting = app.set_timer(PATIENCE, lambda: app.notify(_BUSY, markup=False))
        try:
            session = app.sessions.get(self._screen.session)
            if session is None:
                raise PlanError("this session is no longer in the journal")
            return await app.writes.write(session, plan_id, wanted)
        finally:
            waiting.stop()

    async def _may_interrupt(self, needed: InterruptNeeded, over: TextDialog | None) -> bool:
        """Ask whether to cancel the agent's turn, so that the agent can be told something."""
        about = [Line(((one_line(str(needed)), "muted"),))]
        dialog = DecisionDialog("Cancel the agent's turn?", about, [_INTERRUPT, _WAIT], _WAIT.value)
        return await self._screen.app.decide(dialog, over) == _INTERRUPT.value

    async def _decide_again(
        self, moved: MovedOn, wanted: Wanted, answers: Sequence[DialogAnswer], over: TextDialog | None = None
    ) -> str:
        safe = _EDIT if _EDIT in answers else _DISCARD
        words = wanted.text or moved.text_of(wanted.target)
        about = Line(((f"{ACTS[wanted.act].label}  ", "muted"), (one_line(words), "strong")))
        has_typed = any(each is not None for each in (wanted.text, wanted.plan_text, wanted.edited))
        title = _CHANGED if has_typed else _CHANGED_UNDER_KEY
        dialog = DecisionDialog(title, [about, *conflict_lines(moved)], answers, safe.value)
        return await self._screen.app.decide(dialog, over) or safe.value

    def _show(self, plan_id: PlanId, wanted: Wanted, steered: Steered, *, anyway: bool = False) -> None:
        """Report the outcome of an act, show the session after it, and move the cursor to a new step. For an act sent
        `anyway`, name the revision that it was applied to, which is not the one the person saw."""
        app, panel = self._screen.app, self._screen.panel
        first = steered.is_suggestion and not app.knows_suggestions
        app.knows_suggestions |= steered.is_suggestion
        applied = f"Applied to revision {steered.seen} of the plan." if anyway else ""
        words = in_a_row(steered.words, applied, _HINT if first else "")
        self.say(words if words.endswith((".", "”")) else f"{words}.", 6)
        if wanted.act == "review":
            said = (Comment(wanted.text),) if wanted.text else ()
            app.reviews.note_sent(self._screen.session, plan_id, (*said, *(wanted.comments or ())))
        elif wanted.act == "withdraw" and wanted.target is None:
            app.reviews.bring_back(self._screen.session, plan_id)
        if not panel.is_attached:  # the person left it meanwhile
            return
        self._screen.update()
        panel.update_lines()
        if wanted.steps is not None:
            panel.forget_marks()
        new = (STEP, plan_id, steered.added) if steered.added else (REMARK, plan_id, steered.remark)
        rows = [row for row in panel.cursor.rows if row[:3] == new]
        if rows and (wanted.act == "add" or wanted.is_on_remark):
            panel.cursor.go(rows[0])

    # -- in the person's editor

    def open_file(self, path: str) -> None:
        """Open a file in the person's editor."""
        editor = editor_command()
        with self._on_terminal(editor[0]):
            edit_file(path, editor)

    async def edit(self, card: PlanCard) -> None:
        """Let the person edit all steps of a plan as a text, until they save or discard it."""
        try:
            await self._edit(card)
        except (InputError, PlanError, Refused) as error:
            self.refuse(error)

    async def _edit(self, card: PlanCard) -> None:
        text, problem, seen = text_to_edit(card.record) if card.record else "", "", card.revision
        while True:
            editor = editor_command()
            with self._on_terminal(editor[0]):
                before, text = text, edited_text(text, editor, problem)
            if text == before and not problem:
                self.say(_UNCHANGED, 3)
                return
            wanted = Wanted("suggest", seen=seen, plan_text=text)
            try:
                self._show(card.id, wanted, await self._write(card.id, wanted))
                return
            except MovedOn as moved:
                if await self._decide_again(moved, wanted, [_EDIT, _DISCARD]) == _DISCARD.value:
                    return
                text, problem, seen = text_after_conflict(moved, text), _CHANGED, moved.revision
            except NothingChanges as nothing:
                self.refuse(nothing)
                return
            except (PlanError, JournalError) as error:
                problem = one_line(str(error))
                about = [Line(((problem, "odd"),))]
                dialog = DecisionDialog("Not saved", about, [_EDIT, _DISCARD], _EDIT.value)
                if await self._screen.app.decide(dialog, None) == _DISCARD.value:
                    return

    @contextmanager
    def _on_terminal(self, editor: str) -> Iterator[None]:
        """Hand the terminal to an editor."""
        try:
            with self._screen.app.suspend():
                yield
        except SuspendNotSupported as error:
            raise InputError(f"the editor {editor!r} could not be started ({error}): set $VISUAL or $EDITOR") from None
