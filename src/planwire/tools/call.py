"""Calls of the plan tools: arguments in, events out.

`prepare_call` checks a call against a state and returns the events to append; `answers.answer_call` makes the answer
from the state after them. Both are pure. The caller appends to the journal in between, and prepares again if another
writer was faster.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from planwire.errors import PlanError, StaleRevision, ToolError, UnknownStep
from planwire.model.changes import effective_changes
from planwire.model.children import is_within, parent_step
from planwire.model.events import Event, PlanChanged, PlanRemoved, PlanSet, RemarkAnswered, ReviewAsked, StepRef
from planwire.model.file_texts import ReadFile, address_of, no_files
from planwire.model.fold import check_revision
from planwire.model.plan import DELTA_CAP, MAIN, REMARK_CAP, FilePlan, ItemsPlan, MarkdownPlan, Plan, PlanId
from planwire.model.readers import LEAD
from planwire.model.records import PlanRecord, SessionState
from planwire.model.sameness import is_same
from planwire.tools.arguments import GetPlan, RemovePlan, SetPlan, UpdatePlan, read_arguments
from planwire.tools.examples import example
from planwire.tools.pages import first_page
from planwire.tools.schemas import GET_PLAN, REMOVE_PLAN, REVIEW, SET_PLAN, TOOL_NAMES, UPDATE_PLAN
from planwire.tools.size_limits import Cut, check_size, fitting_change, fitting_entries, fitting_text

#: The most bytes of a plan id that a model chooses. Every answer repeats it.
ID_CAP: Final = 512

#: Whether the caller has read a plan, and so may replace it.
Knows: TypeAlias = Callable[[PlanRecord], bool]


def knows_all(_record: PlanRecord) -> bool:
    """For callers that take responsibility for what they replace: authors and their programs."""
    return True


class Call(Struct, frozen=True):
    """A valid call: the events to append, and the plan that its answer is about. `page`, `detail` and `all_notes` say
    what get_plan shows."""

    tool: str
    plan_id: str
    events: tuple[Event, ...] = ()
    detail: str = "full"
    waits: bool = False
    reader: str = LEAD
    cut: Cut | None = None
    page: int = 1
    all_notes: bool = False


def prepare_call(
    state: SessionState,
    tool: str,
    arguments: Any,
    *,
    oversize: str = "error",
    mode: str = "",
    read: ReadFile = no_files,
    knows: Knows = knows_all,
    main: str = MAIN,
    reader: str = LEAD,
    uri: str = "",
) -> Call:
    """Check a call against the state. Raises a `ToolError` that a model can act on. `read` returns the texts of plan
    files, `knows` says which plans the caller has read, `main` is the plan of a call that names none, and `reader` the
    one whose model calls. `uri` is a plan file to set, which only authors can."""
    if tool not in TOOL_NAMES:
        raise ToolError("unknown_tool", f"there is no tool {tool!r}", f"use one of {', '.join(TOOL_NAMES)}")
    plan_id = (arguments.get("plan_id") if isinstance(arguments, dict) else None) or main
    try:
        if tool == GET_PLAN:
            return _prepare_get(state, plan_id, read_arguments(arguments, GetPlan), reader)
        if tool == SET_PLAN:
            return _prepare_set(state, plan_id, read_arguments(arguments, SetPlan), oversize, mode, knows, main, uri)
        if tool == REMOVE_PLAN:
            return _prepare_remove(state, plan_id, read_arguments(arguments, RemovePlan))
        return _prepare_update(state, plan_id, read_arguments(arguments, UpdatePlan), oversize)
    except StaleRevision as stale:
        hint = "read current, then decide whether your change still makes sense"
        raise ToolError("stale_revision", str(stale), hint, {"current": first_page(state, plan_id, read)}) from None
    except _Unread as unread:
        current = first_page(state, unread.plan_id, read)
        raise ToolError("plan_exists", str(unread), unread.hint, {"current": current}) from None
    except UnknownStep as unknown:
        hint = "use the ids of the steps as the plan shows them"
        raise ToolError("unknown_step", str(unknown), hint, example("steps")) from None
    except PlanError as refused:
        raise ToolError("refused", str(refused), "change the call, or set the plan again") from None


def repeated_call(events: Sequence[Event]) -> Call:
    """The call that wrote these events earlier, to repeat its answer."""
    match events[-1]:
        case PlanSet(plan=plan):
            return Call(SET_PLAN, plan.id or MAIN, tuple(events))
        case PlanRemoved(plan_id=plan_id):
            return Call(REMOVE_PLAN, plan_id or MAIN, tuple(events))
        case PlanChanged(plan_id=plan_id) | RemarkAnswered(plan_id=plan_id):
            return Call(UPDATE_PLAN, plan_id or MAIN, tuple(events))
        case _ as other:
            raise ToolError("refused", f"the call id belongs to another event ({type(other).__name__})", "use a new id")


def asking(state: SessionState, plan_id: PlanId) -> tuple[ReviewAsked, ...]:
    """The event that an agent waits for a review; none if the journal has it already."""
    return () if state.plans[plan_id].asked else (ReviewAsked(plan_id),)


class _Unread(Exception):
    """The call would replace a plan that the caller has not read."""

    def __init__(self, plan_id: str) -> None:
        super().__init__(f"there is a plan {plan_id!r} with work left in it, and you have not read it: see current")
        self.plan_id = plan_id
        self.hint = (
            f"continue it with {UPDATE_PLAN}; give yours another plan_id; or, if it is to go, call {SET_PLAN} again "
            "with replace: true"
        )


def _prepare_get(state: SessionState, plan_id: str, arguments: GetPlan, reader: str) -> Call:
    if arguments.wait not in (None, REVIEW):
        problem = f"wait can't be {arguments.wait!r}"
        raise ToolError("invalid_arguments", problem, f'wait for "{REVIEW}", or leave it out', example("wait"))
    if arguments.detail not in (None, "full", "brief"):
        problem = f"detail can't be {arguments.detail!r}"
        raise ToolError("invalid_arguments", problem, 'use "full" or "brief", or leave it out', example("detail"))
    if arguments.wait or arguments.notes:
        _existing(state, plan_id)
    detail, waits = arguments.detail or "full", arguments.wait is not None
    call = Call(GET_PLAN, plan_id, detail=detail, waits=waits, reader=reader)
    return msgspec.structs.replace(call, page=arguments.page, all_notes=arguments.notes)


def _prepare_set(
    state: SessionState, plan_id: str, arguments: SetPlan, oversize: str, mode: str, knows: Knows, main: str, uri: str
) -> Call:
    check_revision(state, plan_id, arguments.expected_revision)
    entries = arguments.steps()
    if not uri and (arguments.content is None) == (entries is None):
        problem = "a plan is either entries or content (or a path)"
        hint = "give exactly one of entries, content and path"
        raise ToolError("invalid_arguments", problem, hint, example("entries"))
    check_size(len(plan_id.encode()), ID_CAP, "the plan_id")
    check_size(len((arguments.summary or "").encode()), DELTA_CAP, "the summary")
    plan, cut = (FilePlan(plan_id, uri), None) if uri else _plan(plan_id, entries, arguments.content, oversize)
    record = state.plans.get(plan_id)
    parent = _parent(state, plan_id, arguments, main)
    if record and not record.removed and is_same(record.state.plan, plan):
        if arguments.summary is None and parent in (None, record.parent):
            return Call(SET_PLAN, plan_id)
    has_read = arguments.replace or arguments.expected_revision is not None
    if record and record.has_work_left and not has_read and not knows(record):
        raise _Unread(plan_id)
    event = PlanSet(plan, arguments.summary, mode=mode, parent=parent)
    return Call(SET_PLAN, plan_id, (event,), cut=cut)


def _parent(state: SessionState, plan_id: str, arguments: SetPlan, main: str) -> StepRef | None:
    """The step that a new plan works for, in the plan `main` unless another is named."""
    named = arguments.parent
    if not named:
        return None
    lead, _, step = named.rpartition("#")
    parent = StepRef(lead or main, step)
    if parent_step(state, parent) is None or is_within(state, parent.plan_id, plan_id):
        problem = f"the plan {plan_id!r} can't work for {named!r}: that is no step of another plan"
        hint = "name a step of the plan above it, as in s2 or main#s2, and give the new plan a plan_id of its own"
        raise ToolError("unknown_step", problem, hint, example("parent"))
    return parent


def _plan(plan_id: str, entries: tuple[Any, ...] | None, content: str | None, oversize: str) -> tuple[Plan, Cut | None]:
    if entries is not None:
        return fitting_entries(ItemsPlan(plan_id, entries), oversize)
    if not (content or "").strip():
        problem, hint = "the content is empty", "give a text with something to do in it"
        raise ToolError("invalid_arguments", problem, hint, example("content"))
    return fitting_text(MarkdownPlan(plan_id, content or ""), oversize)


def _prepare_update(state: SessionState, plan_id: str, arguments: UpdatePlan, oversize: str) -> Call:
    steps = state.plans[plan_id].state.steps if plan_id in state.plans else ()
    changes, note = arguments.changes(steps[-1].id if steps else None), (arguments.note or "").strip() or None
    answers = _answers(state, arguments.replies())
    if not changes and not note:
        if not answers:
            hint = "give steps, add, reword, priority, move, remove, note or answers"
            raise ToolError("nothing_to_change", "the call changes nothing", hint, example("steps"))
        return Call(UPDATE_PLAN, plan_id, answers)
    check_revision(state, plan_id, arguments.expected_revision)
    record = _existing(state, plan_id)
    if changes and (uri := address_of(record.state.plan)) is not None:
        problem = f"this plan is the file {uri}, and its steps are the checkboxes there"
        raise ToolError("refused", problem, "change the file itself; here you can only add a note")
    event, cut = fitting_change(record.state, PlanChanged(plan_id, note, changes), oversize)
    news = effective_changes(record.state, event.changes)
    changed = (msgspec.structs.replace(event, changes=news),) if news or note else ()
    return Call(UPDATE_PLAN, plan_id, (*answers, *changed), cut=cut if changed else None)


def _prepare_remove(state: SessionState, plan_id: str, arguments: RemovePlan) -> Call:
    check_revision(state, plan_id, arguments.expected_revision)
    _existing(state, plan_id)
    reason = (arguments.reason or "").strip()
    check_size(len(reason.encode()), DELTA_CAP, "the reason")
    note = (PlanChanged(plan_id, reason),) if reason else ()
    return Call(REMOVE_PLAN, plan_id, (*note, PlanRemoved(plan_id)))


def _answers(state: SessionState, answers: dict[str, str]) -> tuple[RemarkAnswered, ...]:
    """Answers to remarks on any plan."""
    remarks = {each.id: each for record in state.plans.values() for each in record.remarks}
    if unknown := [each for each in answers if each not in remarks]:
        open_ones = ", ".join(each.id for each in remarks.values() if each.is_open) or "none"
        raise ToolError("unknown_remark", f"there is no remark {unknown[0]!r}", f"the open ones are: {open_ones}")
    for remark, text in answers.items():
        check_size(len(text.encode()), REMARK_CAP, f"the answer to {remark}")
    return tuple(RemarkAnswered(remarks[each].plan_id, each, text.strip()) for each, text in answers.items())


def _existing(state: SessionState, plan_id: str) -> PlanRecord:
    record = state.plans.get(plan_id)
    if record is None or record.removed:
        others = ", ".join(repr(each) for each in state.living() if each is not None) or "none"
        raise ToolError("no_plan", f"there is no plan {plan_id!r}", f"make it with set_plan; there are: {others}")
    return record
