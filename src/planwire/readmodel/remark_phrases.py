"""Remarks in a history: made, told, answered and ended."""

from typing import Final

from planwire.model.events import OFFERED, REFUSED, SELECTION, SUGGESTION, RemarkClosed, Remarked, Told
from planwire.model.records import (
    ANSWER,
    COMPACTION,
    CONTEXT,
    HOOK,
    PROMPT,
    RECAP,
    STEERING,
    TOOL,
    PlanRecord,
    SessionState,
)
from planwire.model.remarks import RUN_ALL, SUPERSEDED, WITHDRAWN
from planwire.model.text import in_quotes, shortened, unwrapped
from planwire.readmodel.phrases import Phrase, suggestion_words
from planwire.steering.words import changes_sentence, step_texts

#: The ways of tellings, for people.
_WAYS: Final = {
    PROMPT: "with a prompt",
    HOOK: "through a hook",
    STEERING: "in the middle of its turn",
    TOOL: "in the answer of a plan tool",
    CONTEXT: "in its context",
    COMPACTION: "in its context",
    RECAP: "in its context",
}
#: The ends of remarks that people bring about.
_ENDS: Final = {
    WITHDRAWN: "withdrew {name}",
    SUPERSEDED: "replaced {name}",
    RUN_ALL: "all steps are to run, not only {name}",
}
#: Remarks that a sentence about a telling names, and the characters that it spends on each.
SPELLED_REMARKS: Final = 3
NAMED: Final = 60


def remarked(event: Remarked, record: PlanRecord | None) -> tuple[Phrase, ...]:
    """A new remark."""
    texts = (step_texts(record.state) if record else {}) | event.about
    if event.kind == SUGGESTION and record:
        words = suggestion_words(record.state, event.changes, event.about)
        said = (Phrase("suggested", event.text),) if event.text else ()
        return *(Phrase("suggested", word.text, word.step) for word in words), *said
    if event.kind == SELECTION:
        return (
            Phrase("selected", f"steps to run: {', '.join(in_quotes(texts.get(step, step)) for step in event.steps)}"),
        )
    if not event.text:  # a request in no words: its verdict says it
        return ()
    about = event.passage.text if event.passage else texts.get(event.step or "", event.step)
    text = f"{in_quotes(about)}: {event.text}" if about else event.text
    return (Phrase(event.kind, f"{text} (kept in force)" if event.kept else text, event.step),)


def closed(event: RemarkClosed, name: str) -> Phrase:
    """The end of a remark that goes by a name."""
    words = _ENDS.get(event.how, "closed {name}").format(name=name)
    return Phrase("withdrawn", f"{words}: {event.text}" if event.text else words)


def remark_name(state: SessionState, remark_id: str) -> str:
    """The name of a remark within a sentence."""
    remark = state.remark(remark_id)
    if remark is None:
        return remark_id
    texts = step_texts(state.plans[remark.plan_id].state) | remark.about
    words = remark.text or changes_sentence(texts, remark.changes, None)
    words = words or ", ".join(texts.get(step, step) for step in remark.steps)
    return (
        f"{in_quotes(shortened(unwrapped(words), NAMED))} ({remark_id})" if words else f"the {remark.kind} {remark_id}"
    )


def told(event: Told, before: SessionState) -> tuple[Phrase, ...]:
    """A telling; nothing while it is on its way, or if it has no remarks."""
    if event.way == ANSWER:
        reviews = (each for record in before.plans.values() for each in reversed(record.reviews))
        given = next((each for each in reviews if each.question == event.request and each.is_on_its_way), None)
        return (Phrase("told", f"the agent got its answer: {given.answer if given else 'another one'}"),)
    remarks = event.remarks
    if event.stage == REFUSED:
        all_of_them = (each for record in before.plans.values() for each in record.remarks)
        remarks = tuple(each.id for each in all_of_them if each.told and each.told.request == event.request)
    names = ", ".join(remark_name(before, each) for each in remarks[:SPELLED_REMARKS])
    more = f" and {len(remarks) - SPELLED_REMARKS} more" if len(remarks) > SPELLED_REMARKS else ""
    if event.stage == REFUSED:
        again = "the agent refused what it was told, and will be told again"
        return (Phrase("told", f"{again}: {names}{more}" if names else again),)
    if event.stage == OFFERED or not names:
        return ()
    return (Phrase("told", f"the agent was told {_WAYS.get(event.way, event.way)}: {names}{more}"),)
