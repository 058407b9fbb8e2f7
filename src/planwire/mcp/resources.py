"""Plans as MCP resources: their URIs, and what is read there.

    plan:///SESSION/PLAN_ID                 the plan as markdown
    plan:///SESSION/PLAN_ID?format=json     all that is known of it
    plan:///SESSION                         the plan of an agent that gives it no id

Both names are percent-encoded. They stand in the path, since clients change the case of a host.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

import msgspec

from planwire.model.fold import PlanRecord, Review, SessionState
from planwire.model.markdown import parse
from planwire.model.plan import FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan, PlanId
from planwire.model.statuses import CANCELLED, COMPLETED, IN_PROGRESS, meaning
from planwire.model.steps import Step
from planwire.readmodel.history import verdict_words
from planwire.tools.plan_value import plan_value

__all__ = ["JSON", "MARKDOWN", "TEMPLATE", "PlanUri", "plan_text", "plan_title", "plan_uris", "read_uri"]

MARKDOWN: Final = "text/markdown"
JSON: Final = "application/json"
TEMPLATE: Final = "plan:///{session}/{plan_id}{?format}"

_SCHEME: Final = "plan:///"
_AS_JSON: Final = "?format=json"
_BOXES: Final = {IN_PROGRESS: "~", COMPLETED: "x", CANCELLED: "-"}


class PlanUri(NamedTuple):
    """What a URI names: a plan of a session, and the form in which it is wanted."""

    session: str
    plan_id: PlanId
    mime_type: str


def plan_uris(session: str, plan_id: PlanId) -> tuple[str, str]:
    """The URIs of a plan: as markdown, and as JSON."""
    names = (session,) if plan_id is None else (session, plan_id)
    uri = _SCHEME + "/".join(quote(name, safe="") for name in names)
    return uri, uri + _AS_JSON


def read_uri(uri: str) -> PlanUri | None:
    """What a URI names, or None if it names no plan. However a client spells a name, it is the same plan."""
    names, _, query = uri.removeprefix(_SCHEME).partition("?")
    session, slash, plan_id = names.partition("/")
    if not uri.startswith(_SCHEME) or "/" in plan_id or query not in ("", "format=json", "format=markdown"):
        return None
    return PlanUri(unquote(session), unquote(plan_id) if slash else None, JSON if query == "format=json" else MARKDOWN)


def plan_text(state: SessionState, plan_id: PlanId, mime_type: str) -> str:
    """A plan in a form. The plan must be there."""
    if mime_type == JSON:
        return msgspec.json.format(msgspec.json.encode(plan_value(state, plan_id)), indent=2).decode()
    return _markdown(state.plans[plan_id])


def plan_title(record: PlanRecord) -> str:
    """What a person would call the plan."""
    plan = record.state.plan
    title = parse(plan.content).title if isinstance(plan, MarkdownPlan) else ""
    return title or plan.id or "plan"


def _markdown(record: PlanRecord) -> str:
    """A plan to read: its text or its steps, what was noted since, and what was said of it."""
    parts = [
        f"> {_one_line(record.summary)}" if record.summary else "",
        _body(record.state.plan, record.state.steps),
        _listed("Notes", [delta.note for delta in record.deltas if delta.note]),
        _listed("Wishes", [delta.note or "changes of steps" for delta in record.wishes]),
        _listed("Reviews", (line for review in record.reviews for line in _said(review, record.is_stale(review)))),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _body(plan: Plan, steps: Iterable[Step]) -> str:
    match plan:
        case MarkdownPlan(content=content):
            return content.strip("\n")
        case FilePlan(uri=uri):
            return f"The plan is in the file <{uri}>."
        case OtherPlan(type=type, fields=fields):
            return f"A plan of the kind {type}:\n\n```json\n{msgspec.json.encode(fields).decode()}\n```"
        case ItemsPlan():
            return "\n".join(_step_line(step) for step in steps)


def _step_line(step: Step) -> str:
    priority = "" if step.priority == "medium" else f" ({step.priority})"
    return f"- [{_BOXES.get(meaning(step.status) or '', ' ')}] {_one_line(step.content)}{priority}"


def _said(review: Review, stale: bool) -> Iterator[str]:
    yield f"{review.by}: {verdict_words(review)}{', which has changed since' if stale else ''}"
    if review.selected is not None:
        yield f"to be run: {', '.join(review.selected) or 'no step'}"
    for comment in review.comments:
        yield f"{comment.step or 'plan'}: {comment.text}"


def _listed(heading: str, lines: Iterable[str]) -> str:
    items = "\n".join(f"- {_one_line(line)}" for line in lines)
    return f"## {heading}\n\n{items}" if items else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
