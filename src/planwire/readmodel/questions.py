"""An agent's question about a plan, as people answer it."""

from msgspec import Struct

from planwire.model.records import PlanRecord
from planwire.steering.answers import plain_choice, verdict_of
from planwire.steering.delivery import client_name
from planwire.steering.reach import ANSWER, Reach
from planwire.steering.reviews import VERDICTS
from planwire.steering.words import quoted

__all__ = ["AnswerOption", "QuestionCard", "question_of"]


class AnswerOption(Struct, frozen=True):
    """An answer that the agent offers, and what it says of the plan. `is_plain`: that verdict alone means it."""

    id: str
    name: str
    verdict: str
    is_plain: bool = False


class QuestionCard(Struct, frozen=True):
    """The agent waits for a person's answer.

    `client` asks it there, with the agent's own `options`; without options it is a review, and asked only here.
    `is_open`: people can answer it here. `sent` says which answer is on its way, and whose.
    """

    id: str
    at: int
    client: str
    options: tuple[AnswerOption, ...] = ()
    is_open: bool = True
    sent: str = ""


def question_of(record: PlanRecord, client: str | None, reach: Reach) -> QuestionCard | None:
    """The question about a plan, if its agent waits for an answer."""
    asked = record.asked
    if asked is None:
        return None
    plain = {choice.id for verdict in VERDICTS if (choice := plain_choice(asked.options, verdict))}
    options = tuple(
        AnswerOption(each.id, each.name, verdict_of(each), bool(each.id) and each.id in plain) for each in asked.options
    )
    given = record.decision
    sent = f"{given.by} answered {quoted(given.answer or given.verdict)}: on its way to the agent" if given else ""
    is_open = not asked.options or bool(asked.id and ANSWER in reach.can and not given)
    return QuestionCard(asked.id, asked.at, client_name(client), options, is_open, sent)
