"""Answers to an agent's question: which of its options a person's verdict means.

The agent's own options are the answers, and a person picks one by its id or name. A plain Approve takes the only option
that allows once; if there is none, or several, the person has to choose. Options that hold for ever must be named.
"""

from collections.abc import Iterable
from typing import Final, Protocol, TypeVar

from msgspec.structs import replace

from planwire.errors import ChoiceNeeded, NothingChanges, PlanError, UnknownWord
from planwire.model.authors import name_and_way
from planwire.model.events import APPROVED, CHANGES_REQUESTED, DISMISSED, Choice
from planwire.model.records import OpenQuestion, PlanRecord, SessionState
from planwire.model.unheard import CLIENT
from planwire.steering.delivery import client_name, someone_in
from planwire.steering.reach import ANSWER
from planwire.steering.target import Target
from planwire.steering.wanted import Wanted
from planwire.steering.words import quoted


class _Named(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...


_O = TypeVar("_O", bound=_Named)
_ONCE: Final = {APPROVED: "allow_once", CHANGES_REQUESTED: "reject_once"}


def verdict_of(choice: Choice) -> str:
    """The verdict that an option means."""
    if choice.kind.startswith("allow"):
        return APPROVED
    return CHANGES_REQUESTED if choice.kind.startswith("reject") else DISMISSED


def with_verdict(state: SessionState, record: PlanRecord, wanted: Wanted) -> Wanted:
    """An act with the verdict that its option means. Raises `PlanError` if the question that the person saw is over, or
    if the option contradicts the verdict that they gave with it."""
    asked = record.asked
    if wanted.question is not None and (asked is None or asked.id != wanted.question):
        raise PlanError(f"{_answered(state, record, wanted.question)} Nothing was sent.")
    if wanted.option is None or asked is None:
        return wanted
    choice = _named(asked, wanted.option)
    meant = verdict_of(choice)
    if wanted.verdict not in (None, meant, *(_ONCE if meant == DISMISSED else ())):
        fit = [each for each in asked.options if verdict_of(each) == wanted.verdict]
        instead = f"choose one of {_names(fit)}" if fit else "say one or the other"
        given = wanted.verdict.replace("_", " ") if wanted.verdict else ""
        raise PlanError(f"The answer {quoted(choice.name)} does not mean “{given}”: {instead}. Nothing was sent.")
    return replace(wanted, verdict=meant)


def answer_to(on: Target, wanted: Wanted) -> Choice | None:
    """The option that a verdict selects. None if no question is open, or only the client can answer."""
    asked = on.record.asked
    is_answerable = asked is not None and bool(asked.id and asked.options) and ANSWER in on.reach.can
    if asked is None or not is_answerable:
        if wanted.option is None:
            return None
        client = client_name(on.session.opened.client if on.session.opened else None)
        why = f"this question can only be answered in {client}" if asked else "the agent asks nothing about this plan"
        raise PlanError(f"The answer was not sent: {why}.")
    if on.record.decision is not None:
        given = on.record.decision
        raise NothingChanges(f"{given.by} answered already: {quoted(given.answer or given.verdict)}.")
    return _named(asked, wanted.option) if wanted.option is not None else _plain(asked, wanted.verdict or "")


def _named(asked: OpenQuestion, option: str) -> Choice:
    found = options_named(asked.options, option)
    if len(found) == 1:
        return found[0]
    if found:
        words = f"The agent offers {quoted(option)} more than once: choose one by its id. Nothing was sent."
        raise ChoiceNeeded(words, tuple(each.id for each in found))
    raise UnknownWord(f"The agent does not offer {quoted(option)}. It offers: {_names(asked.options)}.")


def options_named(options: Iterable[_O], name: str) -> list[_O]:
    """The option with this id, or else those with this name."""
    listed = list(options)
    by_id = [each for each in listed if each.id == name]
    return by_id or [each for each in listed if each.name.casefold() == name.strip().casefold()]


def plain_choice(options: Iterable[Choice], verdict: str) -> Choice | None:
    """The option that a verdict alone means: the only one of its kind that holds once."""
    found = [each for each in options if each.kind == _ONCE.get(verdict)]
    return found[0] if len(found) == 1 else None


def _plain(asked: OpenQuestion, verdict: str) -> Choice:
    choice = plain_choice(asked.options, verdict)
    if choice is not None:
        return choice
    fit = [each for each in asked.options if verdict_of(each) == verdict] or asked.options
    raise ChoiceNeeded(f"Choose an answer: {_names(fit)}. Nothing was sent.", tuple(each.id for each in fit))


def _names(options: Iterable[Choice]) -> str:
    return ", ".join(quoted(each.name) for each in options)


def _answered(state: SessionState, record: PlanRecord, question: str) -> str:
    given = (each for each in record.reviews if each.question == question and each.answer and not each.is_late)
    last = next(given, None)
    if last is None:
        return "The agent's question is over."
    by, way = name_and_way(last.by)
    by = someone_in(state.opened.client if state.opened else None) if by == CLIENT else by
    who = ", ".join(filter(None, (by, way)))
    return f"The agent's question is over: {quoted(last.answer or '')} was the answer ({who})."
