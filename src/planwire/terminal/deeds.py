"""Deeds: what a person does with a plan on the screen, in words, for the revision on the screen, and as an event.

The screen refuses what it knows to be impossible, with a sentence that says what to do instead; the rest is for
`planwire.steering.commands`, at the moment of writing. On an agent's plan a change is a suggestion: another one of the
same kind for the same step takes its place, and the same one again takes it back.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from planwire.errors import PlanError
from planwire.model.changes import apply_changes
from planwire.model.events import (
    COMMENTED,
    AddStep,
    Comment,
    Event,
    MoveStep,
    RemoveStep,
    RewordStep,
    SetStatus,
    StepChange,
)
from planwire.model.fold import AGENT, Delta, PlanRecord, SessionState
from planwire.model.kinds import kind_of, noun_of
from planwire.model.plan import PlanId
from planwire.model.statuses import after_tick, canonical
from planwire.model.steps import Step
from planwire.readmodel.history import suggestion_words
from planwire.readmodel.plain_text import one_line
from planwire.steering import commands
from planwire.terminal.plan_card import Card

__all__ = ["Deed", "Target"]


class Deed(Struct, frozen=True):
    """`make` gives the event for a state and a revision, or refuses. `headline` goes before the words when the person
    hears that it is done; a change of steps can be seen and has none. The deed replaces the suggestion `instead_of`,
    `added` is the text of a new step, and `runs` says that it names steps to run."""

    plan_id: PlanId
    words: str
    revision: int | None
    make: Callable[[SessionState, int | None], Event]
    headline: str = ""
    instead_of: int | None = None
    added: str | None = None
    runs: bool = False


class Target(Struct, frozen=True):
    """A plan, and the step or the suggestion of it that a deed is for."""

    card: Card
    step: Step | None = None
    suggestion: Delta | None = None

    @property
    def is_of_agent(self) -> bool:
        return self.card.record is not None and self.card.record.owner == AGENT

    @property
    def new_step(self) -> AddStep | None:
        """The new step that the suggestion is for."""
        changes = self.suggestion.changes if self.suggestion else ()
        return next((each for each in changes if isinstance(each, AddStep)), None)

    def the_step(self) -> Step:
        if self.suggestion is not None:
            raise PlanError("this step is only wished: e rewords it, u takes it back")
        if self.step is None:
            raise PlanError("no step is under the cursor: go to one with the arrow keys")
        return self.step

    def steerable(self) -> PlanRecord:
        """The record of the plan. Raises `PlanError` unless there is one, and the plan is still live."""
        if self.card.record is None:
            raise PlanError("this plan is in no journal: nobody would hear of it")
        if self.card.record.removed:
            raise PlanError("this plan was dismissed: there is nothing to steer any more")
        return self.card.record

    def changeable(self) -> PlanRecord:
        """The record of the plan. Raises `PlanError` unless planwire can change its steps."""
        record = self.steerable()
        if self.card.is_file:
            raise PlanError("this plan is a file: e opens it in your editor, c says something about it")
        if not kind_of(self.card.state.plan).has_editable_steps:
            noun = one_line(noun_of(self.card.state.plan))
            raise PlanError(f"a plan of kind {noun!r} has no steps to change: c says something about it, v reviews it")
        return record

    # -- single steps

    def tick(self) -> Deed:
        """Done, or not done after all. A second tick takes back the suggestion of the first."""
        step = self.the_step()
        suggestion = self._suggestion_for(SetStatus)
        return self.take_back(suggestion) if suggestion is not None else self.set_status(after_tick(step.status))

    def set_status(self, status: str) -> Deed:
        step = self.the_step()
        already = f"this step is {status.replace('_', ' ')} already" if canonical(step.status) == status else None
        return self._change(SetStatus(step.id, status), self._suggestion_for(SetStatus), already)

    def reword(self, text: str) -> Deed:
        step, text = self.the_step(), text.strip()
        before = self._suggestion_for(RewordStep)
        if not text:
            raise PlanError("a step says something: write its text, or remove it with d")
        already = "nothing changes: the plan says so already" if text == step.content else None
        return self._change(RewordStep(step.id, text), before, already)

    def suggested_words(self) -> str:
        """The text that a suggestion gives the step, or else its own."""
        suggestion = self._suggestion_for(RewordStep)
        found = suggestion.changes[0] if suggestion else None
        return found.content if isinstance(found, RewordStep) else self.the_step().content

    def add(self, after: str | None, text: str) -> Deed:
        """A new step behind another one; "" is the beginning, None the end."""
        self.changeable()
        if not text.strip():
            raise PlanError("a step says something: write its text")
        return self._change(AddStep(text.strip(), after))

    def add_instead(self, text: str) -> Deed:
        """Another text for the suggested step."""
        added = self.new_step
        if added is None or self.suggestion is None or len(self.suggestion.changes) > 1:
            raise PlanError("this wish is more than a new step: take it back with u, then say it anew")
        if not text.strip():
            raise PlanError("a step says something: write its text, or take the wish back with u")
        return self._change(replace(added, content=text.strip()), self.suggestion)

    def remove(self) -> Deed:
        step = self.the_step()
        if self._suggestion_for(RemoveStep) is not None:
            raise PlanError("it is wished already that this step goes: u takes it back")
        return self._change(RemoveStep(step.id))

    def nested(self) -> int:
        """How many nested steps go where the step goes."""
        step, steps = self.the_step(), self.card.state.steps
        return len(list(takewhile(lambda each: each.depth > step.depth, steps[steps.index(step) + 1 :])))

    def move(self, by: int) -> Deed:
        """One place up or down among the steps of its depth."""
        step = self.the_step()
        others = _siblings(_suggested_order(self.changeable()), step, by)
        if not others:
            raise PlanError(f"this step is the {'first' if by < 0 else 'last'} of its list already")
        if by < 0 and len(others) == 1 and step.depth:  # only its parent is before them: the other step goes behind it
            return self._change(MoveStep(others[0], step.id))
        return self.move_behind(others[0] if by > 0 else others[1] if len(others) > 1 else "")

    def move_behind(self, after: str) -> Deed:
        """The step goes behind another one; "" is the beginning."""
        change = MoveStep(self.the_step().id, after)
        before = self._suggestion_for(MoveStep)
        stays = apply_changes(self.card.state, [change]).steps == self.card.state.steps
        return self._change(change, before, "this step is there already" if stays else None)

    def _change(self, change: StepChange, before: Delta | None = None, already: str | None = None) -> Deed:
        """Make a change in place of the suggestion `before`. If the plan is so `already`, withdraw it, or refuse."""
        record = self.changeable()
        if already is not None:
            if before is None:
                raise PlanError(already)
            return self.take_back(before)
        if before is not None and before.changes == (change,):
            raise PlanError("nothing changes: that is wished already, and u takes it back")
        return Deed(
            self.card.id,
            _in_words(self.card, [change]),
            record.revision,
            lambda state, revision: commands.change(state, self.card.id, revision, [change]),
            instead_of=before.seq if before else None,
            added=change.content if isinstance(change, AddStep) else None,
        )

    # -- suggestions

    def open_suggestions(self) -> list[Delta]:
        """The suggestion under the cursor, or the suggestions for its step."""
        if self.suggestion is not None or self.step is None or self.card.record is None:
            return [self.suggestion] if self.suggestion else []
        return [
            suggestion
            for suggestion in self.card.record.suggestions
            if self.step.id in map(_step_of, suggestion.changes)
        ]

    def take_back(self, suggestion: Delta) -> Deed:
        words = _in_words(self.card, suggestion.changes) or suggestion.note or ""
        return Deed(
            self.card.id,
            words,
            None,
            lambda state, _: commands.withdraw(state, self.card.id, suggestion.seq),
            "Taken back",
        )

    def _suggestion_for(self, kind: type[StepChange]) -> Delta | None:
        """The last suggestion that is nothing but such a change of the step."""
        record, step = self.changeable(), self.the_step()
        for suggestion in reversed(record.suggestions if self.is_of_agent else ()):
            if len(suggestion.changes) == 1 and not suggestion.note:
                [only] = suggestion.changes
                if isinstance(only, kind) and _step_of(only) == step.id:
                    return suggestion
        return None

    # -- words

    def say(self, verdict: str, text: str, step: Step | None = None, selected: Sequence[str] = ()) -> Deed:
        """A verdict on the plan, or a word on it or on a step; `selected` are the steps to run."""
        record = self.changeable() if selected else self.steerable()
        text = text.strip()
        if verdict == COMMENTED and not text:
            raise PlanError("a comment says something: write it, or leave with Esc")
        if step is not None and self.card.is_file:  # the journal knows no steps of a file: quote the step
            text = f"“{one_line(step.content)}”: {text}"
            step = None
        names = [one_line(each.content) for each in self.card.state.steps if each.id in selected]
        words = [] if verdict == COMMENTED else [verdict.replace("_", " ")]
        words += [f"to run: {'; '.join(names)}"] if names else []
        words += [f"{one_line(step.content)}: {text}" if step else text] if text else []
        comments = [Comment(text, step.id if step else None)] if text else []
        return Deed(
            self.card.id,
            " · ".join(words),
            record.revision,
            lambda state, revision: commands.review(state, self.card.id, revision, verdict, comments, selected or None),
            "The agent is told",
            runs=bool(selected),
        )


def _in_words(card: Card, changes: Sequence[StepChange]) -> str:
    return "; ".join(word.text for word in suggestion_words(card.state, changes))


def _step_of(change: StepChange) -> str | None:
    """The step that a change is for; a new one has no id yet."""
    return None if isinstance(change, AddStep) else change.step


def _siblings(steps: Sequence[Step], step: Step, by: int) -> list[str]:
    """The steps before or behind one, nearest first, of the same depth and parent."""
    place = next(at for at, each in enumerate(steps) if each.id == step.id)
    depth = steps[place].depth
    around = reversed(steps[:place]) if by < 0 else iter(steps[place + 1 :])
    return [each.id for each in takewhile(lambda each: each.depth >= depth, around) if each.depth == depth]


def _suggested_order(record: PlanRecord) -> Sequence[Step]:
    """The steps in the order that people suggest: the next move counts from there."""
    state = record.state
    for suggestion in record.suggestions:
        with suppress(PlanError):
            state = apply_changes(state, [change for change in suggestion.changes if isinstance(change, MoveStep)])
    return state.steps
