"""The answers to calls of the plan tools, as a model reads them."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from planwire.errors import EngineAway, PlanwireError, ToolError
from planwire.model.events import RemarkAnswered
from planwire.model.file_texts import ReadFile, no_files
from planwire.model.kinds import prose_of
from planwire.model.plan import Fields
from planwire.model.records import PlanRecord, SessionState
from planwire.model.steps import Step
from planwire.model.text import shortened, unwrapped
from planwire.model.unheard import Words
from planwire.tools.call import Call
from planwire.tools.pages import NEWS_CHARACTERS, ReadNotes, notes_page, plan_page, size_of
from planwire.tools.schemas import GET_PLAN, REMOVE_PLAN, SET_PLAN

STILL_WAITING: Final = "still_waiting"
#: How many steps an answer names, and how many characters of each, where showing them whole would be too much.
_NAMED: Final = 50
_WORDS: Final = 80
#: Characters of an error's message.
_QUOTED: Final = 4000
#: How many ids of further open remarks an answer has.
_BESIDES: Final = 200


class Answer(dict[str, Any]):
    """The answer to a tool call: a JSON object. Its text goes to the model."""

    @property
    def is_error(self) -> bool:
        return "error" in self

    @property
    def is_waiting(self) -> bool:
        """Whether it only says that the awaited review has not come yet."""
        return STILL_WAITING in self

    def __str__(self) -> str:
        return msgspec.json.encode(self).decode()


#: What the model is told of a text without checkboxes and numbered items.
_NO_STEPS: Final = "this text has no steps to choose: number them, or put - [ ] before each to report progress"


def answer_call(
    call: Call,
    before: SessionState,
    after: SessionState,
    read: ReadFile = no_files,
    notes: ReadNotes | None = None,
) -> Fields:
    """The answer for the model, once the events are in the journal. `notes` reads all notes, including those that the
    state no longer holds."""
    if call.tool == GET_PLAN:
        if call.all_notes:
            known = after.plans[call.plan_id].notes
            return notes_page(call.plan_id, notes(call.plan_id) if notes else known, call.page)
        return plan_page(after, call.plan_id, call.page, call.detail, read, call.reader)
    answered = [each.remark for each in call.events if isinstance(each, RemarkAnswered)]
    record = after.plans.get(call.plan_id)
    if record is None:  # an answer to a remark on another plan
        return {"answered": answered}
    known_record = before.plans.get(call.plan_id)
    answer: Fields = {"plan_id": call.plan_id, "version": record.version, "revision": record.revision}
    if call.tool == REMOVE_PLAN:
        return {**answer, "removed": _removed(record)}
    answer |= _steps(known_record, record, is_set=call.tool == SET_PLAN)
    if call.tool == SET_PLAN and not record.state.steps and prose_of(record.state.plan) is not None:
        answer["notice"] = _NO_STEPS
    if answered:
        answer["answered"] = answered
    if not call.events:
        answer["unchanged"] = True
    if call.cut:
        answer["truncated"] = {"kept_bytes": call.cut.kept, "original_bytes": call.cut.size}
    return answer


def said(words: Words, request: str, answer: Fields) -> Fields:
    """What people said since the last answer, as part of the next one, which may already contain some of it. Remarks
    that don't fit are given as ids, and of other news only that there is more: get_plan shows it."""
    told = answer.get("remarks", ())
    people: list[Fields] = []
    besides, edits, room = [*words.besides], 0, NEWS_CHARACTERS
    for each in words.items:
        if each in told:
            continue
        room -= size_of(each)
        if room >= 0:
            people.append(each)
        elif isinstance(remark := each.get("id"), str):
            besides.append(remark)
        else:
            edits += 1
    part: Fields = {"people": people} if people else {}
    if besides:
        part["also_open"] = besides[:_BESIDES]
    if edits or len(besides) > _BESIDES:
        part["also_said"] = f"more than fits here: {GET_PLAN} shows the plan as it is, and all remarks"
    return {**part, "said_in": request} if request else part


def waiting_answer(call: Call, state: SessionState) -> Fields:
    """The answer for a model that has waited long enough for a review."""
    hint = f"no review yet: wait on with the same call of {GET_PLAN}, or ask the person for a review"
    return {STILL_WAITING: True, "plan_id": call.plan_id, "revision": state.plans[call.plan_id].revision, "hint": hint}


def failure(error: PlanwireError) -> Fields:
    """An error as a model reads it: a code, the problem, and what to do next. The problem may quote what was sent, so
    it is cut to a limit."""
    message = shortened(str(error), _QUOTED)
    if isinstance(error, ToolError):
        return {"error": {"code": error.code, "message": message, "hint": error.hint, **error.details}}
    if isinstance(error, EngineAway):
        hint = "go on with your work, and call again later: what was recorded before is kept, and will be delivered"
        return {"error": {"code": "engine_away", "message": message, "hint": hint}}
    return {"error": {"code": "failed", "message": message, "hint": "try again; if it persists, go on without"}}


def _steps(before: PlanRecord | None, after: PlanRecord, *, is_set: bool) -> Fields:
    """The new steps of a call. If it replaced a plan, also which of the old steps were kept and which retired, and that
    notes are kept."""
    old = before.state.steps if before and not before.removed else ()
    known, now = {step.id for step in old}, {step.id for step in after.state.steps}
    answer: Fields = {"new_steps": [step.id for step in after.state.steps if step.id not in known]}
    if not is_set or before is None:
        return answer
    if kept := [step.id for step in after.state.steps if step.id in known]:
        answer["kept_steps"] = kept
    if retired := [step for step in old if step.id not in now]:
        answer |= _names("retired", retired)
    if after.noted:
        answer["notes_kept"] = after.noted
    return answer


def _removed(record: PlanRecord) -> Fields:
    progress = record.state.progress
    done = f"{progress.done} of {progress.total} done"
    return {"progress": done, **_names("open_steps", [step for step in record.state.steps if step.is_open])}


def _names(name: str, steps: Iterable[Step]) -> Fields:
    """The first steps, by id and the beginning of their text, and the number of the rest."""
    named = [{"id": step.id, "content": shortened(unwrapped(step.content), _WORDS)} for step in steps]
    rest = len(named) - _NAMED
    return {name: named[:_NAMED]} | ({f"{name}_besides": rest} if rest > 0 else {})
