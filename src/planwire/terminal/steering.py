"""Steering on the screen of a session: what a key means for what is under the cursor, and what is asked first.

Everything is tied to the plan as it was shown when the key was pressed, although the plan goes on being live behind a
dialog.
"""

from collections.abc import Callable
from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual import on
from textual.binding import BindingType
from textual.widgets.button import ButtonVariant

from planwire.errors import PlanError
from planwire.model.events import APPROVED, CHANGES_REQUESTED, COMMENTED, AddStep
from planwire.model.fold import AGENT, Delta
from planwire.model.plan import FilePlan, PlanId
from planwire.model.steps import Step
from planwire.readmodel.annotations import wish_sentence
from planwire.readmodel.plain_text import one_line
from planwire.terminal import deeds, step_deeds
from planwire.terminal.command_screen import DoingScreen
from planwire.terminal.dialogs import Answer, Choice, ChoiceDialog, DecisionDialog
from planwire.terminal.key_bindings import ACTS, STATUS_KEYS, bindings
from planwire.terminal.plan_card import STEP, WISH, Card
from planwire.terminal.steps_panel import StepsPanel

__all__ = ["SteeringScreen"]

#: How much of a step's text is repeated where it is asked about.
QUOTED: Final = 300
_VARIANTS: Final[dict[str, ButtonVariant]] = {APPROVED: "success", CHANGES_REQUESTED: "warning", COMMENTED: "default"}


class _Target(NamedTuple):
    """What the cursor is on: a plan, and one of its steps or wishes."""

    card: Card
    step: Step | None = None
    wish: Delta | None = None

    @property
    def name(self) -> str:
        return "the plan" if self.card.id is None else f"the plan {one_line(self.card.id)[:QUOTED]}"

    @property
    def is_file(self) -> bool:
        return self.card.uri is not None or isinstance(self.card.state.plan, FilePlan)

    @property
    def is_of_agent(self) -> bool:
        return self.card.record is not None and self.card.record.owner == AGENT

    def the_step(self) -> Step:
        if self.wish is not None:
            raise PlanError("this step is only wished: e rewords it, u takes it back")
        if self.step is None:
            raise PlanError("no step is under the cursor: go to one with the arrow keys")
        return self.step


