"""Questions about plans: permission requests in which an agent asks a person to approve what it intends.

The request itself may hold nothing of the plan, whose text came in an update of the tool call before it. An answer that
allows approves the plan (R43), one that rejects asks for changes. Anything else dismisses the question.

A person may answer elsewhere, faster than the client. Then the client's own answer is late and no longer goes to the
agent.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.conversation import AGENT
from planwire.acp.permissions import Option, allows, options_of, rejects, selected, tool_call_of
from planwire.acp.requests import Requests
from planwire.acp.words import SWITCH_MODE
from planwire.model.events import APPROVED, CHANGES_REQUESTED, DISMISSED, Choice, PlanReviewed, ReviewAsked
from planwire.model.kinds import prose_of
from planwire.model.plan import PLAN_MODE, Fields, MarkdownPlan, Plan, PlanId

_REVIEW_PREFIX: Final = "plan-review:"
_LEAVING: Final = frozenset(("ExitPlanMode", "exit_plan_mode"))
#: The most tool calls whose texts are remembered, and the most questions that may wait for an answer.
_MOST: Final = 64
#: The most options to record, and the most characters of their names.
_MOST_NAMES: Final = 32
_LONGEST_NAME: Final = 200
_LONGEST_ID: Final = 1_000


class Question(Struct, frozen=True):
    """A question about a plan. `id` is its name in the journal, `request` its id on the wire. `options` are the answers
    by their ids. `proposed` is the plan itself if no plan message has told it. `is_ahead`: the plan is not known yet,
    and the verdict is on the one that comes next."""

    session: str
    plan_id: PlanId
    options: dict[str, Option]
    proposed: MarkdownPlan | None = None
    is_ahead: bool = False
    id: str = ""
    request: object = None

    def asked(self) -> ReviewAsked:
        """The event of the question, with the answers in the order in which the person sees them."""
        choices = [Choice(key, each.name, each.kind) for key, each in self.options.items() if len(key) <= _LONGEST_ID]
        return ReviewAsked(self.plan_id, tuple(choices[:_MOST_NAMES]), self.id)

    def answered(self, result: Any, *, late: bool = False) -> PlanReviewed:
        """What the client's answer says of the plan; None is an error."""
        option_id, option = selected(self.options, result)
        verdict = APPROVED if allows(option) else CHANGES_REQUESTED if rejects(option) else DISMISSED
        review = PlanReviewed(self.plan_id, 0, verdict, question=self.id, late=late)
        return replace(review, answer=option.name, option=option_id, kind=option.kind) if option else review


