"""Steering on the screen of a session: from a key and the row under the cursor to what the person wants.

The table of acts says which keys there are and what an act needs; what it means is decided when it is written. An act
is for the plan as it was on the screen when the person pressed the key, although the plan stays live behind a dialog.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from planwire.errors import InputError, JournalError, PlanError, Refused
from planwire.readmodel.card import STATUS_CHOICES, PlanCard, StepRow
from planwire.readmodel.plain_text import one_line
from planwire.steering.acts import ACTS, Act, On
from planwire.steering.commands import refuse_unchangeable
from planwire.steering.reviews import VERDICT_LABELS
from planwire.steering.wanted import Wanted
from planwire.terminal.commander import Commander
from planwire.terminal.dialogs import Choice, ChoiceDialog, DecisionDialog, DialogAnswer
from planwire.terminal.keys import act_keys
from planwire.terminal.lines import Line
from planwire.terminal.rows import SUGGESTION

if TYPE_CHECKING:
    from planwire.terminal.session_screen import SessionScreen

__all__ = ["PlanActs"]

#: Characters of a step's text or a plan's title that a question about it repeats.
QUOTED: Final = 300
_OPTIONAL: Final = "Comment (optional)"
_KEEP: Final = DialogAnswer("", "Cancel", key="n")


class Pointed(NamedTuple):
    """A plan, and the step or the suggestion of it that a person points at. `whole`: they mean the plan, wherever they
    point."""

    card: PlanCard
    row: StepRow | None = None
    suggestion: int | None = None
    whole: bool = False

    def step(self) -> StepRow:
        """The step. Raises `PlanError` if there is none."""
        if self.suggestion is not None:
            raise PlanError(
                f"this step is only suggested: {_key('reword')} rewords it, {_key('withdraw')} withdraws it"
            )
        if self.row is None:
            raise PlanError("no step is under the cursor: go to one with the arrow keys")
        return self.row

    @property
    def numbers(self) -> list[int]:
        """The suggestion itself, or those for the step."""
        if self.suggestion is not None or self.row is None:
            return [] if self.suggestion is None else [self.suggestion]
        return list(dict.fromkeys(each.suggestion for each in self.row.suggestions))


class PlanActs:
    """The acts of a person on the screen of a session."""

    def __init__(self, screen: "SessionScreen") -> None:
        self._screen = screen
        self.commander = Commander(screen)
        self._asking: dict[str, Callable[[Pointed, Wanted], None]] = {
            "set_status": self._status,
            "reword": self._reword,
            "add": self._add,
            "comment": self._comment,
            "review": self._review,
            "select": self._select,
            "suggest": self._edit,
            "withdraw": self._withdraw,
            "remove": self._remove,
            "dismiss": self._dismiss,
        }

    def do(self, name: str, gesture: int = 0, after: str | None = None) -> None:
        """Do an act with the row under the cursor, or say why not. `after` is the step to move it behind."""
        self._screen.app.stay()
        try:
            on = self._under_cursor()
            if name not in ACTS:
                {"mark": self._mark, "menu": self._menu}[name](on)
                return
            act = ACTS[name]
            key = act.gestures[gesture]
            on = Pointed(on.card, whole=True) if (key.on or act.on) is On.PLAN else on
            self._begin(act, on, key.arguments if after is None else {"after": after})
        except (InputError, JournalError, PlanError, Refused) as refusal:
            self.commander.refuse(refusal)

    def _under_cursor(self) -> Pointed:
        panel = self._screen.panel
        card, row = panel.chosen, panel.cursor.row
        if card is None or row is None:
            raise PlanError("there is no plan here: nothing can be steered yet")
        if not panel.cursor.is_in_sight:
            panel.cursor.show()
            raise PlanError("the cursor was out of sight: here it is, press the key again")
        panel.looked_around()
        return Pointed(card, panel.step, row[2] if row[0] == SUGGESTION and isinstance(row[2], int) else None)

    def _begin(self, act: Act, on: Pointed, given: dict[str, Any]) -> None:
        card, name = on.card, act.name
        if card.is_file and name in ("reword", "suggest"):
            self._screen.open_file(card.id)
            return
        if name == "remove" and on.suggestion is not None:
            name = "withdraw"
        if act.changes_steps and card.record is not None:
            refuse_unchangeable(card.record)
        wanted = Wanted(name, seen=card.revision, **given)
        ask = self._asking.get(name)
        if ask is not None and not (act.needs and all(need in given for need in act.needs)):
            ask(on, wanted)
        else:
            self.commander.do(card.id, replace(wanted, target=on.step().id))

    # -- single steps

    def _status(self, on: Pointed, wanted: Wanted) -> None:
        step = on.step()
        choices = [Choice(*each) for each in STATUS_CHOICES]
        wanted = replace(wanted, target=step.id)
        self._choose(
            ACTS[wanted.act].label,
            choices,
            [_quoted(step)],
            lambda status: self.commander.do(on.card.id, replace(wanted, status=status)),
        )

    def _reword(self, on: Pointed, wanted: Wanted) -> None:
        if on.suggestion is not None:
            ghosts = [each.change.text for each in on.card.ghosts if each.change.suggestion == on.suggestion]
            if not ghosts:
                raise PlanError(f"this suggestion is no new step: {_key('withdraw')} withdraws it")
            wanted = replace(wanted, target=str(on.suggestion))
            self.commander.ask(on.card, wanted, _send("Suggest"), "Reword the suggested step", text=ghosts[0])
            return
        step = on.step()
        words = next((each.text for each in reversed(step.suggestions) if each.kind == "reword"), step.text)
        title, label = ("Suggest new wording", "Suggest") if on.card.is_of_agent else ("Reword step", "Reword")
        about = [_quoted(step)] if words != step.text else []
        self.commander.ask(on.card, replace(wanted, target=step.id), _send(label), title, about, words)

    def _add(self, on: Pointed, wanted: Wanted) -> None:
        """Below the step, or where the suggested step would be; on top at a plan's head; else at the end."""
        behind = {each.change.suggestion: each.after for each in on.card.ghosts}
        if on.row is not None:
            after: str | None = on.row.id
        elif on.suggestion is not None:
            after = behind.get(on.suggestion)
        else:
            after = None if on.whole or not on.card.rows else ""
        title, label = ("Suggest a step", "Suggest") if on.card.is_of_agent else ("Add a step", "Add")
        about = [_quoted(on.row, "below  ")] if on.row else []
        self.commander.ask(on.card, replace(wanted, after=after), _send(label), title, about)

    def _remove(self, on: Pointed, wanted: Wanted) -> None:
        step = on.step()
        wanted = replace(wanted, target=step.id)
        if on.card.is_of_agent:  # the next key can withdraw it
            self.commander.do(on.card.id, wanted)
            return
        nested = len(on.card.nested(step))
        more = [Line(((f"and {nested} more nested in it", "muted"),))] if nested else []
        self._confirm(on, wanted, "Remove this step?", [_quoted(step), *more])

    # -- words

    def _comment(self, on: Pointed, wanted: Wanted) -> None:
        step = on.row
        wanted = replace(wanted, target=step.id if step else None)
        title = "Comment on this step" if step else f"Comment on {_named(on.card)}"
        self.commander.ask(on.card, wanted, _send("Comment"), title, [_quoted(step)] if step else [])

    def _review(self, on: Pointed, wanted: Wanted) -> None:
        card, about = on.card, []
        if card.question is not None and not card.waits_here:
            where = one_line(card.client_name)
            words = f"The agent is waiting for an answer in {where}. It will see a review with your next prompt."
            about.append(Line(((words, "muted"),)))

        def chosen(verdict: str) -> None:
            label, needed = VERDICT_LABELS[verdict], replace(wanted, verdict=verdict)
            self.commander.ask(card, needed, _send(label), f"{label}: {_named(card)}", about, placeholder=_OPTIONAL)

        choices = [Choice(verdict, label, label[0].lower()) for verdict, label in VERDICT_LABELS.items()]
        self._choose(f"Review {_named(card)}", choices, about, chosen)

    def _select(self, on: Pointed, wanted: Wanted) -> None:
        marks = self._screen.panel.marks_of(on.card.id) or {on.step().id}
        steps = [row for row in on.card.rows if row.id in marks]
        title = "Run only this step for now" if len(steps) == 1 else f"Run only these {len(steps)} steps for now"
        about = [_quoted(row, "▸ ") for row in steps]
        wanted = replace(wanted, steps=tuple(row.id for row in steps))
        self.commander.ask(on.card, wanted, _send("Run"), title, about, placeholder=_OPTIONAL)

    # -- plans, suggestions, and everything

    def _edit(self, on: Pointed, _wanted: Wanted) -> None:
        self._screen.app.run_worker(self.commander.edit(on.card))

    def _dismiss(self, on: Pointed, wanted: Wanted) -> None:
        about = [Line((("It goes from every list. Its history stays.", "muted"),))]
        self._confirm(on, wanted, f"Dismiss {_named(on.card)}?", about)

    def _withdraw(self, on: Pointed, wanted: Wanted) -> None:
        numbers = on.numbers
        texts = {each.number: each.text for each in on.card.suggestions if not numbers or each.number in numbers}
        if not texts:
            raise PlanError("there is no open suggestion here")

        def withdraw(number: str) -> None:
            self.commander.do(on.card.id, replace(wanted, target=number))

        if len(numbers) == 1:
            withdraw(str(numbers[0]))
            return
        choices = [Choice(str(number), one_line(text)) for number, text in texts.items()]
        self._choose("Withdraw which suggestion?", choices, [], withdraw)

    def _mark(self, on: Pointed) -> None:
        if on.card.record is not None:
            refuse_unchangeable(on.card.record)
        self._screen.panel.toggle_mark(on.card.id, on.step().id)

    def _menu(self, on: Pointed) -> None:
        """All the acts that the plan can take, for the row under the cursor."""
        rows = [row for group in act_keys(on.card.acts).values() for row in group]
        wide = max(len(row.label) for row in rows)
        choices = [Choice(row.action, f"{row.label:<{wide}}  ", row.keys[0], row.help) for row in rows]
        about = [_quoted(on.row)] if on.row else []
        run = self._screen.run_action
        self._choose(_named(on.card), choices, about, lambda action: self._screen.call_later(run, action))

    # -- questions

    def _confirm(self, on: Pointed, wanted: Wanted, title: str, about: Sequence[Line]) -> None:
        yes = DialogAnswer("yes", ACTS[wanted.act].label, "error", "y")
        dialog = DecisionDialog(title, about, [yes, _KEEP], _KEEP.value)
        self._screen.app.push_screen(dialog, lambda answer: self.commander.do(on.card.id, wanted) if answer else None)

    def _choose(
        self, title: str, choices: Sequence[Choice], about: Sequence[Line], then: Callable[[str], object]
    ) -> None:
        def chosen(value: str | None) -> None:
            if value is not None:
                then(value)

        self._screen.app.push_screen(ChoiceDialog(title, choices, about), chosen)


def _key(act: str) -> str:
    """The key of an act, as people read it."""
    return ACTS[act].gestures[0].keys[0]


def _send(label: str) -> DialogAnswer:
    return DialogAnswer("send", label, "primary")


def _named(card: PlanCard) -> str:
    return f"“{one_line(card.title)[:QUOTED]}”"


def _quoted(row: StepRow, before: str = "") -> Line:
    words = one_line(row.text)
    return Line(((f"{before}{words if len(words) <= QUOTED else f'{words[:QUOTED]} …'}", "muted"),))