class SteeringScreen(DoingScreen):
    """A screen with a `StepsPanel` whose plans are steered."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]

    def open_file(self, plan_id: PlanId) -> None:
        """Open a plan file in the user's editor."""
        raise NotImplementedError

    # -- what is meant

    def _target(self) -> _Target:
        panel = self.query_one(StepsPanel)
        card, row = panel.chosen, panel.cursor
        if card is None or row is None:
            raise PlanError("there is no plan here: nothing can be steered yet")
        if not panel.cursor_is_in_sight:
            panel.show_cursor()
            raise PlanError("the cursor was out of sight: here it is, press the key again")
        panel.follow = False
        if row[0] == WISH:
            return _Target(card, wish=next(each for each in step_deeds.open_wishes(card) if each.seq == row[2]))
        return _Target(card, next((each for each in card.state.steps if row[0] == STEP and each.id == row[2]), None))

    def _attempt(self, work: Callable[[_Target], None]) -> None:
        """Do something with what is under the cursor, or say why not."""
        self.app.stay()
        self._try(lambda: work(self._target()))

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except PlanError as refusal:
            self.refuse(refusal)

    # -- single steps

    def action_tick(self) -> None:
        self._attempt(lambda target: self.do(step_deeds.tick(target.card, target.the_step())))

    def action_shift(self, by: int) -> None:
        self._attempt(lambda target: self.do(step_deeds.move(target.card, target.the_step(), by)))

    def action_status(self) -> None:
        self._attempt(self._ask_for_status)

    def _ask_for_status(self, target: _Target) -> None:
        card, step = target.card, target.the_step()
        deeds.check_changeable(card)

        def chosen(status: str | None) -> None:
            if status is not None:
                self._try(lambda: self.do(step_deeds.set_status(card, step, status)))

        choices = [Choice(status, Text(name), key) for status, (key, name) in STATUS_KEYS.items()]
        self.app.push_screen(ChoiceDialog("What is this step?", choices, [_quoted(step)]), chosen)

    def action_reword(self) -> None:
        self._attempt(self._ask_for_text)

    def _ask_for_text(self, target: _Target) -> None:
        card, wish = target.card, target.wish
        if target.is_file:
            self.open_file(card.id)
            return
        deeds.check_changeable(card)
        if wish is not None:
            words = next((each.content for each in wish.changes if isinstance(each, AddStep)), "")
            answers = [Answer("add", "Wish it", "primary")]
            self.ask(
                (card.id, "wish", wish.seq),
                "Another text for the step that is wished",
                [],
                words,
                answers,
                lambda text, _: step_deeds.add_instead(card, wish, text),
            )
            return
        step = target.the_step()
        answers = [Answer("reword", "Wish it" if target.is_of_agent else "Change it", "primary")]
        words = step_deeds.wished_words(card, step)
        about = [_quoted(step)] if words != step.content else []
        self.ask(
            (card.id, "reword", step.id),
            "Another text for this step",
            about,
            words,
            answers,
            lambda text, _: step_deeds.reword(card, step, text),
        )

    def action_add(self) -> None:
        self._attempt(self._ask_for_step)

    def _ask_for_step(self, target: _Target) -> None:
        card = target.card
        deeds.check_changeable(card)
        wished = (
            next((each for each in target.wish.changes if isinstance(each, AddStep)), None) if target.wish else None
        )
        after = target.step.id if target.step else wished.after if wished else "" if card.state.steps else None
        answers = [Answer("add", "Wish it" if target.is_of_agent else "Add it", "primary")]
        about = [_quoted(target.step, "below  ")] if target.step else []
        key = (card.id, "add", after)
        self.ask(key, "A new step", about, "", answers, lambda text, _: step_deeds.add(card, after, text))

    def action_remove(self) -> None:
        self._attempt(self._remove)

    def _remove(self, target: _Target) -> None:
        if target.wish is not None:
            self.do(step_deeds.take_back(target.card, target.wish))
            return
        step = target.the_step()
        deed = step_deeds.remove(target.card, step)
        if target.is_of_agent:  # a wish, which can be taken back
            self.do(deed)
            return
        nested = step_deeds.nested_in(target.card, step)
        about = [_quoted(step), *([Text(f"and {nested} more that are nested in it", "dim")] if nested else [])]
        dialog = DecisionDialog("Remove this step?", about, Answer("yes", "Remove it", "error"), "Keep it")
        self.app.push_screen(dialog, lambda yes: self.do(deed) if yes else None)

    # -- words

    def action_comment(self) -> None:
        self._attempt(lambda target: self._ask_for_comment(target.card, target.step, target.name))

    def action_comment_plan(self) -> None:
        self._attempt(lambda target: self._ask_for_comment(target.card, None, target.name))

    def _ask_for_comment(self, card: Card, step: Step | None, name: str) -> None:
        deeds.check_reviewable(card)
        title = "Say something about this step" if step else f"Say something about {name}"
        answers = [Answer("comment", "Say it", "primary")]
        about = [_quoted(step)] if step else []
        key = (card.id, "comment", step.id if step else None)
        self.ask(key, title, about, "", answers, lambda text, _: deeds.comment(card, step, text))

    def action_review(self) -> None:
        self._attempt(self._ask_for_review)

    def _ask_for_review(self, target: _Target) -> None:
        card = target.card
        record = deeds.check_reviewable(card)
        about = []
        if record.asked is not None and record.asked.options:
            where = f" in {one_line(card.client)}" if card.client else " in its client"
            about.append(Text(f"The agent waits for an answer{where}: this one it hears with its next prompt.", "dim"))
        answers = [Answer(verdict, label, _VARIANTS[verdict]) for verdict, label in deeds.VERDICTS.items()]
        self.ask(
            (card.id, "review"),
            f"Your word on {target.name}, revision {record.revision}",
            about,
            "",
            answers,
            lambda text, verdict: deeds.review(card, verdict, text),
            "comments, if you like",
        )

    # -- running some steps only

    def action_mark(self) -> None:
        self._attempt(self._mark)

    def _mark(self, target: _Target) -> None:
        step = target.the_step()
        deeds.check_changeable(target.card)
        self.query_one(StepsPanel).toggle_mark(target.card.id, step.id)

    def action_run(self) -> None:
        self._attempt(self._ask_to_run)

    def _ask_to_run(self, target: _Target) -> None:
        card = target.card
        deeds.check_changeable(card)
        chosen = self.query_one(StepsPanel).marks_of(card.id) or {target.the_step().id}
        steps = [step for step in card.state.steps if step.id in chosen]
        one = len(steps) == 1
        self.ask(
            (card.id, "run"),
            "Run only this step for now" if one else f"Run only these {len(steps)} steps for now",
            [_quoted(step, "▸ ") for step in steps],
            "",
            [Answer("run", "Run it" if one else "Run them", "success")],
            lambda text, _: deeds.review(card, APPROVED, text, [step.id for step in steps]),
            "comments, if you like",
        )

    # -- wishes, and everything

    def action_take_back(self) -> None:
        self._attempt(self._take_back)

    def _take_back(self, target: _Target) -> None:
        card, record = target.card, target.card.record
        here = [target.wish] if target.wish else step_deeds.open_wishes(card, target.step.id) if target.step else []
        wishes = {str(wish.seq): wish for wish in here or step_deeds.open_wishes(card)}
        if record is None or not wishes:
            raise PlanError("no wish is open here: there is nothing to take back")
        if len(here) == 1:
            self.do(step_deeds.take_back(card, here[0]))
            return

        def chosen(seq: str | None) -> None:
            if seq is not None:
                self.do(step_deeds.take_back(card, wishes[seq]))

        choices = [Choice(seq, Text(one_line(wish_sentence(record, wish)))) for seq, wish in wishes.items()]
        self.app.push_screen(ChoiceDialog("Take back which wish?", choices), chosen)

    def action_menu(self) -> None:
        """All that can be done with what is under the cursor."""
        self._attempt(self._show_menu)

    def _show_menu(self, target: _Target) -> None:
        def chosen(action: str | None) -> None:
            if action is not None:
                self.call_later(self.run_action, action)

        wide = max(len(act.name) for act in ACTS)
        choices = [
            Choice(act.action, Text(f"{act.name:<{wide}}  ").append(act.meaning, "dim"), act.display) for act in ACTS
        ]
        about = [_quoted(target.step)] if target.step else []
        self.app.push_screen(ChoiceDialog("What can be done", choices, about), chosen)

    @on(StepsPanel.Wanted)
    async def _wanted(self, event: StepsPanel.Wanted) -> None:
        await self.run_action(event.action)

    @on(StepsPanel.Dropped)
    def _dropped(self, event: StepsPanel.Dropped) -> None:
        self._attempt(lambda target: self.do(step_deeds.moved_behind(target.card, target.the_step(), event.after)))

    @on(StepsPanel.Moved)
    def _looks_around(self) -> None:
        self.app.stay()


def _quoted(step: Step, before: str = "") -> Text:
    words = one_line(step.content)
    return Text(before, "dim").append(words if len(words) <= QUOTED else f"{words[:QUOTED]} …", "dim")
