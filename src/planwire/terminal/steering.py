"""Steering on the screen of a session: what an act means for the row under the cursor, and what to ask first.

An act is for the plan as it was on the screen when the person pressed the key, although the plan stays live behind a
dialog.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.binding import Binding

from planwire.errors import InputError, JournalError, PlanError
from planwire.model.events import APPROVED, CHANGES_REQUESTED, COMMENTED
from planwire.model.statuses import STATUSES
from planwire.model.steps import Step
from planwire.readmodel.annotations import suggestion_sentence
from planwire.readmodel.plain_text import one_line
from planwire.terminal.commander import Commander
from planwire.terminal.deeds import Target
from planwire.terminal.dialogs import Choice, ChoiceDialog, DecisionDialog, DialogAnswer
from planwire.terminal.lines import Line
from planwire.terminal.plan_card import SUGGESTION

if TYPE_CHECKING:
    from planwire.terminal.session_screen import SessionScreen

__all__ = ["ACTS", "PlanActs", "act_bindings"]

#: Characters of a step's text that a question about it repeats.
QUOTED: Final = 300
#: The verdicts, as buttons.
_VERDICTS: Final = (
    DialogAnswer(APPROVED, "Approve", "success"),
    DialogAnswer(CHANGES_REQUESTED, "Ask for changes", "warning"),
    DialogAnswer(COMMENTED, "Only comment"),
)


class Act(NamedTuple):
    """One row. `keys` are as Textual names them, and `display` is the one that people read. `name` is that of a method
    of `PlanActs`; `shown` says whether the footer has it."""

    keys: str
    name: str
    label: str
    meaning: str
    display: str
    shown: bool = False

    @property
    def action(self) -> str:
        """The action of the session's screen."""
        return f"act('{self.name}')"


ACTS: Final = (
    Act("x,space", "tick", "Tick", "done, or not done after all", "x", shown=True),
    Act("e", "reword", "Edit", "another text; a plan file opens in your editor", "e", shown=True),
    Act("a", "add", "Add", "a new step below; on a plan's head, on top", "a", shown=True),
    Act("c", "comment", "Comment", "on the step; on a plan's head, on the plan", "c", shown=True),
    Act("s", "mark", "Select", "choose the step to be run", "s", shown=True),
    Act("r,enter", "run", "Run", "only the selected steps, or this one", "r", shown=True),
    Act("v", "review", "Review", "approve the plan, or ask for changes", "v", shown=True),
    Act("o", "status", "Other status", ", ".join(row.spoken for row in STATUSES.values()), "o"),
    Act("alt+up,K", "move_up", "Move up", "among the steps beside it", "K"),
    Act("alt+down,J", "move_down", "Move down", "among the steps beside it", "J"),
    Act("d,delete", "remove", "Remove", "the step, and all that is nested in it", "d"),
    Act("C", "comment_plan", "Comment on the plan", "whatever step the cursor is on", "C"),
    Act("u", "take_back", "Take back", "a wish that has not come true", "u"),
)
_MENU: Final = Act("m", "menu", "More", "all that can be done with it", "m", shown=True)


def act_bindings() -> list[Binding]:
    """All of them as bindings of a screen, and one for the list of them."""
    made = []
    for act in (*ACTS, _MENU):
        first, *others = act.keys.split(",")
        display = act.display if first == act.display else None
        made.append(Binding(first, act.action, act.label, show=act.shown, key_display=display, tooltip=act.meaning))
        made += [Binding(key, act.action, act.label, show=False, tooltip=act.meaning) for key in others]
    return made


