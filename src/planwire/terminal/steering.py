"""Steering on the screen of a session: from a key and the row under the cursor to what the person wants.

The table of acts says which keys there are and what an act needs; what it means is decided when it is written. An act
is for the plan as it was on the screen when the person pressed the key, although the plan stays live behind a dialog.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from planwire.errors import InputError, JournalError, PlanError, Refused
from planwire.readmodel.card import PlanCard, StepRow
from planwire.readmodel.plain_text import one_line
from planwire.steering.acts import ACTS, Act, On, check_early
from planwire.steering.reviews import VERDICT_LABELS, to_run
from planwire.steering.wanted import Wanted
from planwire.terminal.commander import Commander
from planwire.terminal.dialogs import Choice, ChoiceDialog, DecisionDialog, DialogAnswer
from planwire.terminal.keys import act_keys
from planwire.terminal.lines import Line, Row
from planwire.terminal.rows import FOLD, SUGGESTION

if TYPE_CHECKING:
    from planwire.terminal.session_screen import SessionScreen

__all__ = ["PlanActs"]

#: Characters of a step's text or a plan's title that a question about it repeats.
QUOTED: Final = 300
_OPTIONAL: Final = "Comment (optional)"
_KEEP: Final = DialogAnswer("", "Cancel", key="n")


class Pointed(NamedTuple):
    """A plan, and the step, the suggestion or the fold of it that a person points at. `whole`: they mean the plan,
    wherever they point."""

    card: PlanCard
    row: StepRow | None = None
    suggestion: int | None = None
    whole: bool = False
    fold: Row | None = None

    @property
    def target(self) -> str | None:
        """The id of the step, or the number of the suggestion."""
        return self.row.id if self.row else None if self.suggestion is None else str(self.suggestion)

    def step(self) -> StepRow:
        """The step. Raises `PlanError` if there is none."""
        if self.row is None:
            raise PlanError("no step is under the cursor: move to one with the arrow keys")
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
            self._screen.app.writes.author()
            act = ACTS[name]
            key = act.gestures[gesture]
            if (key.on or act.on) is On.PLAN:
                on = Pointed(on.card, whole=True)
            elif on.fold is not None:
                self._screen.panel.sheet.unfold(on.fold)
                return
            self._begin(act, on, key.arguments if after is None else {"after": after})
        except (InputError, JournalError, PlanError, Refused) as refusal:
            self.commander.refuse(refusal)

    def _under_cursor(self) -> Pointed:
        panel = self._screen.panel
        card, row = panel.chosen, panel.cursor.row
        if card is None or row is None:
            raise PlanError("there is no plan here yet")
        if not panel.cursor.is_in_sight:
            panel.cursor.show()
            raise PlanError("the cursor was out of sight: here it is, press the key again")
        panel.looked_around()
        suggestion = row[2] if row[0] == SUGGESTION and isinstance(row[2], int) else None
        return Pointed(card, panel.step, suggestion, fold=row if row[0] == FOLD else None)

    def _begin(self, act: Act, on: Pointed, given: dict[str, Any]) -> None:
        card, name = on.card, act.name
        if card.is_file and act.opens_file:
            self._screen.open_file(card.id)
            return
        wanted = Wanted(name, None if act.on is On.PLAN else on.target, seen=card.revision, **given)
        if card.record is not None:
            check_early(card.record, wanted)
        if act.needs_target and on.target is None and name != "withdraw":
            on.step()
        ask = self._asking.get(name) or (self._text if "text" in act.needs else None)
        if ask is not None and not (act.needs and all(need in given for need in act.needs)):
            ask(on, wanted)
        else:
            self.commander.do(card.id, wanted)

    # -- single steps

    def _status(self, on: Pointed, wanted: Wanted) -> None:
        step = on.step()
        offers = {each.status: each for each in step.offers}
        choices = [Choice(each.status, each.label, each.menu_key) for each in offers.values()]

        def chosen(status: str) -> None:
            offer = offers[status]
            self.commander.do(on.card.id, Wanted(offer.act, wanted.target, wanted.seen, **offer.arguments))

        self._choose(ACTS[wanted.act].label, choices, [_quoted(step)], chosen)

    def _reword(self, on: Pointed, wanted: Wanted) -> None:
        words = on.card.wording_of(wanted.target or "")
        title, label = ("Suggest new wording", "Suggest") if on.card.is_of_agent else ("Reword step", "Reword")
        about = [_quoted(on.row)] if on.row and on.row.text != words else []
        self.commander.ask(on.card, wanted, _send(label), title, about, words)

    def _add(self, on: Pointed, wanted: Wanted) -> None:
        after = None if on.whole else on.card.place_below(on.target)
        title, label = ("Suggest a step", "Suggest") if on.card.is_of_agent else ("Add a step", "Add")
        about = [_quoted(on.row, "below  ")] if on.row else []
        self.commander.ask(on.card, replace(wanted, after=after), _send(label), title, about)

    def _remove(self, on: Pointed, wanted: Wanted) -> None:
        if on.row is None or not on.card.asks_first(wanted.act):
            self.commander.do(on.card.id, wanted)
            return
        step = on.row
        nested = len(on.card.nested(step))
        more = [Line(((f"and {nested} more nested in it", "muted"),))] if nested else []
        self._confirm(on, wanted, "Remove this step?", [_quoted(step), *more])

    # -- words

    def _text(self, on: Pointed, wanted: Wanted) -> None:
        label = ACTS[wanted.act].label
        self.commander.ask(on.card, wanted, _send(label), label, [_quoted(on.row)] if on.row else [])

    def _comment(self, on: Pointed, wanted: Wanted) -> None:
        step = on.row
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
        chosen = to_run(on.card.record, marks) if on.card.record else ()
        steps = [row for row in on.card.rows if row.id in chosen]
        title = "Run only this step for now" if len(steps) == 1 else f"Run only these {len(steps)} steps for now"
        about = [_quoted(row, "▸ ") for row in steps]
        wanted = replace(wanted, steps=chosen)
        self.commander.ask(on.card, wanted, _send("Run"), title, about, placeholder=_OPTIONAL)

    # -- plans, suggestions, and everything

    def _edit(self, on: Pointed, _wanted: Wanted) -> None:
        self._screen.app.run_worker(self.commander.edit(on.card))

    def _dismiss(self, on: Pointed, wanted: Wanted) -> None:
        about = [Line((("It disappears from every list. Its history stays.", "muted"),))]
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
        panel, step = self._screen.panel, on.step().id
        if on.card.record is not None and step not in panel.marks_of(on.card.id):
            to_run(on.card.record, (step,))
        panel.toggle_mark(on.card.id, step)

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


def _send(label: str) -> DialogAnswer:
    return DialogAnswer("send", label, "primary")


def _named(card: PlanCard) -> str:
    return f"“{one_line(card.title)[:QUOTED]}”"


def _quoted(row: StepRow, before: str = "") -> Line:
    words = one_line(row.text)
    return Line(((f"{before}{words if len(words) <= QUOTED else f'{words[:QUOTED]} …'}", "muted"),))
