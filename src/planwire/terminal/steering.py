"""Steering on the screen of a session: what an act means for the row under the cursor, and what to ask first.

An act is for the plan as it was on the screen when the person pressed the key, although the plan stays live behind a
dialog.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from planwire.errors import PlanError
from planwire.model.events import APPROVED, CHANGES_REQUESTED, COMMENTED, AddStep
from planwire.model.fold import AGENT, Delta
from planwire.model.statuses import STATUSES
from planwire.model.steps import Step
from planwire.readmodel.annotations import wish_sentence
from planwire.readmodel.plain_text import one_line
from planwire.terminal import deeds
from planwire.terminal.commander import Commander
from planwire.terminal.dialogs import Choice, ChoiceDialog, DecisionDialog, DialogAnswer
from planwire.terminal.key_bindings import ACTS
from planwire.terminal.lines import Line
from planwire.terminal.plan_card import STEP, WISH, Card

if TYPE_CHECKING:
    from planwire.terminal.session_screen import SessionScreen

__all__ = ["PlanActs"]

#: Characters of a step's text that a question about it repeats.
QUOTED: Final = 300
#: The verdicts, as buttons.
_VERDICTS: Final = (
    DialogAnswer(APPROVED, "Approve", "success"),
    DialogAnswer(CHANGES_REQUESTED, "Ask for changes", "warning"),
    DialogAnswer(COMMENTED, "Only comment"),
)


class _UnderCursor(NamedTuple):
    """A plan, and the step or the wish of it that the cursor is on."""

    card: Card
    step: Step | None = None
    wish: Delta | None = None

    @property
    def name(self) -> str:
        return "the plan" if self.card.id is None else f"the plan {one_line(self.card.id)[:QUOTED]}"

    @property
    def is_of_agent(self) -> bool:
        return self.card.record is not None and self.card.record.owner == AGENT

    @property
    def new_step(self) -> AddStep | None:
        """The new step that the wish is for."""
        changes = self.wish.changes if self.wish else ()
        return next((each for each in changes if isinstance(each, AddStep)), None)

    def the_step(self) -> Step:
        if self.wish is not None:
            raise PlanError("this step is only wished: e rewords it, u takes it back")
        if self.step is None:
            raise PlanError("no step is under the cursor: go to one with the arrow keys")
        return self.step


class PlanActs:
    """The acts of a person on the screen of a session."""

    def __init__(self, screen: "SessionScreen") -> None:
        self._screen = screen
        self.commander = Commander(screen)
        self._acts: dict[str, Callable[[_UnderCursor, int], None]] = {
            "tick": lambda on, _: self.commander.do(deeds.tick(on.card, on.the_step())),
            "shift": lambda on, by: self.commander.do(deeds.move(on.card, on.the_step(), by)),
            "status": lambda on, _: self._ask_for_status(on),
            "reword": lambda on, _: self._ask_for_text(on),
            "add": lambda on, _: self._ask_for_step(on),
            "remove": lambda on, _: self._remove(on),
            "comment": lambda on, _: self._ask_for_comment(on, on.step),
            "comment_plan": lambda on, _: self._ask_for_comment(on, None),
            "review": lambda on, _: self._ask_for_review(on),
            "mark": lambda on, _: self._mark(on),
            "run": lambda on, _: self._ask_to_run(on),
            "take_back": lambda on, _: self._take_back(on),
            "menu": lambda on, _: self._show_menu(on),
        }

    def do(self, name: str, by: int = 0) -> None:
        """Do an act of `key_bindings.ACTS` with the row under the cursor, or say why not."""
        self._screen.app.stay()
        self._attempt(lambda: self._acts[name](self._under_cursor(), by))

    def drop(self, after: str) -> None:
        """Put the step under the cursor behind another one."""
        self._screen.app.stay()
        self._attempt(lambda: self._drop(self._under_cursor(), after))

    def _attempt(self, work: Callable[[], None]) -> None:
        try:
            work()
        except PlanError as refusal:
            self.commander.refuse(refusal)

    def _under_cursor(self) -> _UnderCursor:
        panel = self._screen.panel
        card, row = panel.chosen, panel.cursor.row
        if card is None or row is None:
            raise PlanError("there is no plan here: nothing can be steered yet")
        if not panel.cursor.is_in_sight:
            panel.cursor.show()
            raise PlanError("the cursor was out of sight: here it is, press the key again")
        panel.looked_around()
        if row[0] == WISH:
            return _UnderCursor(card, wish=next(each for each in deeds.open_wishes(card) if each.seq == row[2]))
        step = next((each for each in card.state.steps if row[0] == STEP and each.id == row[2]), None)
        return _UnderCursor(card, step)

    # -- single steps

    def _drop(self, on: _UnderCursor, after: str) -> None:
        self.commander.do(deeds.moved_behind(on.card, on.the_step(), after))

    def _ask_for_status(self, on: _UnderCursor) -> None:
        card, step = on.card, on.the_step()
        deeds.check_changeable(card)

        def chosen(status: str | None) -> None:
            if status is not None:
                self._attempt(lambda: self.commander.do(deeds.set_status(card, step, status)))

        choices = [Choice(row.word, row.spoken, row.key) for row in STATUSES.values()]
        self._screen.app.push_screen(ChoiceDialog("What is this step?", choices, [_quoted(step)]), chosen)

    def _ask_for_text(self, on: _UnderCursor) -> None:
        card, wish = on.card, on.wish
        if card.is_file:
            self._screen.open_file(card.id)
            return
        deeds.check_changeable(card)
        if wish is not None:
            self.commander.ask(
                (card.id, "wish", wish.seq),
                "Another text for the step that is wished",
                [],
                on.new_step.content if on.new_step else "",
                [DialogAnswer("add", "Wish it", "primary")],
                lambda text, _: deeds.add_instead(card, wish, text),
            )
            return
        step = on.the_step()
        words = deeds.wished_words(card, step)
        self.commander.ask(
            (card.id, "reword", step.id),
            "Another text for this step",
            [_quoted(step)] if words != step.content else [],
            words,
            [DialogAnswer("reword", "Wish it" if on.is_of_agent else "Change it", "primary")],
            lambda text, _: deeds.reword(card, step, text),
        )

    def _ask_for_step(self, on: _UnderCursor) -> None:
        card = on.card
        deeds.check_changeable(card)
        after = on.step.id if on.step else on.new_step.after if on.new_step else "" if card.state.steps else None
        self.commander.ask(
            (card.id, "add", after),
            "A new step",
            [_quoted(on.step, "below  ")] if on.step else [],
            "",
            [DialogAnswer("add", "Wish it" if on.is_of_agent else "Add it", "primary")],
            lambda text, _: deeds.add(card, after, text),
        )

    def _remove(self, on: _UnderCursor) -> None:
        if on.wish is not None:
            self.commander.do(deeds.take_back(on.card, on.wish))
            return
        step = on.the_step()
        deed = deeds.remove(on.card, step)
        if on.is_of_agent:  # a wish, which can be taken back
            self.commander.do(deed)
            return
        nested = deeds.nested_in(on.card, step)
        more = [Line(((f"and {nested} more that are nested in it", "muted"),))] if nested else []
        remove = DialogAnswer("yes", "Remove it", "error")
        dialog = DecisionDialog("Remove this step?", [_quoted(step), *more], remove, "Keep it")
        self._screen.app.push_screen(dialog, lambda yes: self.commander.do(deed) if yes else None)

    # -- words

    def _ask_for_comment(self, on: _UnderCursor, step: Step | None) -> None:
        card = on.card
        deeds.check_steerable(card)
        self.commander.ask(
            (card.id, "comment", step.id if step else None),
            "Say something about this step" if step else f"Say something about {on.name}",
            [_quoted(step)] if step else [],
            "",
            [DialogAnswer("comment", "Say it", "primary")],
            lambda text, _: deeds.comment(card, step, text),
        )

    def _ask_for_review(self, on: _UnderCursor) -> None:
        card = on.card
        record = deeds.check_steerable(card)
        about = []
        if record.asked is not None and record.asked.options:
            where = f" in {one_line(card.client)}" if card.client else " in its client"
            words = f"The agent waits for an answer{where}: this one it hears with its next prompt."
            about.append(Line(((words, "muted"),)))
        self.commander.ask(
            (card.id, "review"),
            f"Your word on {on.name}, revision {record.revision}",
            about,
            "",
            _VERDICTS,
            lambda text, verdict: deeds.review(card, verdict, text),
            "comments, if you like",
        )

    # -- running some steps only

    def _mark(self, on: _UnderCursor) -> None:
        step = on.the_step()
        deeds.check_changeable(on.card)
        self._screen.panel.toggle_mark(on.card.id, step.id)

    def _ask_to_run(self, on: _UnderCursor) -> None:
        card = on.card
        deeds.check_changeable(card)
        chosen = self._screen.panel.marks_of(card.id) or {on.the_step().id}
        steps = [step for step in card.state.steps if step.id in chosen]
        one = len(steps) == 1
        self.commander.ask(
            (card.id, "run"),
            "Run only this step for now" if one else f"Run only these {len(steps)} steps for now",
            [_quoted(step, "▸ ") for step in steps],
            "",
            [DialogAnswer("run", "Run it" if one else "Run them", "success")],
            lambda text, _: deeds.review(card, APPROVED, text, [step.id for step in steps]),
            "comments, if you like",
        )

    # -- wishes, and everything

    def _take_back(self, on: _UnderCursor) -> None:
        card, record = on.card, on.card.record
        here = [on.wish] if on.wish else deeds.open_wishes(card, on.step.id) if on.step else []
        wishes = {str(wish.seq): wish for wish in here or deeds.open_wishes(card)}
        if record is None or not wishes:
            raise PlanError("no wish is open here: there is nothing to take back")
        if len(here) == 1:
            self.commander.do(deeds.take_back(card, here[0]))
            return

        def chosen(seq: str | None) -> None:
            if seq is not None:
                self.commander.do(deeds.take_back(card, wishes[seq]))

        choices = [Choice(seq, one_line(wish_sentence(record, wish))) for seq, wish in wishes.items()]
        self._screen.app.push_screen(ChoiceDialog("Take back which wish?", choices), chosen)

    def _show_menu(self, on: _UnderCursor) -> None:
        """All the acts, for the row under the cursor."""

        def chosen(action: str | None) -> None:
            if action is not None:
                self._screen.call_later(self._screen.run_action, action)

        wide = max(len(act.label) for act in ACTS)
        choices = [Choice(act.action, f"{act.label:<{wide}}  ", act.display, act.meaning) for act in ACTS]
        about = [_quoted(on.step)] if on.step else []
        self._screen.app.push_screen(ChoiceDialog("What can be done", choices, about), chosen)


def _quoted(step: Step, before: str = "") -> Line:
    words = one_line(step.content)
    return Line(((f"{before}{words if len(words) <= QUOTED else f'{words[:QUOTED]} …'}", "muted"),))