class PlanActs:
    """The acts of a person on the screen of a session: a method for each row of `ACTS`, by its name."""

    def __init__(self, screen: "SessionScreen") -> None:
        self._screen = screen
        self.commander = Commander(screen)

    def do(self, name: str, *arguments: str) -> None:
        """Do an act with the row under the cursor, or say why not."""
        self._screen.app.stay()
        try:
            getattr(self, name)(self._under_cursor(), *arguments)
        except (InputError, JournalError, PlanError) as refusal:
            self.commander.refuse(refusal)

    def _under_cursor(self) -> Target:
        panel = self._screen.panel
        card, row = panel.chosen, panel.cursor.row
        if card is None or row is None:
            raise PlanError("there is no plan here: nothing can be steered yet")
        if not panel.cursor.is_in_sight:
            panel.cursor.show()
            raise PlanError("the cursor was out of sight: here it is, press the key again")
        panel.looked_around()
        if row[0] == SUGGESTION and card.record is not None:
            return Target(card, suggestion=next(each for each in card.record.suggestions if each.seq == row[2]))
        return Target(card, panel.step)

    # -- single steps

    def tick(self, on: Target) -> None:
        self.commander.do(on.tick)

    def move_up(self, on: Target) -> None:
        self.commander.do(lambda: on.move(-1))

    def move_down(self, on: Target) -> None:
        self.commander.do(lambda: on.move(1))

    def drop(self, on: Target, after: str) -> None:
        self.commander.do(lambda: on.move_behind(after))

    def status(self, on: Target) -> None:
        step = on.the_step()
        on.changeable()
        self._choose(
            "What is this step?",
            [Choice(row.word, row.spoken, row.key) for row in STATUSES.values()],
            [_quoted(step)],
            lambda status: self.commander.do(lambda: on.set_status(status)),
        )

    def reword(self, on: Target) -> None:
        if on.card.is_file:
            self._screen.open_file(on.card.id)
            return
        on.changeable()
        if on.suggestion is not None:
            self.commander.ask(
                (on.card.id, "wish", on.suggestion.seq),
                "Another text for the step that is wished",
                [],
                on.new_step.content if on.new_step else "",
                [DialogAnswer("add", "Wish it", "primary")],
                lambda text, _: on.add_instead(text),
            )
            return
        step, words = on.the_step(), on.suggested_words()
        self.commander.ask(
            (on.card.id, "reword", step.id),
            "Another text for this step",
            [_quoted(step)] if words != step.content else [],
            words,
            [DialogAnswer("reword", "Wish it" if on.is_of_agent else "Change it", "primary")],
            lambda text, _: on.reword(text),
        )

    def add(self, on: Target) -> None:
        on.changeable()
        after = on.step.id if on.step else on.new_step.after if on.new_step else "" if on.card.state.steps else None
        self.commander.ask(
            (on.card.id, "add", after),
            "A new step",
            [_quoted(on.step, "below  ")] if on.step else [],
            "",
            [DialogAnswer("add", "Wish it" if on.is_of_agent else "Add it", "primary")],
            lambda text, _: on.add(after, text),
        )

    def remove(self, on: Target) -> None:
        deed = on.take_back(on.suggestion) if on.suggestion else on.remove()
        if on.suggestion is not None or on.is_of_agent:  # the next key can undo it
            self.commander.do(lambda: deed)
            return
        nested = on.nested()
        more = [Line(((f"and {nested} more that are nested in it", "muted"),))] if nested else []
        remove = DialogAnswer("yes", "Remove it", "error")
        dialog = DecisionDialog("Remove this step?", [_quoted(on.the_step()), *more], remove, "Keep it")
        self._screen.app.push_screen(dialog, lambda yes: self.commander.do(lambda: deed) if yes else None)

    # -- words

    def comment(self, on: Target) -> None:
        on.steerable()
        step = on.step
        self.commander.ask(
            (on.card.id, "comment", step.id if step else None),
            f"Say something about {'this step' if step else _named(on)}",
            [_quoted(step)] if step else [],
            "",
            [DialogAnswer("comment", "Say it", "primary")],
            lambda text, _: on.say(COMMENTED, text, step),
        )

    def comment_plan(self, on: Target) -> None:
        self.comment(Target(on.card))

    def review(self, on: Target) -> None:
        record = on.steerable()
        about = []
        if record.asked is not None and record.asked.options:
            where = f" in {one_line(on.card.client)}" if on.card.client else " in its client"
            words = f"The agent waits for an answer{where}: this one it hears with its next prompt."
            about.append(Line(((words, "muted"),)))
        self.commander.ask(
            (on.card.id, "review"),
            f"Your word on {_named(on)}, revision {record.revision}",
            about,
            "",
            _VERDICTS,
            lambda text, verdict: on.say(verdict, text),
            "comments, if you like",
        )

    # -- running some steps only

    def mark(self, on: Target) -> None:
        step = on.the_step()
        on.changeable()
        self._screen.panel.toggle_mark(on.card.id, step.id)

    def run(self, on: Target) -> None:
        on.changeable()
        chosen = self._screen.panel.marks_of(on.card.id) or {on.the_step().id}
        steps = [step for step in on.card.state.steps if step.id in chosen]
        one = len(steps) == 1
        self.commander.ask(
            (on.card.id, "run"),
            "Run only this step for now" if one else f"Run only these {len(steps)} steps for now",
            [_quoted(step, "▸ ") for step in steps],
            "",
            [DialogAnswer("run", "Run it" if one else "Run them", "success")],
            lambda text, _: on.say(APPROVED, text, selected=[step.id for step in steps]),
            "comments, if you like",
        )

    # -- suggestions, and everything

    def take_back(self, on: Target) -> None:
        here, record = on.open_suggestions(), on.card.record
        suggestions = {str(suggestion.seq): suggestion for suggestion in here or (record.suggestions if record else ())}
        if record is None or not suggestions:
            raise PlanError("no wish is open here: there is nothing to take back")
        if len(here) == 1:
            self.commander.do(lambda: on.take_back(here[0]))
            return
        choices = [
            Choice(seq, one_line(suggestion_sentence(record, suggestion))) for seq, suggestion in suggestions.items()
        ]
        self._choose(
            "Take back which wish?", choices, [], lambda seq: self.commander.do(lambda: on.take_back(suggestions[seq]))
        )

    def menu(self, on: Target) -> None:
        """All the acts, for the row under the cursor."""
        wide = max(len(act.label) for act in ACTS)
        choices = [Choice(act.action, f"{act.label:<{wide}}  ", act.display, act.meaning) for act in ACTS]
        about = [_quoted(on.step)] if on.step else []
        run = self._screen.run_action
        self._choose("What can be done", choices, about, lambda action: self._screen.call_later(run, action))

    def _choose(
        self, title: str, choices: Sequence[Choice], about: Sequence[Line], then: Callable[[str], object]
    ) -> None:
        def chosen(value: str | None) -> None:
            if value is not None:
                then(value)

        self._screen.app.push_screen(ChoiceDialog(title, choices, about), chosen)


def _named(on: Target) -> str:
    return "the plan" if on.card.id is None else f"the plan {one_line(on.card.id)[:QUOTED]}"


def _quoted(step: Step, before: str = "") -> Line:
    words = one_line(step.content)
    return Line(((f"{before}{words if len(words) <= QUOTED else f'{words[:QUOTED]} …'}", "muted"),))
