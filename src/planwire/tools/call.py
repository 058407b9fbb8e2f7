"""Calls of the plan tools: arguments in, events and an answer out.

`prepare_call` checks a call against a state and gives the events to append; `answer_call` makes the answer from the
state after them. Both are pure. The owner of the journal appends in between, and prepares anew if another writer was
faster.
"""

from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import Struct

from planwire.errors import PlanError, PlanwireError, StaleRevision, ToolError, UnknownStep
from planwire.model.changes import effective_changes
from planwire.model.events import (
    AddStep,
    Event,
    PlanChanged,
    PlanSet,
    RemarkAnswered,
    RemoveStep,
    ReviewAsked,
    RewordStep,
    SetStatus,
    StepChange,
)
from planwire.model.file_texts import ReadFile, address_of, no_files
from planwire.model.fold import check_revision
from planwire.model.plan import (
    BODY_CAP,
    DELTA_CAP,
    MAIN,
    MEDIUM,
    REMARK_CAP,
    Entry,
    Fields,
    ItemsPlan,
    MarkdownPlan,
    Plan,
    PlanId,
)
from planwire.model.records import PlanRecord, SessionState
from planwire.model.statuses import DEFAULT_STATUS
from planwire.model.unheard import Words, standing
from planwire.tools.plan_value import plan_value
from planwire.tools.schemas import GET_PLAN, REVIEW, SET_PLAN, TOOL_NAMES, UPDATE_PLAN
from planwire.tools.size_limits import Cut, check_size, fitting_change, fitting_text

__all__ = ["Answer", "answer_call", "asking", "decoded", "failure", "prepare_call", "said", "waiting_answer"]

STILL_WAITING: Final = "still_waiting"


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


class Call(Struct, frozen=True):
    """A valid call: the events to append, and the plan that its answer is about."""

    tool: str
    plan_id: str
    events: tuple[Event, ...] = ()
    detail: str = "full"
    waits: bool = False
    cut: Cut | None = None


class _SetPlan(Struct, forbid_unknown_fields=True):
    entries: list[Any] | None = None
    content: str | None = None
    path: None = None  # a caller that may read files puts the text of the file in its place
    summary: str | None = None
    plan_id: str | None = None
    expected_revision: int | None = None


class _UpdatePlan(Struct, forbid_unknown_fields=True):
    note: str | None = None
    steps: dict[str, str] | None = None
    add: list[Any] | None = None
    remove: list[str] | None = None
    reword: dict[str, str] | None = None
    answers: dict[str, str] | None = None
    plan_id: str | None = None
    expected_revision: int | None = None


class _GetPlan(Struct, forbid_unknown_fields=True):
    plan_id: str | None = None
    detail: str | None = None
    wait: str | None = None


class _NewStep(Struct, forbid_unknown_fields=True):
    content: str
    after: str | None = None
    priority: str = MEDIUM
    status: str = DEFAULT_STATUS


def decoded(arguments: Any) -> Any:
    """Arguments as an object: OpenAI sends them as text."""
    try:
        if isinstance(arguments, str | bytes):
            return msgspec.json.decode(arguments) if arguments.strip() else None
        # Encoding finds half an emoji, which no journal can store. `prepare_call` reports every other unfit value.
        with suppress(TypeError, OverflowError, RecursionError):
            msgspec.json.encode(arguments)
        return arguments
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ToolError("invalid_arguments", f"the arguments are not JSON: {error}", "send a JSON object") from None


def prepare_call(
    state: SessionState,
    tool: str,
    arguments: Any,
    *,
    oversize: str = "error",
    mode: str = "",
    read: ReadFile = no_files,
) -> Call:
    """Check a call against the state. Raises a `ToolError` that a model can act on. `read` gives the texts of plan
    files."""
    if tool not in TOOL_NAMES:
        raise ToolError("unknown_tool", f"there is no tool {tool!r}", f"use one of {', '.join(TOOL_NAMES)}")
    try:
        if tool == GET_PLAN:
            return _prepare_get(state, _convert(arguments, _GetPlan))
        if tool == SET_PLAN:
            return _prepare_set(state, _convert(arguments, _SetPlan), oversize, mode)
        return _prepare_update(state, _convert(arguments, _UpdatePlan), oversize)
    except StaleRevision as stale:
        plan_id = (arguments.get("plan_id") if isinstance(arguments, dict) else None) or MAIN
        hint = "read current, then decide whether your change still makes sense"
        current = plan_value(state, plan_id, read=read)
        raise ToolError("stale_revision", str(stale), hint, {"current": current}) from None
    except UnknownStep as unknown:
        raise ToolError("unknown_step", str(unknown), "use the ids of the steps as the plan shows them") from None
    except PlanError as refused:
        raise ToolError("refused", str(refused), "change the call, or set the plan again") from None


