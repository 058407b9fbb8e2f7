"""An agent's question about a plan, as people see it, and why a plan needs a person, in one sentence."""

from math import ceil

from msgspec import Struct

from planwire.model.records import PlanRecord
from planwire.readmodel.authors import author
from planwire.steering.answers import options_named, plain_choice, verdict_of
from planwire.steering.delivery import client_name
from planwire.steering.edits import takes_edit
from planwire.steering.reach import ANSWER, Reach
from planwire.steering.reviews import VERDICTS, verdict_name
from planwire.steering.words import quoted


class AnswerOption(Struct, frozen=True):
    """An answer that the agent offers, and the verdict that it means. `is_plain`: that verdict alone selects it."""

    id: str
    name: str
    verdict: str
    is_plain: bool = False


class QuestionCard(Struct, frozen=True):
    """The agent waits for a person's answer.

    `client` also asks it, with the agent's own `options`; `is_review`: it is asked only here, and any verdict answers
    it. `is_open`: people can answer it here. `takes_edit`: they can approve the plan as they edited it. `sent` says
    which answer is on its way, and whose.
    """

    id: str
    at: int
    client: str
    options: tuple[AnswerOption, ...] = ()
    is_open: bool = True
    sent: str = ""
    is_review: bool = False
    takes_edit: bool = False

    def meant(self, verdict: str | None, named: str | None = None) -> AnswerOption | None:
        """The option that a verdict alone means, or the `named` one; None if a person has to choose one."""
        plain = [each for each in self.options if each.is_plain and each.verdict == verdict]
        found = plain if named is None else options_named(self.options, named)
        return found[0] if len(found) == 1 else None

    @property
    def words(self) -> str:
        """The question in a sentence, with the place to answer it if that is elsewhere."""
        if self.is_review:
            return "The agent is waiting for a review"
        return f"The agent asks for approval{'' if self.is_open else f' in {self.client}'}"


class PendingCard(Struct, frozen=True):
    """A verdict that its author can still undo: it is sent at the time `until`, `delay` milliseconds after it was
    given. `name` is the answer or the verdict in quotes; `words` also say whose it is."""

    by: str
    name: str
    words: str
    until: int
    delay: int

    def seconds(self, now: int) -> int:
        """The seconds until it is sent."""
        return ceil(min(max(self.until - now, 0), self.delay) / 1_000)


def pending_of(record: PlanRecord) -> PendingCard | None:
    """The verdict on a plan that its author can still undo."""
    if (pending := record.pending) is None:
        return None
    who, given = author(pending.by), pending.event.verdict
    name = verdict_name(given)
    words = f"{who[:1].upper()}{who[1:]}{' answered' if given.answer else ':'} {name}"
    return PendingCard(pending.by, name, words, pending.until, pending.event.delay)


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
    sent = (
        f"{author(given.by)} answered {quoted(given.answer or given.verdict)}: on its way to the agent" if given else ""
    )
    is_open = asked.is_review or bool(asked.id and options and ANSWER in reach.can and not given)
    edits = is_open and takes_edit(record)
    return QuestionCard(asked.id, asked.at, client_name(client), options, is_open, sent, asked.is_review, edits)


def need_of(record: PlanRecord, title: str) -> str:
    """Why a plan waits for a person, in one sentence; "" if it does not."""
    if not record.needs_person:
        return ""
    name, given = quoted(title), record.decision
    if record.asked is None:
        late = next((each for each in record.reviews if each.seq == record.disputed), None)
        answer = late.answer or late.verdict.replace("_", " ") if late else "A no"
        return f"{quoted(answer)} came too late: the agent goes on with {name}"
    if given is not None:
        return f"On its way to the agent: {quoted(given.answer or given.verdict)}"
    answers = " / ".join(each.name for each in record.asked.options)
    return f"Review {name}?" if record.asked.is_review else f"Approve {name}? {answers}".strip()
