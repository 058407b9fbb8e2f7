"""Words on plans: comments, verdicts, and the choice of steps to run. Each is about the revision that its author saw.

Words are remarks, but a verdict is not: it can become stale, which an instruction can't. So a review is a verdict and
the remarks that came with it. Any plan takes words, also a file or a kind that planwire does not know. A comment
outlives its step: if the step is gone, it becomes a comment on the plan that quotes the step.
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from planwire.errors import EmptyText, NothingChanges, PlanError, UnknownWord
from planwire.model.changes import place_of
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    COMMENT,
    COMMENTED,
    REQUEST,
    SELECTION,
    Comment,
    Event,
    Passage,
    PlanReviewed,
    PlanSet,
    RemarkClosed,
    Remarked,
    ReviewPending,
)
from planwire.model.file_texts import address_of
from planwire.model.passages import passage_named
from planwire.model.records import PlanRecord, Remark
from planwire.model.remarks import RUN_ALL
from planwire.model.seen import changed_since
from planwire.model.text import shortened, unwrapped
from planwire.steering.answers import answer_to
from planwire.steering.delivery import heard_with_answer
from planwire.steering.edits import edited_plan, refuse_edit
from planwire.steering.target import Decision, Target, check_length, refuse_unchangeable
from planwire.steering.wanted import Wanted
from planwire.steering.words import QUOTED, quoted

#: The verdicts that a person can give, and how each reads once it is given.
VERDICTS: Final = {APPROVED: "Approved", CHANGES_REQUESTED: "Changes requested", COMMENTED: "Comment added"}
#: The label of each verdict's button.
VERDICT_LABELS: Final = {APPROVED: "Approve", CHANGES_REQUESTED: "Request changes", COMMENTED: "Comment only"}
#: The label for approving the plan as edited, where the agent takes that.
EDIT_LABEL: Final = "Edit and approve"
#: The way (`via`) of a verdict given in planwire, not in the agent's client.
VIA: Final = "planwire"

_SAID_ALREADY: Final = "Nothing changes: this was said already."


def comment(on: Target, wanted: Wanted) -> Decision:
    """Words on a step, on a passage of the text or on the plan, without a verdict."""
    said = _comments(on, wanted)
    if not said:
        raise EmptyText("The comment is empty.")
    news = tuple(each for each in said if not _is_said(on, each))
    if not news:
        raise NothingChanges(_SAID_ALREADY)
    return Decision(news, f"{_comment_sentence(on, wanted, said)}. {on.heard}")


def review(on: Target, wanted: Wanted) -> Decision:
    """A verdict on the plan, with words on it or on its steps."""
    verdict = wanted.verdict or ""
    if verdict not in VERDICTS and wanted.option is None:
        raise UnknownWord(f"There is no verdict {verdict!r}: choose one of {', '.join(VERDICTS)}.")
    refuse_edit(verdict, wanted.edited)
    if verdict == COMMENTED:
        return comment(on, wanted)
    choice = answer_to(on, wanted)
    edit = edited_plan(on, choice, wanted.edited)
    # An approval is of the plan as it is; other verdicts may come late, and are of the plan that the person saw.
    about = on.record if verdict == APPROVED else on.seen or on.record
    revision = on.session.seq + 1 if edit else about.revision
    given = PlanReviewed(on.record.state.plan.id, revision, verdict, via=VIA)
    if choice is not None and on.record.asked is not None:
        chosen = {"answer": choice.name, "option": choice.id, "kind": choice.kind}
        given = replace(given, question=on.record.asked.id, **chosen)
    kind, review = REQUEST if verdict == CHANGES_REQUESTED else COMMENT, on.session.seq + len(edit) + 1
    said = _comments(on, wanted, kind, review)
    if _is_given(on, given) and all(_is_said(on, each) for each in said):
        raise NothingChanges(_SAID_ALREADY)
    spoken = sum(bool(each.text) for each in said)
    count = f", with {spoken} comment{'s' * (spoken > 1)}" if spoken else ""
    words = f"{VERDICTS.get(verdict, 'Answered')}{' as you edited it' if edit else ''}"
    if choice is None:
        return Decision((given, *said), f"{words}{count}. {on.heard}")
    heard = f" {heard_with_answer(on.heard, on.reach, verdict, now=on.now)}" if spoken else ""
    return Decision((*edit, given, *said), f"{words}{count}. Queued for the agent: {quoted(choice.name)}.{heard}")


def undoable(on: Target, decision: Decision, delay: int) -> Decision:
    """A decision whose verdict its author can take back for `delay` milliseconds. Other acts are not held back."""
    given = next((each for each in decision.events if isinstance(each, PlanReviewed)), None)
    if not delay or given is None:
        return decision
    edit = next((each for each in decision.events if isinstance(each, PlanSet)), None)
    said = tuple(replace(each, review=None) for each in decision.events if isinstance(each, Remarked))
    held = ReviewPending(given.plan_id, delay, replace(given, revision=0) if edit else given, said, edit)
    before = on.record.pending
    if before is not None and (before.by, before.event) == (on.by, held):
        raise NothingChanges(_SAID_ALREADY)
    return Decision((held,), f"Sending {verdict_name(given)} in {delay / 1_000:g} s. Until then you can undo it.")


def verdict_name(given: PlanReviewed) -> str:
    """A verdict as a person gave it: the option, or the label of the button."""
    return quoted(given.answer or VERDICT_LABELS.get(given.verdict, given.verdict))


def select(on: Target, wanted: Wanted) -> Decision:
    """Have the agent run these steps, and no others for now. Finished steps are left out. Choosing all open steps ends
    an earlier choice."""
    plan_id, steps = on.record.state.plan.id, to_run(on.record, wanted.steps or ())
    chosen = [each for each in on.record.remarks if each.kind == SELECTION]
    is_all = set(steps) == {step.id for step in on.record.state.steps if step.is_open}
    selection = Remarked(plan_id, SELECTION, "", on.record.revision, steps=steps)
    events: tuple[Event, ...] = (selection,)
    words = f"To run: {', '.join(quoted(on.texts[step]) for step in steps)}"
    if finished := [step for step in wanted.steps or () if step not in steps]:
        words += f". Finished already: {', '.join(quoted(on.texts[step]) for step in finished)}"
    if _is_said(on, selection) or (is_all and chosen and _runs_all(chosen[-1])):
        events = ()
    elif is_all and any(each.is_open for each in chosen):
        events = tuple(RemarkClosed(plan_id, each.id, RUN_ALL) for each in chosen if each.is_open)
        words = "All open steps are to run"
    said = tuple(each for each in _comments(on, wanted) if not _is_said(on, each))
    if not events and not said:
        raise NothingChanges(_SAID_ALREADY)
    return Decision((*events, *said), f"{words}. {on.heard}")


def _runs_all(selection: Remark) -> bool:
    return selection.closed is not None and selection.closed.how == RUN_ALL


def to_run(record: PlanRecord, steps: Iterable[str]) -> tuple[str, ...]:
    """The selected steps that are still open, in the order of the plan. Raises `PlanError` if there is none."""
    if not record.state.steps and address_of(record.state.plan) is None:
        refuse_unchangeable(record)
    places = {place_of(record.state, step) for step in steps}
    if not places:
        raise PlanError("No step is selected: name the steps to run.")
    found = tuple(record.state.steps[place].id for place in sorted(places) if record.state.steps[place].is_open)
    if not found:
        selected = "selected steps are" if len(places) > 1 else "selected step is"
        raise NothingChanges(f"Nothing to run: the {selected} done or cancelled.")
    return found


def _comments(on: Target, wanted: Wanted, kind: str = COMMENT, review: int | None = None) -> tuple[Remarked, ...]:
    """The remarks of an act. The words on its target are of this `kind`; a request may have no words."""
    plan_id, revision = on.record.state.plan.id, (on.seen or on.record).revision
    said = list(wanted.comments or ())
    if any(not each.text.strip() for each in said):
        raise EmptyText("The comment is empty.")
    text = (wanted.text or "").strip()
    remarks = []
    if text or kind == REQUEST:
        said.insert(0, Comment(text, wanted.target, wanted.passage))
    for number, each in enumerate(said):
        placed = _placed(on, each)
        check_length(placed.text + (each.passage.text if each.passage else ""))
        is_main = number == 0 and (text or kind == REQUEST)
        remarks.append(
            Remarked(
                plan_id,
                kind if is_main else COMMENT,
                placed.text,
                revision,
                placed.step,
                placed.passage,
                review=review,
                kept=bool(wanted.keep),
            )
        )
    return tuple(remarks)


def _placed(on: Target, said: Comment) -> Comment:
    """A comment on its step. If the step is gone, or only in a file, it is on the plan and quotes the step."""
    text = said.text.strip()
    if said.step is None or on.has(said.step):
        about = on.file or (on.seen or on.record).state
        return Comment(text, said.step, said.passage and passage_named(about.plan, said.passage))
    texts = on.texts
    if said.step not in texts:
        place_of(on.file or on.record.state, said.step)
    return Comment(text, None, Passage(shortened(unwrapped(texts[said.step]), QUOTED)))


def _comment_sentence(on: Target, wanted: Wanted, said: tuple[Remarked, ...]) -> str:
    if len(said) > 1:
        return f"{len(said)} comments added"
    steps = [wanted.target, *(each.step for each in wanted.comments or ())]
    step = next((each for each in steps if each is not None), None)
    words = VERDICTS[COMMENTED]
    if step is None:
        return f"{words} to {quoted(said[0].passage.text) if said[0].passage else 'the plan'}"
    is_there = on.has(step) or on.file is not None
    name = quoted(on.texts[step])
    return f"{words} to {name}" if is_there else f"{words} to the plan: {name} is gone"


def _is_said(on: Target, said: Remarked) -> bool:
    """Whether the same author said the same already, and it still holds."""
    same = on.by, said.kind, said.text, said.step, said.passage, said.steps, said.kept
    return any(
        (each.by, each.kind, each.text, each.step, each.passage, each.steps, each.kept) == same
        and not changed_since(each, on.record)
        for each in on.record.open_remarks
    )


def _is_given(on: Target, given: PlanReviewed) -> bool:
    """Whether a verdict repeats the last one. It does not if that one differs, is stale or disputed, or a question is
    open."""
    last = on.record.review
    if last is None or on.record.asked is not None or on.record.disputed or last.is_stale:
        return False
    return (last.by, last.verdict) == (on.by, given.verdict)