def answer_call(call: Call, before: SessionState, after: SessionState, read: ReadFile = no_files) -> Fields:
    """The answer for the model, once the events are in the journal."""
    if call.tool == GET_PLAN:
        found: Fields = {"plan": plan_value(after, call.plan_id, call.detail, read)}
        words = standing(after, most=BODY_CAP)
        if words.items:
            found["remarks"] = list(words.items)
        if words.besides:
            found["also_open"] = list(words.besides)
        others = [each for each in after.living() if each not in (None, call.plan_id)]
        return {**found, "other_plans": others} if others else found
    answered = [each.remark for each in call.events if isinstance(each, RemarkAnswered)]
    record = after.plans.get(call.plan_id)
    if record is None:  # an answer to a remark on another plan
        return {"answered": answered}
    known = before.plans.get(call.plan_id)
    old = {step.id for step in known.state.steps} if known and call.tool == UPDATE_PLAN else set()
    answer: Fields = {
        "plan_id": call.plan_id,
        "version": record.version,
        "revision": record.revision,
        "new_steps": [step.id for step in record.state.steps if step.id not in old],
    }
    if answered:
        answer["answered"] = answered
    if not call.events:
        answer["unchanged"] = True
    if call.cut:
        answer["truncated"] = {"kept_bytes": call.cut[0], "original_bytes": call.cut[1]}
    return answer


def said(words: Words, request: str, answer: Fields) -> Fields:
    """What people said since the last answer, as a part of the next one, which may hold some of it already."""
    told = answer.get("remarks", ())
    part: Fields = {}
    if people := [each for each in words.items if each not in told]:
        part["people"] = people
    if words.besides and "also_open" not in answer:
        part["also_open"] = list(words.besides)
    return {**part, "said_in": request} if request else part


def asking(state: SessionState, plan_id: PlanId) -> tuple[ReviewAsked, ...]:
    """The event that says that an agent waits for a review; none if the journal says so already."""
    return () if state.plans[plan_id].asked else (ReviewAsked(plan_id),)


def waiting_answer(call: Call, state: SessionState) -> Fields:
    """The answer for a model that has waited long enough for a review."""
    hint = f"nobody has said anything yet: wait on with the same call of {GET_PLAN}, or ask the person for a review"
    return {STILL_WAITING: True, "plan_id": call.plan_id, "revision": state.plans[call.plan_id].revision, "hint": hint}


def failure(error: PlanwireError) -> Fields:
    """An error as a model reads it: a code, the problem, and what to do next."""
    if isinstance(error, ToolError):
        return {"error": {"code": error.code, "message": str(error), "hint": error.hint, **error.details}}
    return {"error": {"code": "failed", "message": str(error), "hint": "try again; if it persists, go on without"}}


def _convert(arguments: Any, shape: type[Any]) -> Any:
    try:
        return msgspec.convert({} if arguments is None else arguments, shape)
    except msgspec.ValidationError as error:
        allowed = ", ".join(shape.__struct_fields__)
        raise ToolError("invalid_arguments", str(error), f"the arguments are: {allowed}") from None


def _prepare_get(state: SessionState, arguments: _GetPlan) -> Call:
    plan_id = arguments.plan_id or MAIN
    if arguments.wait not in (None, REVIEW):
        problem = f"wait can't be {arguments.wait!r}"
        raise ToolError("invalid_arguments", problem, f'wait for "{REVIEW}", or leave it out')
    if arguments.detail not in (None, "full", "brief"):
        problem = f"detail can't be {arguments.detail!r}"
        raise ToolError("invalid_arguments", problem, 'use "full" or "brief", or leave it out')
    if arguments.wait:
        _existing(state, plan_id)
    return Call(GET_PLAN, plan_id, detail=arguments.detail or "full", waits=arguments.wait is not None)