class Questions:
    """The questions about plans on one connection. `new_word` makes the random words that name them."""

    def __init__(self, new_word: Callable[[], str]) -> None:
        self._new_word = new_word
        self._texts: dict[tuple[str, str], str] = {}
        self._shown: dict[tuple[str, str], None] = {}
        self._ahead: dict[tuple[str, str], PlanId] = {}  # plans that are asked about before their tool call tells them
        self._unanswered = Requests[Question](_MOST)
        self._overtaken = Requests[Question](_MOST)  # answered elsewhere, and the client's answer is still to come
        self._others = Requests[dict[str, Option]](_MOST)  # questions about other things with the id of one of these

    def hear_tool_call(self, session: str, call: Fields) -> MarkdownPlan | None:
        """Remember the text of a plan in a tool call or an update of one: a question about it may follow.

        The question may have come first, as agents send the two on separate paths. Then this is its plan, which is
        returned.
        """
        text, call_id = _plan_text(call), call.get("toolCallId")
        if not text or not isinstance(call_id, str):
            return None
        self._texts[session, call_id] = text
        _bound(self._texts)
        if text == _content_text(call):
            self._shown[session, text] = None
            _bound(self._shown)
        if (session, call_id) not in self._ahead:
            return None
        return MarkdownPlan(self._ahead.pop((session, call_id)), text)

    def has_shown(self, session: str, text: str) -> bool:
        """Whether a tool call has shown a plan's text to the client."""
        return (session, text.strip()) in self._shown

    def ask(
        self, request_id: object, params: Any, plans: Mapping[PlanId, Plan], current: Container[PlanId]
    ) -> Question | None:
        """Take in a permission request. None if it is not about a plan.

        `plans` are those that the session has reported, `current` those of this turn that nobody asked about yet.
        """
        call = tool_call_of(params)
        if call is None or not isinstance(params.get("sessionId"), str):
            return None
        session, call_id = params["sessionId"], str(call.get("toolCallId"))
        text = _plan_text(call) or self._texts.get((session, call_id), "")
        leaves = _tool_name(call) in _LEAVING or call_id.startswith(_REVIEW_PREFIX)
        if not (leaves or (text and call.get("kind") == SWITCH_MODE)):  # plan mode is entered with a question too
            return None
        plan_id, proposed = _reviewed(call_id, text, plans)
        is_ahead = not text and plan_id not in current
        options = {key: Option(each.name[:_LONGEST_NAME], each.kind) for key, each in options_of(params).items()}
        question = Question(session, plan_id, options, proposed, is_ahead, self._new_word(), request_id)
        if is_ahead:
            self._ahead[session, call_id] = plan_id
            _bound(self._ahead)
        self._unanswered.ask(AGENT, request_id, question)
        return question

    def leave(self, request_id: object, params: Any) -> None:
        """Leave a question about something else to the client."""
        if self.is_late(request_id):
            self._others.ask(AGENT, request_id, options_of(params))

    def open_in(self, session: str) -> Iterator[Question]:
        """The questions of a session that nobody has answered."""
        return (each for each in tuple(self._unanswered) if each.session == session)

    def close(self, request_id: object) -> Question | None:
        """The question that an answer of the client's belongs to, if it is one about a plan."""
        return self._unanswered.answer(AGENT, request_id)

    def overtake(self, question: Question) -> None:
        """A person answered elsewhere: the client's answer will come too late."""
        self._unanswered.answer(AGENT, question.request)
        self._others.answer(AGENT, question.request)
        self._overtaken.ask(AGENT, question.request, question)

    def is_late(self, request_id: object) -> bool:
        """Whether an answer of the client's to this request comes too late."""
        return self._overtaken.is_asked(AGENT, request_id)

    def take_late(self, request_id: object, result: Any) -> Question | None:
        """The question that an answer comes too late for. An agent may use an id again: then a choice answers its newer
        question, and anything else only confirms that the older one was taken back."""
        newer = self._unanswered.get(AGENT, request_id)
        options = newer.options if newer else self._others.get(AGENT, request_id) or {}
        if selected(options, result)[1] is not None:
            self._others.answer(AGENT, request_id)
            return None
        return self._overtaken.answer(AGENT, request_id)

    def use_again(self, request_id: object) -> None:
        """The agent uses an id for another request: the next answer with it is the answer to that."""
        self._overtaken.answer(AGENT, request_id)


def _tool_name(call: Fields) -> object:
    match call:
        case {"name": str(name)} | {"_meta": {"claudeCode": {"toolName": str(name)}}}:
            return name
    return None


def _plan_text(call: Fields) -> str:
    match call:
        case {"rawInput": {"plan": str(text)}} if text.strip():
            return text.strip()
    return _content_text(call) if call.get("kind") == SWITCH_MODE else ""


def _content_text(call: Fields) -> str:
    """The text of a tool call that a client shows."""
    content = call.get("content")
    blocks = [
        block.get("content") for block in (content if isinstance(content, list) else ()) if isinstance(block, dict)
    ]
    texts = [block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)]
    return "\n".join(texts).strip()


def _reviewed(call_id: str, text: str, plans: Mapping[PlanId, Plan]) -> tuple[PlanId, MarkdownPlan | None]:
    """The id of the plan that a question is about, and the plan itself if no message has said it yet."""
    for plan_id, plan in plans.items():
        if text and (prose_of(plan) or "").strip() == text:
            return plan_id, None
    named = call_id.removeprefix(_REVIEW_PREFIX) if call_id.startswith(_REVIEW_PREFIX) else PLAN_MODE
    return named, MarkdownPlan(named, text) if text else None


def _bound(entries: dict[Any, Any]) -> None:
    while len(entries) > _MOST:
        del entries[next(iter(entries))]
