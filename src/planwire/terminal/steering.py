"""Steering on the screen of a session: from a key and the row under the cursor to what the person wants.

The table of acts says which keys there are and what an act needs; what it means is decided when it is written. An act
is about the plan as it was on the screen when the person pressed the key, even though the plan stays live behind a
dialog.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from planwire.errors import InputError, JournalError, PlanError, Refused
from planwire.steering.acts import ACTS, Act, On, check_early
from planwire.steering.reviews import to_run
from planwire.steering.wanted import Wanted
from planwire.terminal.commander import Commander, TextQuestion
from planwire.terminal.dialogs import DecisionDialog, DialogAnswer, DialogChoice
from planwire.terminal.keys import act_keys
from planwire.terminal.lines import Line
from planwire.terminal.pointed import Pointed, pointed_at
from planwire.terminal.word_acts import WordActs, choose, named, quoted, send

if TYPE_CHECKING:
    from planwire.terminal.session_screen import SessionScreen

_KEEP: Final = DialogAnswer("", "Cancel", key="n")


class PlanActs:
    """The acts of a person on the screen of a session."""

    def __init__(self, screen: "SessionScreen") -> None:
        self._screen = screen
        self.commander = Commander(screen)
        words = WordActs(screen, self.commander)
        self._asking: dict[str, Callable[[Pointed, Wanted], None]] = {
            "set_status": self._status,
            "reword": self._reword,
            "add": self._add,
            "comment": words.comment,
            "review": words.review,
            "select": words.select,
            "tell": words.tell,
            "stop": self._stop,
            "suggest": self._edit,
            "withdraw": words.withdraw,
            "reopen": words.reopen,
            "remove": self._remove,
            "dismiss": self._dismiss,
        }

    def do(self, name: str, gesture: int = 0, after: str | None = None) -> None:
        """Do an act with the row under the cursor, or say why not. `after` is the step to move it after."""
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
            elif on.fold is not None and act.on is not On.REMARK:
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
        return pointed_at(card, row)

    def _begin(self, act: Act, on: Pointed, given: dict[str, Any]) -> None:
        card, name = on.card, act.name
        if card.is_file and act.opens_file:
            self._screen.open_file(card.id)
            return
        wanted = Wanted(name, on.target if act.on is On.STEP else None, seen=card.revision, **given)
        if card.record is not None:
            check_early(card.record, wanted)
        if act.on is On.STEP and act.needs_target and on.target is None:
            on.needed_step()
        ask = self._asking.get(name) or (self._text if "text" in act.needs else None)
        if ask is not None and not (act.needs and all(need in given for need in act.needs)):
            ask(on, wanted)
        else:
            self.commander.do(card.id, wanted)

    # -- single steps

    def _status(self, on: Pointed, wanted: Wanted) -> None:
        step = on.needed_step()
        offers = {each.status: each for each in step.offers}
        choices = [DialogChoice(each.status, each.label, each.menu_key) for each in offers.values()]

        def chosen(status: str) -> None:
            offer = offers[status]
            self.commander.do(on.card.id, Wanted(offer.act, wanted.target, wanted.seen, **offer.arguments))

        choose(self._screen, ACTS[wanted.act].label, choices, [quoted(step)], chosen)

    def _reword(self, on: Pointed, wanted: Wanted) -> None:
        words = on.card.wording_of(wanted.target or "")
        title, label = ("Suggest new wording", "Suggest") if on.card.is_of_agent else ("Reword step", "Reword")
        about = [quoted(on.step)] if on.step and on.step.text != words else []
        self.commander.ask(on.card, wanted, TextQuestion(title, [send(label)], about, words))

    def _add(self, on: Pointed, wanted: Wanted) -> None:
        at_end = on.whole or (on.target is None and on.is_precise)
        after = None if at_end else on.card.place_below(on.target)
        title, label = ("Suggest a step", "Suggest") if on.card.is_of_agent else ("Add a step", "Add")
        about = [quoted(on.step, "below  ")] if on.step else []
        self.commander.ask(on.card, replace(wanted, after=after), TextQuestion(title, [send(label)], about))

    def _remove(self, on: Pointed, wanted: Wanted) -> None:
        if on.step is None or not on.card.asks_first(wanted.act):
            self.commander.do(on.card.id, wanted)
            return
        step = on.step
        nested = len(on.card.nested(step))
        more = [Line(((f"and {nested} more nested in it", "muted"),))] if nested else []
        self._confirm(on, wanted, "Remove this step?", [quoted(step), *more])

    # -- words

    def _text(self, on: Pointed, wanted: Wanted) -> None:
        label = ACTS[wanted.act].label
        about = [quoted(on.step)] if on.step else []
        self.commander.ask(on.card, wanted, TextQuestion(label, [send(label)], about))

    # -- plans, and everything

    def _edit(self, on: Pointed, _wanted: Wanted) -> None:
        self._screen.app.run_worker(self.commander.edit(on.card))

    def _dismiss(self, on: Pointed, wanted: Wanted) -> None:
        about = [Line((("It disappears from every list. Its history stays.", "muted"),))]
        self._confirm(on, wanted, f"Dismiss {named(on.card)}?", about)

    def _stop(self, on: Pointed, wanted: Wanted) -> None:
        if wanted.act not in on.card.acts:
            self.commander.do(on.card.id, wanted)  # and hear why not
            return
        about = [Line((("Its turn is cancelled. You can prompt it again, or tell it something.", "muted"),))]
        self._confirm(on, wanted, "Stop the agent's turn?", about)

    def _mark(self, on: Pointed) -> None:
        panel, step = self._screen.panel, on.needed_step().id
        if on.card.record is not None and step not in panel.marks_of(on.card.id):
            to_run(on.card.record, (step,))
        panel.toggle_mark(on.card.id, step)

    def _menu(self, on: Pointed) -> None:
        """All the acts that the plan can take, for the row under the cursor."""
        rows = [row for group in act_keys(on.card.acts).values() for row in group]
        wide = max(len(row.label) for row in rows)
        choices = [DialogChoice(row.action, f"{row.label:<{wide}}  ", row.keys[0], row.help) for row in rows]
        about = [quoted(on.step)] if on.step else []
        run = self._screen.run_action
        choose(self._screen, named(on.card), choices, about, lambda action: self._screen.call_later(run, action))

    # -- questions

    def _confirm(self, on: Pointed, wanted: Wanted, title: str, about: Sequence[Line]) -> None:
        yes = DialogAnswer("yes", ACTS[wanted.act].label, "error", "y")
        dialog = DecisionDialog(title, about, [yes, _KEEP], _KEEP.value)
        self._screen.app.push_screen(dialog, lambda answer: self.commander.do(on.card.id, wanted) if answer else None)