def _prepare_set(state: SessionState, arguments: _SetPlan, oversize: str, mode: str) -> Call:
    plan_id = arguments.plan_id or MAIN
    check_revision(state, plan_id, arguments.expected_revision)
    if (arguments.content is None) == (arguments.entries is None):
        problem = "a plan is either entries or content (or a path)"
        raise ToolError("invalid_arguments", problem, "give exactly one of entries, content and path")
    check_size(len(plan_id.encode()), DELTA_CAP, "the plan_id")
    check_size(len((arguments.summary or "").encode()), DELTA_CAP, "the summary")
    cut: Cut | None = None
    plan: Plan
    if arguments.entries is not None:
        entries = [_new_step(each, f"entries[{index}]") for index, each in enumerate(arguments.entries)]
        plan = ItemsPlan(plan_id, tuple(Entry(each.content, each.priority, each.status) for each in entries))
        check_size(len(msgspec.json.encode(plan.entries)), BODY_CAP, "the plan")
    else:
        content, cut = fitting_text(arguments.content or "", oversize)
        plan = MarkdownPlan(plan_id, content)
    record = state.plans.get(plan_id)
    if record and not record.removed and record.state.plan == plan and arguments.summary is None:
        return Call(SET_PLAN, plan_id)
    return Call(SET_PLAN, plan_id, (PlanSet(plan, arguments.summary, mode=mode),), cut=cut)


def _prepare_update(state: SessionState, arguments: _UpdatePlan, oversize: str) -> Call:
    plan_id = arguments.plan_id or MAIN
    changes, note = _changes(arguments), (arguments.note or "").strip() or None
    answers = _answers(state, arguments.answers or {})
    if not changes and not note:
        if not answers:
            hint = "give steps, add, reword, remove, note or answers"
            raise ToolError("nothing_to_change", "the call changes nothing", hint)
        return Call(UPDATE_PLAN, plan_id, answers)
    check_revision(state, plan_id, arguments.expected_revision)
    record = _existing(state, plan_id)
    if changes and (uri := address_of(record.state.plan)) is not None:
        problem = f"this plan is the file {uri}, and its steps are the checkboxes there"
        raise ToolError("refused", problem, "change the file itself; here you can only add a note")
    event, cut = fitting_change(PlanChanged(plan_id, note, changes), oversize)
    news = effective_changes(record.state, changes)
    changed = (msgspec.structs.replace(event, changes=news),) if news or note else ()
    return Call(UPDATE_PLAN, plan_id, (*answers, *changed), cut=cut if changed else None)


def _answers(state: SessionState, answers: dict[str, str]) -> tuple[RemarkAnswered, ...]:
    """Answers to remarks, of whichever plan."""
    remarks = {each.id: each for record in state.plans.values() for each in record.remarks}
    if unknown := [each for each in answers if each not in remarks]:
        open_ones = ", ".join(each.id for each in remarks.values() if each.is_open) or "none"
        raise ToolError("unknown_remark", f"there is no remark {unknown[0]!r}", f"the open ones are: {open_ones}")
    if empty := [each for each, text in answers.items() if not text.strip()]:
        raise ToolError("invalid_arguments", f"answers: nothing is said to {empty[0]}", "say what became of it")
    for remark, text in answers.items():
        check_size(len(text.encode()), REMARK_CAP, f"the answer to {remark}")
    return tuple(RemarkAnswered(remarks[each].plan_id, each, text.strip()) for each, text in answers.items())


def _existing(state: SessionState, plan_id: str) -> PlanRecord:
    record = state.plans.get(plan_id)
    if record is None or record.removed:
        others = ", ".join(repr(each) for each in state.living() if each is not None) or "none"
        raise ToolError("no_plan", f"there is no plan {plan_id!r}", f"make it with set_plan; there are: {others}")
    return record


def _changes(arguments: _UpdatePlan) -> tuple[StepChange, ...]:
    added = [_new_step(each, f"add[{index}]") for index, each in enumerate(arguments.add or ())]
    for name, words in (("steps", arguments.steps or {}), ("reword", arguments.reword or {})):
        if empty := [step for step, word in words.items() if not word.strip()]:
            hint = "give a status, or the new text; remove takes a step out"
            raise ToolError("invalid_arguments", f"{name}: nothing is given for {', '.join(empty)}", hint)
    return (
        *(SetStatus(step, status) for step, status in (arguments.steps or {}).items()),
        *(RewordStep(step, content) for step, content in (arguments.reword or {}).items()),
        *(AddStep(each.content, each.after, each.priority, each.status) for each in added),
        *(RemoveStep(step) for step in arguments.remove or ()),
    )


def _new_step(value: Any, where: str) -> _NewStep:
    """A step as a model gives it: a text, or an object."""
    if isinstance(value, str):
        value = {"content": value}
    try:
        step = msgspec.convert(value, _NewStep)
    except msgspec.ValidationError as error:
        hint = "a step is a text, or has content, priority, status"
        raise ToolError("invalid_arguments", f"{where}: {error}", hint) from None
    if not step.content.strip():
        raise ToolError("invalid_arguments", f"{where}: the step has no text", "say what to do")
    return step
