"""Phrases: the effects of events, each in a few words and with a kind for faces that colour or count."""

from collections.abc import Iterable
from typing import Final, assert_never

from msgspec import Struct

from planwire.model.statuses import STATUSES, status_of
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.steps import PlanState
from planwire.steering.words import change_sentence, step_of, step_texts

#: The word for a step that got a status, by the kind of the phrase.
BECAME: Final = {row.word: row.became for row in STATUSES.values()}
#: The kinds of phrases whose text does not name the kind.
_UNSAID: Final = ("added", "comment", "moved", "note", "removed", "request", "reworded", "suggested", "why")


class Phrase(Struct, frozen=True, omit_defaults=True):
    """One effect of an event. `kind` is the new status of a step, or another word: `added`, `note`, …"""

    kind: str
    text: str
    step: str | None = None

    @property
    def sentence(self) -> str:
        """The phrase for places without a sign for its kind: with a word for the kind, if the text lacks it."""
        row = status_of(self.kind)
        word = row.spoken if row else self.kind if self.kind in _UNSAID else ""
        return f"{word}: {self.text}" if word else self.text


def suggestion_words(state: PlanState, changes: Iterable[StepChange], about: dict[str, str]) -> tuple[Phrase, ...]:
    """Suggested changes in words, with steps as those who suggested them saw them."""
    texts = step_texts(state) | about
    return tuple(_suggestion_word(change, texts) for change in changes)


def status_kind(status: str) -> str:
    """The kind of a phrase about a step that got a status."""
    row = status_of(status)
    return row.word if row else "other"


def _suggestion_word(change: StepChange, texts: dict[str, str]) -> Phrase:
    return Phrase(_change_kind(change), change_sentence(change, texts), step_of(change))


def _change_kind(change: StepChange) -> str:
    match change:
        case SetStatus(status=status):
            return status_kind(status)
        case RewordStep():
            return "reworded"
        case SetPriority():
            return "priority"
        case AddStep():
            return "added"
        case MoveStep():
            return "moved"
        case RemoveStep():
            return "removed"
        case _ as never:
            assert_never(never)
